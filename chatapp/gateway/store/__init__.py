"""Keys, and what is done with them."""
