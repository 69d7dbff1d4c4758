"""A battery of small tasks as strangers bring them: makes the pairs, trains on them, and prints a table."""

import argparse
import os
import sys
from pathlib import Path

import battery
from battery import overnight, runs
from battery.task import TRAIN
from ftor.files import read_json_lines

ALL = (*battery.NAMES, *overnight.NAMES)


def make(options: argparse.Namespace) -> None:
    """Write the pairs of each task to a folder of its own."""
    for name in options.task or battery.NAMES:
        folder = options.out / name
        if name in overnight.NAMES:
            data = Path(os.environ.get("FTOR_DATA", "data")) / "overnight"
            said = overnight.write(name, data, folder)
        else:
            task = battery.find(name, options.variant)
            task.write(folder, options.seed)
            said = f"{task.train} training pairs, {task.test} test pairs"
        print(f"{name}: {said}", file=sys.stderr)


def run(options: argparse.Namespace) -> None:
    """Train on each task with each system and seed. Runs that the file of results has are left out."""
    names = options.task or sorted(folder.parent.name for folder in options.data.glob(f"*/{TRAIN}"))
    missing = [name for name in names if not (options.data / name / TRAIN).is_file()]
    if missing or not names:
        raise SystemExit(f"{options.data}: no {' '.join(missing) or 'tasks'}; write them with `make`")
    planned = (
        runs.Run(options.data / name, system, seed, options.minutes)
        for seed in options.seeds
        for name in names
        for system in options.system
    )
    runs.execute_all(planned, options.results)


def table(options: argparse.Namespace) -> None:
    """Print the exact match on test, worst seed first, with mean and minutes."""
    import timing  # here for start-up time

    timing.print_table("exact match on test", *runs.table(read_json_lines(options.results)))


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    top = argparse.ArgumentParser(
        description=__doc__, epilog="example: python benchmarks/own_data.py make out --task dates"
    )
    commands = top.add_subparsers(required=True)
    making = commands.add_parser("make", help="write the pairs of tasks")
    making.set_defaults(command=make)
    making.add_argument("out", type=Path, help="the folder for OUT/NAME/train.tsv and test.tsv")
    making.add_argument("--task", nargs="+", choices=ALL, metavar="NAME", help=f"any of {', '.join(ALL)}")
    making.add_argument("--seed", type=int, default=0, help="of the generators (default: 0)")
    making.add_argument("--variant", choices=("a", "b"), default="a", help="b: other words and grammars")

    running = commands.add_parser("run", help="train on tasks; finished runs are left out")
    running.set_defaults(command=run)
    running.add_argument(
        "data",
        type=Path,
        metavar="OUT",
        help="the folder that `make` wrote, or any with NAME/train.tsv and test.tsv",
    )
    running.add_argument("--task", nargs="+", metavar="NAME", help="folders in OUT (default: all)")
    running.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    running.add_argument("--system", nargs="+", choices=runs.SYSTEMS, default=["race"])
    running.add_argument("--minutes", type=float, help="the limit of each race")
    running.add_argument("--results", type=Path, required=True, metavar="FILE.jsonl")

    printing = commands.add_parser("table", help="print the results")
    printing.set_defaults(command=table)
    printing.add_argument("results", type=Path, metavar="FILE.jsonl")
    return top


def main() -> None:
    """Run a command."""
    options = parser().parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
