"""What a server refuses: every refusal is a status of 4xx with a message."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ftor.errors import FtorError
from ftor.serve.limits import Limits
from ftor.serve.schema import PredictRequest

DISCARDED = 16
"""A body that is too large is read on, up to so many times the limit: else its client may see no answer."""
GONE = 499
"""The status in logs of a request whose client has hung up."""


class RefusedError(Exception):
    """A request that is refused, with its status and headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})


class JSON(Response):
    """A response in JSON. Numbers that JSON does not know are an error."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write it."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


async def read_request(request: Request, limits: Limits) -> PredictRequest:
    """Read and check the body of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(415, "Content-Type: expected application/json")
    body = await _read_body(request, limits)
    try:
        asked = PredictRequest.model_validate_json(body)
    except ValidationError as error:
        raise RefusedError(422, _problems(error)) from None
    for name, found, most in (
        ("sentences", len(asked.sentences), limits.sentences),
        ("n_best", asked.n_best, limits.n_best),
    ):
        if found > most:
            raise RefusedError(422, f"{name}: expected at most {most}, found {found}")
    return asked


async def _read_body(request: Request, limits: Limits) -> bytes:
    closing = {"Connection": "close"}
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size <= limits.body:
                    parts.append(part)
                elif size > DISCARDED * limits.body:
                    break
    except TimeoutError:
        message = f"the body did not arrive within {limits.seconds:g} s"
        raise RefusedError(408, message, closing) from None
    except ClientDisconnect:
        raise RefusedError(GONE, "the client has hung up") from None
    if size > limits.body:
        raise RefusedError(413, f"the body has more than {limits.body} bytes", closing)
    return b"".join(parts)


def _problems(error: ValidationError) -> str:
    """What is wrong with a request, field by field, without repeating what the client sent."""
    return "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'body'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)[:5]
    )


class Keys:
    """The keys that clients may show. Only their digests are kept."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = [_digest(key.encode()) for key in keys]

    @classmethod
    def read(cls, path: Path) -> "Keys":
        """Read a file: one key per line. Empty lines and those after `#` do not count."""
        try:
            lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
        except UnicodeDecodeError:
            raise FtorError(f"{path}: expected keys in UTF-8, found other bytes") from None
        keys = [line for line in lines if line and not line.startswith("#")]
        if not keys:
            raise FtorError(f"{path}: expected a key on a line, found none")
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def check(self, request: Request) -> None:
        """Refuse a request without a key. How long this takes says nothing about the keys."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        given = _digest(key.strip().encode("latin-1"))
        known = [hmac.compare_digest(given, digest) for digest in self._digests]
        if self._digests and not (any(known) and scheme.lower() == "bearer"):
            message = "expected the header Authorization: Bearer KEY with a key of this server"
            raise RefusedError(401, message, {"WWW-Authenticate": "Bearer"})


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
