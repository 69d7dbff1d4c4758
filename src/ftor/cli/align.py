"""`ftor align`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ftor.cli.output import show, write_lines
from ftor.show.progress import TerminalReport

Tokenizer = Literal["whitespace", "english"]


def align(
    file: Annotated[Path, typer.Argument(metavar="FILE.tsv", help="Pairs: source, tab, target.")],
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all posteriors to a JSONL file. Default: print a summary."),
    ] = None,
    model: Annotated[
        Literal["ibm1", "poisson", "sparse", "anchored"],
        typer.Option(help="poisson, sparse: a source word may yield several target words."),
    ] = "ibm1",
    iterations: Annotated[
        int, typer.Option(metavar="N", min=1, help="Iterations of expectation maximisation.")
    ] = 150,
    threshold: Annotated[
        float, typer.Option(metavar="P", min=0, max=1, help="The least posterior of an aligned pair.")
    ] = 0.8,
    no_start_token: Annotated[
        bool, typer.Option("--no-start-token", help="Do not add a start token before each source.")
    ] = False,
    source_tokenizer: Annotated[
        Tokenizer, typer.Option(metavar="RULES", help="whitespace, or english: spaCy's rules.")
    ] = "whitespace",
    target_tokenizer: Annotated[
        Tokenizer, typer.Option(metavar="RULES", help="whitespace, or english: spaCy's rules.")
    ] = "whitespace",
    emphasis: Annotated[
        bool, typer.Option("--emphasis", help="Sources are `sentence ; word`. The word is not aligned.")
    ] = False,
) -> None:
    """Align the words of pairs: find the source token of each target token."""
    from ftor.show.alignments import summary  # here for start-up time
    from ftor.text.aligning import Alignments
    from ftor.text.reading import read_pairs

    pairs = read_pairs(file, source_tokenizer, target_tokenizer, emphasis)
    alignments = Alignments.of(pairs, model, iterations, threshold, not no_start_token, TerminalReport())
    if output is not None:
        write_lines(alignments.records(), output)
    else:
        show(summary(alignments))
