"""`ftor data import`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import Replace, To, target_folder
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER|ZIP", help="Contains the datasets' files, at any depth.")
    ],
    to: To = None,
    replace: Replace = False,
) -> None:
    """Copy the files of the known datasets from a folder or a zip. Every line is checked first."""
    from ftor.datasets import DATASETS  # here for start-up time
    from ftor.datasets.archives import open_candidates
    from ftor.datasets.importing import import_files
    from ftor.show.data import imported_table
    from ftor.text.reading import DataError

    folder, report = target_folder(to), TerminalReport()
    with open_candidates(source) as candidates:
        result = import_files(candidates, list(DATASETS.values()), folder, report, replace)
    if not (result.written or result.unchanged):
        raise DataError(f"{source}: no files of {', '.join(DATASETS)} in it")
    show(imported_table(result, folder, list(DATASETS)))
    if result.unpublished:
        report.warn(f"these differ from the published files: {', '.join(result.unpublished)}")
