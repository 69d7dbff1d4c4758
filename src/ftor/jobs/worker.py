"""The process that carries out one job: `python -m ftor.jobs.worker`, for `ftor.jobs.processes`.

The job comes as the first line of stdin, events go to stdout, one JSON line each. When stdin ends, whoever
started this process is gone, and the run stops where it can go on from.
"""

import _thread
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TextIO

from ftor.jobs.job import Event, Job, Started, Stopped, event_to_json


def main() -> None:
    """Carry out the job, and say how it ends."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no event

    def send(event: Event) -> None:
        with suppress(BrokenPipeError):  # if nobody listens any more, the run stops soon
            print(event_to_json(event), file=events, flush=True)

    ended = threading.Event()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which scripts in the background ignore
        job = Job.from_json(sys.stdin.readline())
        threading.Thread(target=_stop_when_left_alone, args=[sys.stdin, ended], daemon=True).start()
        send(Started(f"process {os.getpid()}"))
        from ftor.jobs.performing import outcome  # which takes seconds

        last = outcome(job, send)
    except KeyboardInterrupt:
        last = Stopped()
    ended.set()
    send(last)


def _stop_when_left_alone(stdin: TextIO, ended: threading.Event) -> None:
    stdin.read()
    if not ended.is_set():
        _thread.interrupt_main()


if __name__ == "__main__":
    main()
