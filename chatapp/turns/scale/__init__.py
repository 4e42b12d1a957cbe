"""Many processes: turns wait as jobs in PostgreSQL, what they say goes through Redis, and what became true is told by PostgreSQL."""
