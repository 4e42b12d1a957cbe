"""One branch as it is drawn."""
