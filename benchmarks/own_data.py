"""A battery of small tasks as strangers bring them: makes the pairs, trains on them, and prints a table."""

import argparse
import os
import sys
from pathlib import Path

import battery
from battery import overnight


def make(options: argparse.Namespace) -> None:
    """Write the pairs of each task to a folder of its own."""
    for name in options.task or battery.NAMES:
        folder = options.out / name
        if name in overnight.NAMES:
            data = Path(os.environ.get("FTOR_DATA", "data")) / "overnight"
            said = overnight.write(name.removeprefix(overnight.PREFIX), data, folder)
        else:
            task = battery.find(name, options.variant)
            task.write(folder, options.seed)
            said = f"{task.train} training pairs, {task.test} test pairs"
        print(f"{name}: {said}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    top = argparse.ArgumentParser(
        description=__doc__, epilog="example: python benchmarks/own_data.py make out --task dates"
    )
    commands = top.add_subparsers(required=True)
    making = commands.add_parser("make", help="write the pairs of tasks")
    making.set_defaults(command=make)
    making.add_argument("out", type=Path, help="the folder for OUT/NAME/train.tsv and test.tsv")
    _add_tasks(making)
    making.add_argument("--seed", type=int, default=0, help="of the generators (default: 0)")
    making.add_argument("--variant", choices=("a", "b"), default="a", help="b: other words and grammars")
    return top


def _add_tasks(command: argparse.ArgumentParser) -> None:
    names = [*battery.NAMES, *overnight.NAMES]
    command.add_argument(
        "--task",
        nargs="+",
        choices=names,
        metavar="NAME",
        help=f"default: all generated; of {', '.join(names)}",
    )


def main() -> None:
    """Run a command."""
    options = parser().parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
