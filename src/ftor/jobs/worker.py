"""The process that runs jobs for `ftor.jobs.processes`: `python -m ftor.jobs.worker`.

It reads jobs from stdin, one JSON line each, and writes their events to stdout. When stdin ends, a run that
is under way stops at a checkpoint, and the process ends: the process that started this one has asked for it,
or has ended.
"""

import _thread
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ftor.jobs.job import Event, Job, Started, Stopped, event_to_json

SECONDS_TO_STOP = 30.0
"""After this time, a run that was asked to stop is asked again. Then it stops at once."""


def main() -> None:
    """Run jobs until stdin ends, and report how each of them ends."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")

    def send(event: Event) -> None:
        with suppress(BrokenPipeError):  # nobody listens, so the run stops soon
            print(event_to_json(event), file=events, flush=True)

    jobs: queue.Queue[Job | None] = queue.Queue()
    busy, ended = threading.Event(), threading.Event()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
    busy.set()  # until the first job is there, since the imports of a job take seconds
    threading.Thread(target=_read_jobs, args=[sys.stdin, jobs, busy, ended], daemon=True).start()
    try:
        while (job := jobs.get()) is not None:
            busy.set()
            last: Event = Stopped()
            try:
                _write_output_to(job.log)
                send(Started(f"process {os.getpid()}"))
                from ftor.jobs.running import run_job  # here, since it takes seconds

                last = run_job(job, send)
            except KeyboardInterrupt:
                pass
            busy.clear()
            send(last)
    except KeyboardInterrupt:  # stdin ended before or after a job
        pass
    ended.set()


def _write_output_to(log: Path) -> None:
    """Let what libraries print go to the log of the job."""
    with log.open("a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def _read_jobs(
    stdin: TextIO, jobs: "queue.Queue[Job | None]", busy: threading.Event, ended: threading.Event
) -> None:
    for line in stdin:
        jobs.put(Job.from_json(line))
    jobs.put(None)
    while busy.is_set() and not ended.is_set():
        _thread.interrupt_main()
        ended.wait(SECONDS_TO_STOP)  # an `except` somewhere may have caught it


if __name__ == "__main__":
    main()
