"""Ctrl-C: the first ends what runs at the next good moment, the second at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):  # noqa: N818
    """Somebody pressed Ctrl-C; a checkpoint has been written."""


@contextmanager
def stop_requests() -> Iterator[list[bool]]:
    """A list whose only value turns True at the first Ctrl-C; a second one stops at once."""
    asked = [False]

    def note(number: int, frame: object) -> None:
        asked[0] = True
        signal.signal(signal.SIGINT, before)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread, which alone hears of signals
        yield asked
        return
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
