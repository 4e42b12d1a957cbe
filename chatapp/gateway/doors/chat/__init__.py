"""The door of Chat Completions, as OpenAI's clients and those of many others speak it."""

from .door import DOOR as DOOR
