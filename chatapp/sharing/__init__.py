"""Links to branches."""
