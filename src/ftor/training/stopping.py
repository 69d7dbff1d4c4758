"""Ctrl-C, or SIGTERM: the first ends what runs at the next good moment, the second at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):  # noqa: N818
    """Somebody pressed Ctrl-C; a checkpoint has been written."""


@contextmanager
def stop_requests() -> Iterator[list[bool]]:
    """A list whose only value turns True at the first Ctrl-C or SIGTERM; a second one stops at once."""
    asked = [False]

    def note(number: int, frame: object) -> None:
        asked[0] = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, note) for number in signals}
    except ValueError:  # not the main thread, which alone hears of signals
        yield asked
        return
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
