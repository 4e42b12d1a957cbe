"""What stands around a conversation."""
