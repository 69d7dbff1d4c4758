"""`ftor calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import CommitteeMean, DataDir, Threads, use_threads
from ftor.show.progress import TerminalReport


def calibrate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder, as ftor train writes it.")],
    rest: Annotated[
        list[Path],
        typer.Argument(
            metavar="[DIR]... DEV.tsv",
            help="Pairs that the model was not trained on. More models before it make a committee.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for a committee, which then is one model.")
    ] = None,
    committee: CommitteeMean = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Fit the confidence of predictions, and write it into the model folder.

    `ftor train` has done so with its dev pairs. Other pairs are better if they are more like the sentences
    that the model will get. For a committee, the weights of its members are fitted too.
    """
    import ftor  # here for start-up time
    from ftor.model.folder import COMMITTEE_FILE

    *others, file = rest
    if bool(others) != (out is not None):
        raise typer.BadParameter("several models need it, and one does not", param_hint="--out")
    if out is not None and out.exists() and any(out.iterdir()) and not (out / COMMITTEE_FILE).is_file():
        raise typer.BadParameter(f"{out}: expected a new folder or one of a committee", param_hint="--out")
    use_threads(threads)
    model = ftor.load([folder, *others], data_folder=data_dir, committee=committee)
    report = TerminalReport()
    fitted = model.calibrate(file, report)
    if out is None:
        model.save_fitted(folder)
    else:
        model.save(out)
    if fitted.right in (0, fitted.pairs):
        report.warn("all answers are right, or all are wrong: such pairs say little about confidence")
    share = f"{fitted.right} of {fitted.pairs} answers are right ({fitted.judged_by.replace('_', ' ')})"
    print(f"calibrated: {share}")
