"""What all pages of administrators share."""
