"""What a server accepts from its clients."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on requests, and how sentences of several requests are put together.

    Attributes:
        body: bytes of a request.
        sentences: sentences of a request.
        words: tokens of a sentence.
        n_best: answers per sentence.
        seconds: time that a request may take to arrive, and then to be answered.
        queue: requests of a model that wait or are being answered. Others are refused.
        batch: sentences that are predicted at once.
        wait: seconds that a request waits for others to join its batch.
    """

    body: int = 1_000_000
    sentences: int = 64
    words: int = 100
    n_best: int = 10
    seconds: float = 30.0
    queue: int = 256
    batch: int = 32
    wait: float = 0.002
