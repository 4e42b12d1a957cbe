"""Signs that deceive the eye: those that nobody sees, and those that look like others."""
