"""The runs that `ftor reproduce` would start, for the terminal."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table

from ftor.jobs import Status
from ftor.show.progress import clock


def plan_table(statuses: Sequence[Status]) -> Group:
    """Return the state of all runs and the time that each takes, below a summary."""
    missing = [status for status in statuses if status.state == "waiting"]
    known = [status.expected for status in missing if status.expected is not None]
    unknown = f"{len(missing) - len(known)} of unknown length" if len(known) < len(missing) else ""
    takes = f"{clock(sum(known))} on one core" if known or not missing else ""
    summary = f"{len(missing)} of {len(statuses)} runs to do: {' and '.join(filter(None, (takes, unknown)))}"
    table = Table("run", "state", "takes", box=None, pad_edge=False)
    for status in statuses:
        begun = (status.job.folder / "config.toml").exists()
        state = ("half done" if begun else "to do") if status.state == "waiting" else "recorded"
        table.add_row(status.name, state, clock(status.expected))
    return Group(summary, table)
