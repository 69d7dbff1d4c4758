"""Ctrl-C and SIGTERM: the first one asks to stop soon, a second one stops at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):  # noqa: N818
    """Training was stopped by Ctrl-C or SIGTERM. A checkpoint has been written."""


@contextmanager
def stop_requests() -> Iterator[list[bool]]:
    """Give a list with one value, which becomes True at the first Ctrl-C or SIGTERM."""
    asked = [False]

    def note(number: int, frame: object) -> None:
        asked[0] = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, note) for number in signals}
    except ValueError:  # only the main thread can handle signals
        yield asked
        return
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
