"""Forms of accounts."""
