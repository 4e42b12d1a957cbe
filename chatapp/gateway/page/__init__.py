"""Keys as their owners see them."""
