"""Other programs ask models through Thoughtline: keys, the three doors, thoughts that come back, runs that are recorded."""
