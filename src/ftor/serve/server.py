"""Runs the application: address, logs, and a stop that loses no answer."""

import contextlib
import logging
import os
import signal
import socket
import sys
import time
import traceback
from typing import Any

import uvicorn
from fastapi import FastAPI

from ftor.errors import FtorError
from ftor.serve.app import LOG, PAGES
from ftor.serve.connections import impatient
from ftor.serve.metrics import Metrics

PATHS = {"/v1/predict", "/v1/models", "/health", "/metrics", "/openapi.json", *PAGES}
OTHER = "other"
"""Stands for any other path in logs and metrics: what a client makes up is neither written nor counted."""
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


class Watched:
    """The application with a line in the log, a count and safe headers for every answer.

    Errors of our own are logged by where they happened. Their text may have words of a client.
    """

    def __init__(self, app: FastAPI, metrics: Metrics, log_sentences: bool = False) -> None:
        self.app, self.metrics, self.log_sentences = app, metrics, log_sentences

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 500

        async def send_watched(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *HEADERS.items()]
            await send(message)

        try:
            await self.app(scope, receive, send_watched)
        except Exception as error:  # answered already
            where = "".join(traceback.format_tb(error.__traceback__))
            LOG.error("%s%s%s", where, type(error).__name__, f": {error}" if self.log_sentences else "")
        path = scope["path"] if scope["path"] in PATHS else OTHER
        seconds = time.perf_counter() - begin
        self.metrics.requests.labels(path, status).inc()
        self.metrics.request_seconds.labels(path).observe(seconds)
        LOG.info("%s %s %d %.1f ms", _method(scope["method"]), path, status, 1000 * seconds)


def _method(name: str) -> str:
    return name if name in ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH") else OTHER


def listen(host: str, port: int) -> socket.socket:
    """Take an address, so that one that is not free is known before models are loaded. Port 0 is any."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        unknown = isinstance(error, socket.gaierror)  # its numbers are its own
        problem = error.strerror if unknown else os.strerror(error.errno or 0)
        raise FtorError(f"{host}:{port}: {problem}; choose another with --host and --port") from None


def address(listening: socket.socket) -> str:
    """The URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: Watched, seconds: float) -> uvicorn.Server:
    """Make a server. The head of a request may take `seconds`, and so may what is running when it stops."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=impatient(seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=int(seconds) + 1,
        )
    )


def run(app: Watched, listening: socket.socket, seconds: float) -> None:
    """Answer requests until SIGTERM or SIGINT, and then finish those that are running."""
    server = make_server(app, seconds)
    # uvicorn sends the signal again when it has stopped: the process has then ended as it was told to
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def log_to_stderr() -> None:
    """Write one line for each request to stderr, and what uvicorn warns of."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for logger, level in ((LOG, logging.INFO), (logging.getLogger("uvicorn.error"), logging.WARNING)):
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
