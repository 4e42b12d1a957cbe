"""What administrators browse by, and who looked."""
