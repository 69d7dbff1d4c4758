"""Train one row of the paper's tables and print it beside the paper's numbers: F→R on mirror, one seed.

    python examples/reproduce_a_row.py [FOLDER [KEY=VALUE …]]

`ftor reproduce mirror` does the same for every row and seed. This script shows what it calls.
"""

import sys
from pathlib import Path

from ftor.config import Config
from ftor.lab.ledger import append, judgements_in
from ftor.lab.tables import tables
from ftor.show.progress import TerminalReport
from ftor.training.run import Run


def main() -> None:
    """Train, record the run in a ledger, and compare the ledger with the paper."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/row")
    run = Run.new(Config.load("mirror", sys.argv[2:]), folder / "run")
    ledgers = folder / "ledgers"
    metrics = run.train(None, TerminalReport())
    if metrics is not None:  # None after Ctrl-C
        append(ledgers / "mirror.jsonl", {"config": run.config.hash, **metrics}, judgements_in(run.folder))
    row = tables(ledgers, ["mirror"])["mirror"].rows[0]
    print(f"{row.model} on mirror, split {row.split}: exact match in percent")
    for comparison in row.comparisons:
        paper, ours = (number.mean if number else None for number in (comparison.paper, comparison.ours))
        print(f"{comparison.column:>6}  paper {paper}  ours {ours}")


if __name__ == "__main__":
    main()
