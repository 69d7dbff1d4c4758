"""The process that runs one job for `ftor.jobs.processes`: `python -m ftor.jobs.worker`.

It reads the job from the first line of stdin, and writes events to stdout, one JSON line each. When stdin
ends, the run stops at a checkpoint: the process that started this one has asked for it, or has ended.
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
"""After this time, a run that was asked to stop is asked again. Then it stops at once."""


def main() -> None:
    """Run the job, and report how it ends."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries may print

    def send(event: Event) -> None:
        with suppress(BrokenPipeError):  # nobody listens, so the run stops soon
            print(event_to_json(event), file=events, flush=True)

    ended = threading.Event()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
        job = Job.from_json(sys.stdin.readline())
        threading.Thread(target=_stop_when_stdin_ends, args=[sys.stdin, ended], daemon=True).start()
        send(Started(f"process {os.getpid()}"))
        from ftor.jobs.running import run_job  # here, since it takes seconds

        last = run_job(job, send)
    except KeyboardInterrupt:
        last = Stopped()
    ended.set()
    send(last)


def _stop_when_stdin_ends(stdin: TextIO, ended: threading.Event) -> None:
    stdin.read()
    while not ended.is_set():
        _thread.interrupt_main()
        ended.wait(SECONDS_TO_STOP)  # an `except` somewhere may have caught it


if __name__ == "__main__":
    main()
