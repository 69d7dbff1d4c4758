"""The process that carries out one job: `python -m ftor.jobs.worker`, for `ftor.jobs.processes`.

The job comes as the first line of stdin, events go to stdout, one JSON line each. When stdin ends, the run
stops where it can go on from: whoever started this process wants that, or is gone.
"""

import _thread
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TextIO

from ftor.jobs.job import Event, Job, Started, Stopped, event_to_json

SECONDS_TO_STOP = 30.0
"""After which a run that was asked to stop is asked again, and then stops at once."""


def main() -> None:
    """Carry out the job, and say how it ends."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no event

    def send(event: Event) -> None:
        with suppress(BrokenPipeError):  # if nobody listens any more, the run stops soon
            print(event_to_json(event), file=events, flush=True)

    ended = threading.Event()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
        job = Job.from_json(sys.stdin.readline())
        threading.Thread(target=_stop_at_the_end_of, args=[sys.stdin, ended], daemon=True).start()
        send(Started(f"process {os.getpid()}"))
        from ftor.jobs.performing import outcome  # which takes seconds

        last = outcome(job, send)
    except KeyboardInterrupt:
        last = Stopped()
    ended.set()
    send(last)


def _stop_at_the_end_of(stdin: TextIO, ended: threading.Event) -> None:
    stdin.read()
    while not ended.is_set():
        _thread.interrupt_main()
        ended.wait(SECONDS_TO_STOP)  # somebody's `except` may have swallowed it


if __name__ == "__main__":
    main()
