"""How long a test waits for what must come, in seconds: what has not come by then on a busy machine never will."""

PATIENCE = 60
