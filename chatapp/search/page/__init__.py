"""What was found, as pages show it."""
