"""Tools of MCP servers. What imports the official package is `connection`, `stdio` and `http`, and is imported late:
loading it takes longer than a second."""
