"""One request of a program, from its key to its last frame."""
