"""People, as administrators see them."""
