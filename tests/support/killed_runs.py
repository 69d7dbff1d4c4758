"""A process that trains the same run again and again, each time killed at another moment, and resumes it.

`python -m support.killed_runs FOLDER MOMENTS ARGUMENTS…` forks a child for each of the comma-separated
moments, which runs `ftor ARGUMENTS… --out FOLDER/MOMENT` and gets SIGKILL there; then another that
resumes it. Moment `7b` is right before, `7a` right after the seventh time that a file is put in its
place: all that a run leaves on the disk changes at these moments only. The same run, left alone, is in
FOLDER/whole. Forking spares the children the seconds of importing and loading kernels.
"""

import os
import signal
import sys
from pathlib import Path

import torch

from ftor.cli.main import main
from support.tiny import run_here

put_in_place = Path.replace


def in_child(arguments: list[str], output: Path, moment: str | None) -> int:
    """How a child ends that runs `ftor`: its exit code, or minus a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for stream in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    if moment is not None:
        kill_at(int(moment[:-1]), before=moment.endswith("b"))
    main(arguments)
    os._exit(0)


def kill_at(number: int, before: bool) -> None:
    """Have this process killed at the given replacement of a file."""
    seen = 0

    def replace(self: Path, target: Path) -> Path:
        nonlocal seen
        seen += 1
        if seen == number and before:
            os.kill(os.getpid(), signal.SIGKILL)
        placed = put_in_place(self, target)
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return placed

    Path.replace = replace


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, moments, arguments = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    assert run_here(*arguments, "--out", folder / "whole").code == 0
    for moment in moments:
        output = folder / f"{moment}.txt"
        killed = in_child([*arguments, "--out", str(folder / moment)], output, moment)
        assert killed == -signal.SIGKILL, f"{moment}: ended with {killed}"
        left = sorted(path.name for path in (folder / moment).iterdir())
        resumed = in_child(["train", "--resume", str(folder / moment), "--threads", "1"], output, None)
        print(moment, resumed, *left)
