"""What the socket brings."""
