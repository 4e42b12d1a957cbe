"""How often somebody may do something."""
