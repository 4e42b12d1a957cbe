"""What administrators are shown of conversations."""
