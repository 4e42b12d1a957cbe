"""What comes in: how much, how fast, and from whom."""
