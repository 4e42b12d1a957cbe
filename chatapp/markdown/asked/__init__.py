"""What people ask: their code, quotes and lists as what they are, and everything else as they typed it."""
