"""Says every few seconds how this process is."""
