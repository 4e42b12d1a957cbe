"""Sockets that write at once what the network takes at once."""

from __future__ import annotations

from twisted.internet import tcp


class Direct(tcp.Server):
    """The server under us would first ask the system whether it may write: for every word of an answer, that costs more than writing."""

    def write(self, data: bytes) -> None:
        if self._nothing_waits():
            sent = self.writeSomeData(data)
            # Whoever has gone meanwhile is noticed where it always is.
            data = data[sent:] if isinstance(sent, int) else data
        super().write(data)  # type: ignore[no-untyped-call]

    def _nothing_waits(self) -> bool:
        waits = self._tempDataBuffer or self.offset < len(self.dataBuffer)
        # One that is asked for each piece of what it has is asked when the last one has gone out, later.
        is_asked = self.producer is not None and not self.streamingProducer
        return bool(self.connected and not (waits or is_asked or self._writeDisconnected))


def write_directly() -> None:
    tcp.Port.transport = Direct
