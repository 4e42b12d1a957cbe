"""What the page of operation says: first whether all is well, then what is so."""
