"""One connection to a provider, over which one question follows the other. h11 words and reads heads; it looks at each word of a body,
so a body goes past it as far as its frame is plain."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import h11
import httpcore
import httpx

from ..net.bodies import Hear, Taking, ToTheEnd, taking
from ..net.guarded_network import Network, Stream

AT_ONCE = 64 * 1024


async def connected(
    network: Network, url: httpx.URL, trust: ssl.SSLContext, seconds: float | None
) -> ProviderConnection:
    host, is_secret = url.raw_host.decode("ascii"), url.scheme == "https"
    line = await network.connect_tcp(host, url.port or (443 if is_secret else 80), seconds)
    if is_secret:
        try:
            await line.start_tls(trust, host, seconds)
        except BaseException:
            line.hang_up()
            raise
    return ProviderConnection(line)


class ProviderConnection:
    def __init__(self, line: Stream) -> None:
        self._line, self._http = line, h11.Connection(h11.CLIENT)
        self._taking: Taking | None = None
        self._closing: asyncio.TimerHandle | None = None

    async def ask(self, question: httpx.Request) -> h11.Response:
        """The head of the answer. All of the question goes out at once."""
        if self._closing:
            self._closing.cancel()
        seconds = question.extensions.get("timeout", {})
        with _as_httpcore():
            said = self._http.send(
                h11.Request(
                    method=question.method, target=question.url.raw_path, headers=question.headers.raw
                )
            )
            body = self._http.send(h11.Data(await question.aread()))
            end = self._http.send(h11.EndOfMessage())
        # Who refuses a long question may hang up before its end has come; why, the answer says.
        with suppress(httpcore.WriteError):
            await self._line.write(b"".join(filter(None, (said, body, end))), seconds.get("write"))
        while isinstance(head := await self._next(seconds.get("read")), h11.InformationalResponse):
            pass
        if not isinstance(head, h11.Response):
            raise httpcore.RemoteProtocolError("The server did not answer.")
        self._taking = None if question.method == "HEAD" else taking(head.status_code, head.headers)
        return head

    @property
    def ends_with_answer(self) -> bool:
        return isinstance(self._taking, ToTheEnd)

    async def more(self, seconds: float | None, hear: Hear | None = None) -> bytes | None:
        """The next of the answer's body, and nothing at its end. While this waits, `hear` may take what comes; None when it wants to be
        looked at."""
        if self._taking:
            data: bytes | None = await self._line.more(self._taking, seconds, hear)
            if data != b"":
                return data
            self._taking = None
        if self._http.their_state is not h11.SEND_BODY:
            return b""
        event = await self._next(seconds)
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _next(self, seconds: float | None) -> object:
        while True:
            with _as_httpcore():
                event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = await self._line.read(AT_ONCE, seconds)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise httpcore.RemoteProtocolError("The server hung up without an answer.")
            self._http.receive_data(data)

    def may_be_asked_again(self) -> bool:
        """Once its answer was read to the end, and nothing came behind that."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        behind, has_ended = self._http.trailing_data
        if behind or has_ended:
            return False
        self._http.start_next_cycle()
        return True

    @property
    def is_quiet(self) -> bool:
        """Who says something without being asked says that it hangs up."""
        return not self._line.get_extra_info("is_readable")

    def close_after(self, seconds: float, close: Callable[[], None]) -> None:
        """Unless it is asked before."""
        self._closing = asyncio.get_running_loop().call_later(seconds, close)

    def close(self) -> None:
        if self._closing:
            self._closing.cancel()
        self._line.hang_up()


@contextmanager
def _as_httpcore() -> Iterator[None]:
    """The network below speaks in its exceptions."""
    try:
        yield
    except h11.RemoteProtocolError as error:
        raise httpcore.RemoteProtocolError(str(error)) from None
    except h11.LocalProtocolError as error:
        raise httpcore.LocalProtocolError(str(error)) from None
