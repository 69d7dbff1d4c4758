"""Chunks predicted on a Ray cluster by Ray Data, in order."""

import json
import logging
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from ftor._version import __version__
from ftor.errors import FtorError
from ftor.jobs.cluster import connect, warn_if_no_room
from ftor.jobs.corpora.chunks import Chunk, Span
from ftor.jobs.corpora.request import Answers, Predictor, Request
from ftor.reporting import Report

try:
    import ray
    import ray.data
except ImportError:
    raise FtorError("Ray Data is not installed: pip install 'ftor[cluster]'") from None

MOST_BLOCKS = 10_000
"""Tasks of a run. Each predicts a chunk or several."""


def predict_on_cluster(
    request: Request, address: str, report: Report, chunks: Iterator[Chunk]
) -> Generator[tuple[Chunk, Answers], None, None]:
    """Predict chunks on a cluster. The results are in order.

    The nodes read the model and the chunks themselves, so they must see the same files under the same names.
    What a lost node had under way is predicted again on the others.

    Args:
        request: what is asked for.
        address: of the cluster, or "auto" for the cluster on this machine.
        report: receives a warning if no node is large enough.
        chunks: chunks of files.
    """
    # Only where they are: the texts of a corpus may not fit into memory.
    places = [replace(chunk, texts=()) for chunk in chunks]
    if not places:
        return
    rows = [{"number": number, "span": _span(chunk)} for number, chunk in enumerate(places)]
    connect(address)
    try:
        warn_if_no_room(request.threads, 0, report)
        arguments = {"request": request.absolute().to_json(), "version": __version__}
        blocks = _ordered(rows).map(_answer, fn_kwargs=arguments, num_cpus=request.threads)
        for expected, row in enumerate(blocks.iter_rows()):
            if row["number"] != expected:  # Ray Data promises not to lose, repeat or reorder rows
                raise FtorError(f"--ray {address}: expected chunk {expected}, found {row['number']}")
            reply = json.loads(row["answers"])
            if "error" in reply:
                raise FtorError(reply["error"])
            yield places[expected], Answers(**reply)
    except ray.exceptions.RayError as error:
        raise FtorError(f"--ray {address}: {error}") from None
    finally:
        ray.shutdown()


def _ordered(rows: list[dict[str, Any]]) -> Any:
    """A dataset of rows that keeps their order."""
    for handler in logging.getLogger("ray.data").handlers:
        handler.setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    return ray.data.from_items(rows, override_num_blocks=min(len(rows), MOST_BLOCKS))


def _answer(row: dict[str, Any], request: str, version: str) -> dict[str, Any]:
    """Predict one chunk on a node."""
    reply: dict[str, Any]
    try:
        if __version__ != version:
            node = ray.util.get_node_ip_address()
            raise FtorError(f"node {node} has ftor {__version__}, not {version} as the driver")
        reply = _predictor(request).answer(Span(**json.loads(row["span"])).read())._asdict()
    except (FtorError, OSError) as error:
        reply = {"error": str(error)}
    return {"number": row["number"], "answers": json.dumps(reply)}


@lru_cache(maxsize=1)
def _predictor(request: str) -> Predictor:
    """The model, which stays loaded in its process."""
    return Predictor(Request.from_json(request))


def _span(chunk: Chunk) -> str:
    assert chunk.span is not None
    return json.dumps(asdict(chunk.span))
