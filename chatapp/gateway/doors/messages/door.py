"""What the engine asks of this door."""

from __future__ import annotations

from ..door import Door
from .errors import error_body
from .reading import read
from .writing import MessagesWriter


class MessagesDoor:
    read = staticmethod(read)
    writer = MessagesWriter
    error = staticmethod(error_body)


DOOR: Door = MessagesDoor()
