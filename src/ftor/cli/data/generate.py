"""`ftor data generate`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer


def generate(
    task: Annotated[
        Literal["mirror", "mirror-xyz"], typer.Argument(help="mirror-xyz has unseen combinations.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR|FILE.tsv", help="A folder for all splits, or a file for one split."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="train|dev|test", help="Only one split. Default with --size or --lengths: test."
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of pairs. Default: as published.")
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(metavar="LIST", help="Lengths of the sources: 11-20 or 30,50,100.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same seed gives the same pairs.")] = None,
) -> None:
    """Generate pairs of the mirror task, w → w followed by w reversed. One split goes to stdout."""
    from ftor.datasets import mirror  # here for start-up time
    from ftor.text.reading import write_pairs

    if split is None and (size is not None or lengths is not None):
        split = "test"
    seed = mirror.DEFAULT_SEED if seed is None else seed
    if split is None:
        if out is None or out.suffix == ".tsv":
            raise typer.BadParameter("give a folder for all splits, or --split", param_hint="--out")
        for name, pairs in mirror.generate(task, seed).items():
            write_pairs(pairs, out / f"{name}.tsv")
        return
    if split not in mirror.SPLITS[task]:
        raise typer.BadParameter(
            f"expected one of {', '.join(mirror.SPLITS[task])}, found {split}", param_hint="--split"
        )
    if out is not None and out.suffix != ".tsv":
        raise typer.BadParameter("one split goes to a .tsv file", param_hint="--out")
    pairs = mirror.draw(task, split, seed, size, _numbers(lengths))
    if out is not None:
        write_pairs(pairs, out)
    else:
        sys.stdout.writelines(f"{source}\t{target}\n" for source, target in pairs)


def _numbers(text: str | None) -> list[int]:
    """Return the numbers in "11-20" or "30,50,100"."""
    numbers: list[int] = []
    for part in text.split(",") if text is not None else []:
        low, dash, high = part.partition("-")
        high = high if dash else low
        if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
            raise typer.BadParameter(f"expected 11-20 or 30,50,100, found {text}", param_hint="--lengths")
        numbers += range(int(low), int(high) + 1)
    return numbers
