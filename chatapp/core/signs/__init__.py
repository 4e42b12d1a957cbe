"""Signs that deceive the eye: those that nobody sees, and those that look like others; and texts without what is looked past."""
