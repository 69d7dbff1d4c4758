"""The runs that `ftor reproduce` would start, for the terminal."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table

from ftor.lab.ledger import Record
from ftor.lab.plan import Planned
from ftor.show.progress import clock


def plan_table(planned: Sequence[Planned], missing: Sequence[Planned], records: Sequence[Record]) -> Group:
    """Return the state of all planned runs and the time that each takes, below a summary.

    Args:
        planned: all runs.
        missing: the runs that no ledger has.
        records: the lines of the ledgers, which tell how long a run takes.
    """
    known = [seconds for run in missing if (seconds := run.seconds(records)) is not None]
    unknown = f"{len(missing) - len(known)} of unknown length" if len(known) < len(missing) else ""
    takes = f"{clock(sum(known))} on one core" if known or not missing else ""
    summary = f"{len(missing)} of {len(planned)} runs to do: {' and '.join(filter(None, (takes, unknown)))}"
    table = Table("run", "state", "takes", box=None, pad_edge=False)
    for run in planned:
        begun = (run.job.folder / "config.toml").exists()
        state = ("half done" if begun else "to do") if run in missing else "recorded"
        table.add_row(run.name, state, clock(run.seconds(records)))
    return Group(summary, table)
