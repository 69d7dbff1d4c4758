"""`ftor score`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ftor.cli.options import DataDir, GrammarOption, ModelFolder, Threads, read_grammar, use_threads
from ftor.cli.output import write_lines
from ftor.show.progress import TerminalReport


def score(
    folder: ModelFolder,
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Pairs: source, tab, target.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JSON lines to this file, not to stdout.")
    ] = None,
    grammar: GrammarOption = "own",
    batch_size: Annotated[int | None, typer.Option(metavar="N", min=1, help="Pairs per batch.")] = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Print how probable targets are, as JSON lines: log P(y|x) in all and per token.

    A target that the model can never write has the score null and a reason.
    """
    import ftor  # here for start-up time
    from ftor.text.reading import PairsFile

    use_threads(threads)
    model, report = ftor.load(folder, data_folder=data_dir), TerminalReport()
    data = model.config.data
    tokenizers = data.source_tokenizer, data.target_tokenizer
    pairs = PairsFile.read(file, *tokenizers, data.emphasis, report).pairs
    scores = model.score(
        [pair.source for pair in pairs],
        [pair.target_text for pair in pairs],
        emphasis=[pair.emphasis for pair in pairs],
        grammar=read_grammar(grammar),
        batch_size=batch_size,
        report=TerminalReport(quiet=len(pairs) < 100),
    )

    def records() -> Iterator[dict[str, Any]]:
        for pair, one in zip(pairs, scores, strict=True):
            yield one.record(" ".join(pair.source), pair.target_text)

    write_lines(records(), output)
    missing = sum(one.reason is not None for one in scores)
    if missing:
        report.warn(f"the model can never write {missing} of {len(scores)} targets")
