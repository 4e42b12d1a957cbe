"""The list of conversations, and what is done in one."""
