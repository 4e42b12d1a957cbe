"""What the pages of the exchange show."""
