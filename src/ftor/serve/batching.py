"""One thread per model that answers the sentences of all requests, those that arrive together at once."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ftor.errors import FtorError
from ftor.serve.limits import Limits

WORDS_PER_PLACE = 10
"""A sentence of as many words takes a second place in a batch. So batches of long ones end soon, too."""
Options = TypeVar("Options", bound=Hashable)
Record = dict[str, Any]


class FullError(FtorError):
    """Too many requests wait.

    Attributes:
        seconds: after which there should be room, as a whole number.
    """

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(f"{waiting} requests are waiting already; try again in {seconds} s")
        self.seconds = seconds


class LateError(FtorError):
    """A request was not answered in time."""


class Watcher(Protocol):
    """Hears of every batch."""

    def batch(self, sentences: int, waits: Sequence[float], seconds: float) -> None:
        """Note a batch: its size, how many seconds each of its requests waited, and how long it took."""


@dataclass(eq=False)
class Job(Generic[Options]):
    """The sentences of one request.

    Attributes:
        sentences: the texts.
        options: how to predict. Sentences with other options are in other batches.
        deadline: on the monotonic clock.
        arrived, started: on the monotonic clock, in seconds.
        future: gets the records of all sentences, in their order.
    """

    sentences: Sequence[str]
    options: Options
    deadline: float = math.inf
    arrived: float = field(default_factory=time.monotonic)
    started: float | None = None
    future: "Future[list[Record]]" = field(default_factory=Future)
    records: list[Record] = field(default_factory=list)

    @property
    def rest(self) -> Sequence[str]:
        """The sentences that have no record yet."""
        return self.sentences[len(self.records) :]

    def finish(self, error: Exception | None = None) -> None:
        """Hand over the records, or an error, unless nobody waits for them any more."""
        if self.future.set_running_or_notify_cancel():
            if error is None:
                self.future.set_result(self.records)
            else:
                self.future.set_exception(error)


class Batcher(Generic[Options]):
    """Collects the sentences of requests into batches, and predicts in a thread of its own.

    The model is only ever used by this thread. The first request of a batch waits `limits.wait` seconds for
    others; one that has waited that long behind another batch does not wait again. A request with more
    sentences than fit into a batch takes several, so a request that is late or cancelled ends between two.

    Args:
        predict: gives a record, or the error that refuses its request, for each of some sentences.
        limits: sizes of queue and batches, and the wait.
        watcher: hears of every batch.
        name: of the thread.
    """

    def __init__(
        self,
        predict: Callable[[Sequence[str], Options], Sequence[Record | Exception]],
        limits: Limits,
        watcher: Watcher | None = None,
        name: str = "model",
    ) -> None:
        self._predict, self._limits, self._watcher = predict, limits, watcher
        self._waiting: deque[Job[Options]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._pace = 0.01  # seconds per request, a running mean
        self._thread = threading.Thread(target=self._run, name=f"ftor-{name}", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, job: Job[Options]) -> "Future[list[Record]]":
        """Queue a job. Raises `FullError` if too many are waiting."""
        with self._changed:
            if self._closing:
                raise FtorError("the server is stopping")
            if len(self._waiting) >= self._limits.queue:
                seconds = math.ceil(self._pace * len(self._waiting))
                raise FullError(len(self._waiting), max(1, min(seconds, 3600)))
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Answer what is waiting, take nothing more, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while (parts := self._next()) is not None:
            begin = time.monotonic()
            new = [job for job, _ in parts if job.started is None]
            for job in new:
                job.started = begin
            answers = self._answers(parts)
            seconds = time.monotonic() - begin
            self._pace += 0.1 * (seconds / len(parts) - self._pace)
            if self._watcher is not None:
                sentences = sum(len(some) for _, some in parts)
                self._watcher.batch(sentences, [begin - job.arrived for job in new], seconds)
            for job, outcome in answers:
                if isinstance(outcome, Exception):
                    self._end(job, outcome)
                    continue
                job.records += outcome
                if not job.rest:
                    self._end(job)

    def _next(self) -> list[tuple[Job[Options], Sequence[str]]] | None:
        """Wait for the next batch: jobs, and which of their sentences. None at the end."""
        with self._changed:
            while True:
                self._drop()
                if self._waiting:
                    first = self._waiting[0]
                    alike = [job for job in self._waiting if job.options == first.options]
                    left = first.arrived + self._limits.wait - time.monotonic()
                    enough = sum(len(job.rest) for job in alike) >= self._limits.batch
                    if enough or left <= 0 or self._closing:
                        return self._filled(alike)
                    self._changed.wait(left)
                elif self._closing:
                    return None
                else:
                    self._changed.wait()

    def _drop(self) -> None:
        """Forget jobs that nobody waits for, and end those that are late."""
        now = time.monotonic()
        for job in [job for job in self._waiting if job.future.cancelled() or job.deadline < now]:
            self._waiting.remove(job)
            job.finish(LateError("no answer in time"))

    def _filled(self, jobs: Sequence[Job[Options]]) -> list[tuple[Job[Options], Sequence[str]]]:
        """As many sentences as fit into a batch, at least one. Long ones take the place of several."""
        parts: list[tuple[Job[Options], Sequence[str]]] = []
        room = self._limits.batch
        for job in jobs:
            count = 0
            for sentence in job.rest:
                size = 1 + len(sentence.split()) // WORDS_PER_PLACE
                if room < size and (parts or count):
                    break
                room -= size
                count += 1
            if job.rest and not count:
                break
            parts.append((job, job.rest[:count]))
        return parts

    def _answers(
        self, parts: Sequence[tuple[Job[Options], Sequence[str]]]
    ) -> list[tuple[Job[Options], list[Record] | Exception]]:
        """The records of each job, or its error. If a batch fails, each job is tried by itself."""
        sentences = [sentence for _, some in parts for sentence in some]
        try:
            outcomes = iter(self._predict(sentences, parts[0][0].options))
        except Exception as error:
            if len(parts) == 1:
                return [(parts[0][0], error)]
            return [answer for part in parts for answer in self._answers([part])]
        return [(job, _records([next(outcomes) for _ in some])) for job, some in parts]

    def _end(self, job: Job[Options], error: Exception | None = None) -> None:
        with self._changed:
            self._waiting.remove(job)
        job.finish(error)


def _records(outcomes: Sequence[Record | Exception]) -> list[Record] | Exception:
    """The records, or the first error."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    return errors[0] if errors else [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
