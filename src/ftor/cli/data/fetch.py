"""`ftor data fetch`."""

import re
from typing import Annotated

import typer

from ftor.cli.options import Replace, To, target_folder
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="DATASET", help="Names of datasets; see ftor data list.")
    ],
    to: To = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="A zip or a file, instead of the public address.")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option(metavar="HEX", help="The checksum that the download must have.")
    ] = None,
    replace: Replace = False,
) -> None:
    """Download datasets, check them, and put them into the data folder."""
    from ftor.datasets import DATASETS, fetching  # here for start-up time
    from ftor.datasets.published import Download
    from ftor.show.data import imported_table

    for name in names:
        if name not in DATASETS:
            raise typer.BadParameter(
                f"no dataset {name}; there are {', '.join(DATASETS)}", param_hint="DATASET"
            )
    datasets = [DATASETS[name] for name in dict.fromkeys(names)]
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise typer.BadParameter(
            f"a checksum has 64 hexadecimal digits, not {len(sha256)} characters", param_hint="--sha256"
        )
    if url is not None and not url.startswith(tuple(f"{scheme}://" for scheme in fetching.SCHEMES)):
        known = ", ".join(f"{scheme}://" for scheme in fetching.SCHEMES)
        raise typer.BadParameter(f"{url} does not begin with one of {known}", param_hint="--url")
    download = Download(url, sha256) if url is not None else None
    if sha256 is not None and download is None:
        public = fetching.downloads(datasets)
        if len(public) != 1:
            addresses = ", ".join(each.url for each in public)
            raise typer.BadParameter(
                f"one checksum is for one download, not for {len(public)}: {addresses}", param_hint="--sha256"
            )
        download = Download(public[0].url, sha256)
    folder, report = target_folder(to), TerminalReport()
    result = fetching.fetch(datasets, folder, report, download, replace)
    show(imported_table(result, folder, [dataset.name for dataset in datasets]))
    if result.unpublished:
        report.warn(f"these differ from the published files: {', '.join(result.unpublished)}")
