"""Connections that do not wait for ever for the head of a request."""

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def impatient(seconds: float) -> type[H11Protocol]:
    """A protocol for uvicorn that refuses a request whose head does not arrive within some seconds.

    uvicorn itself only closes connections that are idle after an answer. The body has a limit of its own.
    """

    class Impatient(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._refuse)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            waiting = self.conn.their_state is h11.IDLE
            if waiting and self._timer is None:
                self._timer = self.loop.call_later(seconds, self._refuse)
            elif not waiting:
                self._stop()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _refuse(self) -> None:
            body = json.dumps({"error": f"the head of the request did not arrive within {seconds:g} s"})
            head = [
                "HTTP/1.1 408 Request Timeout",
                "content-type: application/json",
                f"content-length: {len(body)}",
                "connection: close",
            ]
            self.transport.write("\r\n".join([*head, "", body]).encode())
            self.transport.close()

    return Impatient
