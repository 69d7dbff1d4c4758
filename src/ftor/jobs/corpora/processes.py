"""Chunks predicted in this process or in several, in order."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ftor.errors import FtorError
from ftor.jobs.corpora.chunks import Chunk
from ftor.jobs.corpora.request import Answers, Predictor, Request

AHEAD = 2
"""Chunks that are read ahead of time for each process."""
RESTARTS = 3
"""Of the process that predicts a chunk. If it is lost once more, so is the run."""


def predict_here(request: Request, chunks: Iterator[Chunk]) -> Generator[tuple[Chunk, Answers], None, None]:
    """Predict chunks in this process."""
    predictor = Predictor(request)
    for chunk in chunks:
        yield chunk, predictor.answer(chunk.texts)


def predict_in_processes(
    request: Request, jobs: int, chunks: Iterator[Chunk]
) -> Generator[tuple[Chunk, Answers], None, None]:
    """Predict chunks in several processes. The results are in order.

    If a process dies, another one takes its place and predicts its chunk again.
    """
    waiting: deque[tuple[Chunk, Future[Answers]]] = deque()
    workers = _Workers(request)
    threads = ThreadPoolExecutor(jobs)  # each waits for a process
    try:
        for chunk in chunks:
            waiting.append((chunk, threads.submit(workers.answer, chunk)))
            if len(waiting) == jobs * (1 + AHEAD):
                yield waiting[0][0], waiting.popleft()[1].result()
        while waiting:
            yield waiting[0][0], waiting.popleft()[1].result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        workers.stop()


class _Workers:
    """Processes that are started as they are needed, and then used again."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._idle: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._all: list[subprocess.Popen[str]] = []
        self._stopped = False
        self._starting = threading.Lock()  # so that `stop` knows of each process

    def answer(self, chunk: Chunk) -> Answers:
        """Have a process predict a chunk."""
        for _ in range(1 + RESTARTS):
            worker = self._take()
            reply = _ask(worker, chunk)
            if reply is not None:
                self._idle.put(worker)
                if "error" in reply:
                    raise FtorError(reply["error"])
                return Answers(**reply)
            code = worker.wait()
            if self._stopped:
                break
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise FtorError(
            f"{chunk.place(0, chunk.texts[0])}: the process that predicts this line and the next ones ended "
            f"with {how}, {1 + RESTARTS} times; is there enough memory? Try fewer --jobs"
        )

    def _take(self) -> subprocess.Popen[str]:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        with self._starting:
            if self._stopped:
                raise FtorError("stopped")
            worker = self._start()
            self._all.append(worker)
        assert worker.stdin is not None
        with suppress(OSError, ValueError):  # it has ended or was stopped, as `_ask` finds out
            worker.stdin.write(self._request.to_json() + "\n")
        return worker

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "ftor.jobs.corpora.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ
            | {name: str(self._request.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")},
            start_new_session=True,  # Ctrl-C reaches only this process, which then stops them
        )

    def stop(self) -> None:
        """End all processes, whatever they do."""
        with self._starting:
            self._stopped = True
        for worker in self._all:
            worker.kill()
        for worker in self._all:
            with suppress(OSError), worker:  # waits, and closes its pipes
                pass


def _ask(worker: "subprocess.Popen[str]", chunk: Chunk) -> dict[str, Any] | None:
    """Give a chunk to a process, and wait for its reply. None if it has ended."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(OSError, ValueError):  # ValueError: a reply that was cut off, or a pipe that is closed
        worker.stdin.write(json.dumps(chunk.texts) + "\n")
        worker.stdin.flush()
        reply: dict[str, Any] = json.loads(worker.stdout.readline())
        return reply
    return None
