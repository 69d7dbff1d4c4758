"""Ctrl-C and SIGTERM: the first one asks to stop soon, a second one stops at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Interrupted(Exception):  # noqa: N818
    """Training was stopped by Ctrl-C or SIGTERM. A checkpoint has been written."""


@dataclass
class StopRequest:
    """Whether somebody has asked to stop."""

    asked: bool = False


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Turn the first Ctrl-C or SIGTERM into a request. A second one stops at once."""
    request = StopRequest()

    def note(number: int, frame: object) -> None:
        request.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, note) for number in signals}
    except ValueError:  # only the main thread can handle signals
        yield request
        return
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
