"""Many processes that serve and work, a PostgreSQL and a Redis, as they are measured."""
