"""What the front page shows: its sentence, the day as a line, and its sections."""
