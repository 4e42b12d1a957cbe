"""Everything that is written of what comes in and goes out."""
