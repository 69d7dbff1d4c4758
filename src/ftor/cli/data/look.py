"""`ftor data look`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import DataDir, DevFile, TestFile
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def look(
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Training pairs: source, tab, target.")],
    dev_file: DevFile = None,
    test_file: TestFile = None,
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a page.")] = False,
) -> None:
    """Look at pairs before training: lengths, copies, programs, reordering, and what is odd about them.

    Each finding says which settings follow from it.
    """
    from ftor.show.look import look_page  # here for start-up time
    from ftor.text.reading import PairsFile
    from ftor.tuning.look import lines_left_out
    from ftor.tuning.look import look as look_at

    report = TerminalReport()
    paths = {"train": file, "dev": dev_file, "test": test_file}
    files = {split: path for split, path in paths.items() if path is not None}
    read = {split: PairsFile.read(path, report=report) for split, path in files.items()}
    train, dev, test = (read[split].pairs if split in read else () for split in paths)
    found = look_at(train, dev, test, data_dir)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        show(look_page(found, {split: str(path) for split, path in files.items()}))
    left_out = lines_left_out(read, found)
    if left_out:
        report.warn(f"left out: {left_out}")
