"""What programs ask with a key that records becomes turns of conversations, live while they run."""
