"""What is written and read of reviews."""
