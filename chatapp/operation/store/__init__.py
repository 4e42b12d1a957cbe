"""What processes say of themselves, and what the rows say of turns."""
