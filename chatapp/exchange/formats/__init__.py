"""How conversations stand in files: a file for each format, all of which tell of the same shape."""
