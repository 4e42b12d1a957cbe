"""What the engine asks of this door."""

from __future__ import annotations

from ..door import Door
from .errors import error_body
from .reading import read
from .writing import ChatWriter


class ChatDoor:
    read = staticmethod(read)
    writer = ChatWriter
    error = staticmethod(error_body)


DOOR: Door = ChatDoor()
