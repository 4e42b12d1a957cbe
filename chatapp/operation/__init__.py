"""What an operator looks at: which processes there are and how they are, what runs, what waits, and what went wrong of late."""
