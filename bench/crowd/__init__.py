"""Many people at once, as they are: each asks at a moment of their own, and reads while the answer comes."""
