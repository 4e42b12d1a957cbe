"""Answers that run in other processes, as they are watched from this one."""
