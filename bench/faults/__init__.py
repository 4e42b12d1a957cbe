"""Two processes that serve and two that work, on machines of their own, through five hundred faults."""
