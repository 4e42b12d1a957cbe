"""What the socket tells of conversations."""
