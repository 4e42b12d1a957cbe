"""What is said, folded; its index; and what is found in both."""
