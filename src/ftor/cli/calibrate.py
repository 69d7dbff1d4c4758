"""`ftor calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import DataDir, Threads, use_threads
from ftor.show.progress import TerminalReport


def calibrate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder, as ftor train writes it.")],
    file: Annotated[Path, typer.Argument(metavar="DEV.tsv", help="Pairs that the model was not trained on.")],
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Fit the confidence of predictions, and write it into the model folder.

    `ftor train` has done so with its dev pairs. Other pairs are better if they are more like the sentences
    that the model will get.
    """
    import ftor  # here for start-up time

    use_threads(threads)
    model = ftor.load(folder, data_folder=data_dir)
    report = TerminalReport()
    fitted = model.calibrate(file, report)
    fitted.write(folder)
    if fitted.right in (0, fitted.pairs):
        report.warn("all answers are right, or all are wrong: such pairs say little about confidence")
    share = f"{fitted.right} of {fitted.pairs} answers are right ({fitted.judged_by.replace('_', ' ')})"
    print(f"calibrated: {share}")
