"""The application: what each path answers."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from ftor._version import __version__
from ftor.errors import FtorError
from ftor.serve.batching import FullError, Job, LateError, Record
from ftor.serve.hosting import Host, Options
from ftor.serve.limits import Limits
from ftor.serve.metrics import Metrics
from ftor.serve.refusals import GONE, JSON, Keys, RefusedError, read_request
from ftor.serve.schema import Health, Models, PredictRequest, PredictResponse, Refusal

LOG = logging.getLogger("ftor.serve")
PAGES = {
    "/": ("index.html", "text/html"),
    "/docs": ("docs.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/drawing.js": ("drawing.js", "text/javascript"),
    "/docs.js": ("docs.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""The files of the page by their paths. Nothing else is read from the disk."""
REFUSALS = {
    401: "No key of this server.",
    408: "The request took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The body is not what is expected, or exceeds a limit.",
    429: "Too many requests wait. Try again after `Retry-After` seconds.",
}


def make_app(
    hosts: Sequence[Host],
    limits: Limits,
    metrics: Metrics,
    keys: Keys | None = None,
    log_sentences: bool = False,
) -> FastAPI:
    """Make the application of some models. Its end closes their queues.

    Args:
        hosts: the models. The first is the default.
        limits: what is accepted.
        metrics: what /metrics shows.
        keys: those that clients may show. Without any, everybody may ask.
        log_sentences: whether sentences and their outputs are logged.
    """
    by_name, allowed = {host.name: host for host in hosts}, keys or Keys()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        for host in hosts:
            await asyncio.to_thread(host.queue.close)

    about = "Predictions of trained models."
    app = FastAPI(title="ftor", version=__version__, description=about, docs_url=None, redoc_url=None)
    app.router.lifespan_context = life

    async def check_key(request: Request) -> None:
        allowed.check(request)

    guard = [Depends(check_key), *([Depends(HTTPBearer(auto_error=False))] if allowed else [])]
    no_key = _refusals(401) if allowed else {}

    @app.post(
        "/v1/predict",
        response_model=PredictResponse,
        responses=no_key | _refusals(408, 413, 415, 422, 429),
        openapi_extra={"requestBody": _request_body(hosts, limits)},
        dependencies=guard,
    )
    async def predict(request: Request) -> Response:
        """Predict the outputs of sentences."""
        asked = await read_request(request, limits)
        host = _host(by_name, asked)
        options = Options(asked.n_best, asked.grammar, asked.structure, asked.min_confidence)
        job = Job(asked.sentences, options, time.monotonic() + limits.seconds)
        records = await _answer(request, host, job, limits)
        if log_sentences:
            for record in records:
                kept = {key: record[key] for key in ("source", "prediction", "error") if key in record}
                LOG.info("%s %s", host.name, json.dumps(kept))
        return JSON({"predictions": records}, headers={"Server-Timing": _timing(job)})

    @app.get("/v1/models", response_model=Models, responses=no_key, dependencies=guard)
    async def models() -> Response:
        """List the models and what may be asked of them."""
        bounds = {"sentences": limits.sentences, "words": limits.words, "n_best": limits.n_best}
        return JSON({"models": [host.describe() for host in hosts], "limits": bounds})

    @app.get("/health", response_model=Health)
    async def health() -> Response:
        """Say that the server answers."""
        return JSON({"status": "ok", "version": __version__})

    text: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}

    @app.get("/metrics", response_class=Response, responses=text | no_key, dependencies=guard)
    async def show_metrics() -> Response:
        """Give counters and times in the format of Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    for path, (name, kind) in PAGES.items():
        app.get(path, include_in_schema=False)(_page(name, kind))
    app.add_exception_handler(RefusedError, _refuse)
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(Exception, _fail)
    return app


def _host(hosts: Mapping[str, Host], asked: PredictRequest) -> Host:
    """The model that a request names."""
    host = next(iter(hosts.values())) if asked.model is None else hosts.get(asked.model)
    if host is None:
        raise RefusedError(422, f"model: expected one of {', '.join(hosts)}")
    if asked.grammar not in host.grammars:
        raise RefusedError(422, f"grammar: {host.name} has {', '.join(host.grammars)}")
    return host


async def _answer(request: Request, host: Host, job: Job[Options], limits: Limits) -> list[Record]:
    """The records of a job, unless it takes too long or its client hangs up."""
    try:
        answer = asyncio.wrap_future(host.queue.submit(job))
    except FullError as error:
        raise RefusedError(429, str(error), {"Retry-After": str(error.seconds)}) from None
    hung_up = asyncio.ensure_future(request.receive())
    left = job.deadline - time.monotonic()
    either: set[asyncio.Future[Any]] = {answer, hung_up}
    await asyncio.wait(either, timeout=left, return_when=asyncio.FIRST_COMPLETED)
    try:
        if answer.done():
            return answer.result()
        if hung_up.done():
            raise RefusedError(GONE, "the client has hung up")
        raise LateError
    except LateError:
        message = f"no answer within {limits.seconds:g} s: the server is busy, or it was asked for too much"
        raise RefusedError(429, message, {"Retry-After": "1"}) from None
    except FtorError as error:
        raise RefusedError(422, str(error)) from None
    finally:
        answer.cancel()
        hung_up.cancel()


def _timing(job: Job[Options]) -> str:
    """How long a job waited and was worked on, for the header `Server-Timing`."""
    started, now = job.started or job.arrived, time.monotonic()
    return f"wait;dur={1000 * (started - job.arrived):.1f}, predict;dur={1000 * (now - started):.1f}"


def _request_body(hosts: Sequence[Host], limits: Limits) -> dict[str, Any]:
    """The description of a request, with the bounds and names of this server."""
    schema = PredictRequest.model_json_schema()
    fields = schema["properties"]
    fields["sentences"]["maxItems"] = limits.sentences
    fields["n_best"]["maximum"] = limits.n_best
    fields["model"] |= {"enum": [*(host.name for host in hosts), None]}
    fields["grammar"] |= {"enum": list(dict.fromkeys(name for host in hosts for name in host.grammars))}
    if not any(host.calibrated for host in hosts):
        fields["min_confidence"] = {"type": "null", "description": "No model of this server is calibrated."}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Refusal, "description": REFUSALS[status]} for status in statuses}


def _page(name: str, kind: str) -> Any:
    content = (resources.files("ftor.serve") / "page" / name).read_bytes()

    async def page() -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

    return page


async def _refuse(_: Request, error: Exception) -> Response:
    """Answer with the status and the message of a refusal."""
    if isinstance(error, HTTPException):  # of the framework: no such path, no such method
        return JSON({"error": str(error.detail)}, error.status_code, error.headers)
    assert isinstance(error, RefusedError)
    return JSON({"error": str(error)}, error.status, error.headers)


async def _fail(_: Request, error: Exception) -> Response:
    """Answer an error of our own, of which the log says more."""
    return JSON({"error": "an error of the server; its log says more"}, 500)
