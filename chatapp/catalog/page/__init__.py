"""Models and providers, as they are shown."""
