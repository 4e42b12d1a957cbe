"""The door of the Messages API, as Anthropic's clients speak it."""

from .door import DOOR as DOOR
