"""The front page of administrators: today, and what needs one of them."""
