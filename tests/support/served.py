"""A server in a thread of this process, and a client that waits for its answers."""

import http.client
import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.serve.app import make_app
from ftor.serve.hosting import Host
from ftor.serve.limits import Limits
from ftor.serve.metrics import Metrics
from ftor.serve.refusals import Keys
from ftor.serve.server import Watched, listen, make_server

SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


class Served:
    """Models on a free port of this machine, until the end of a `with` block."""

    def __init__(
        self,
        models: Mapping[str, Model],
        grammars: Mapping[str, Grammar] | None = None,
        keys: Iterable[str] = (),
        log_sentences: bool = False,
        **limits: Any,
    ) -> None:
        bounds, self.metrics = Limits(**limits), Metrics()
        self.hosts = [
            Host(name, model, grammars or {}, bounds, self.metrics) for name, model in models.items()
        ]
        self.app = make_app(self.hosts, bounds, self.metrics, Keys(keys), log_sentences)
        self._socket = listen("127.0.0.1", 0)
        self.port = self._socket.getsockname()[1]
        self.server = make_server(Watched(self.app, self.metrics, log_sentences), bounds.seconds)
        self._thread = threading.Thread(target=self.server.run, args=([self._socket],), daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        until = time.monotonic() + SECONDS
        while not self.server.started:
            assert self._thread.is_alive()
            assert time.monotonic() < until
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Have it stopped as SIGTERM does."""
        self.server.should_exit = True
        self._thread.join(SECONDS)
        self.close()

    def close(self) -> None:
        """End what a server holds that was not started."""
        self._socket.close()
        for host in self.hosts:
            host.queue.close()

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def ask(
        self, path: str, body: Any = None, method: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request, with a body in JSON unless it is bytes."""
        connection = self.connect()
        given = dict(headers or {})
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, content, given)
            response = connection.getresponse()
            return Answer(response.status, dict(response.headers), response.read())
        finally:
            connection.close()

    def predict(self, *sentences: str, **options: Any) -> Answer:
        """Ask for the outputs of sentences."""
        return self.ask("/v1/predict", {"sentences": sentences, **options})
