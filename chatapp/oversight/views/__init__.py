"""What administrators look at."""
