"""Reading a web page."""
