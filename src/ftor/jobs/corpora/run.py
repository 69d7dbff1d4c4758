"""One run over a corpus: from chunks to records in their order, with progress, from where it was cut off."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from ftor.errors import FtorError
from ftor.jobs.corpora.chunks import Chunk, is_parquet
from ftor.jobs.corpora.output import JsonLines, Output, Stdout, Table
from ftor.jobs.corpora.request import Answers
from ftor.jobs.corpora.resume import resume
from ftor.jobs.corpora.tally import Tally
from ftor.reporting import Report

Results = Generator[tuple[Chunk, Answers], None, None]
Predict = Callable[[Iterator[Chunk]], Results]
"""Predicts chunks, and gives the answers in the order of the chunks."""


def predict_corpus(
    chunks: Iterator[Chunk],
    predict: Predict,
    path: Path | None,
    report: Report,
    size: int | None = None,
    resuming: bool = False,
) -> Tally:
    """Predict all chunks, and write their records in order.

    Args:
        chunks: the input.
        predict: predicts chunks.
        path: the output: JSON lines, or a Parquet file if it ends in .parquet. None is stdout.
        report: receives warnings, and the progress.
        size: of the input, if it is known.
        resuming: whether the output is continued if there is one.
    """
    before = resume(path, chunks) if resuming and path is not None and path.exists() else None
    if before is None:
        output: Output = Stdout() if path is None else Table(path) if is_parquet(path) else JsonLines(path)
        tally, done = Tally(), 0
    else:
        output, tally, done = JsonLines(before.path, before.size), before.tally, before.done
        chunks = chain(before.first, before.rest)
    warned: set[str] = set()
    try:
        with report.loading(size, done, computing=True) as count, closing(predict(chunks)) as results:
            if before is not None:
                for _, answers in zip(before.first, results, strict=False):
                    before.check(answers[1].records)
            with output:
                for chunk, (records, warnings, unknown, foreign) in results:
                    for warning in [text for text in warnings if text not in warned]:
                        report.warn(warning)
                        warned.add(warning)
                    output.write(records)
                    tally.add(chunk, records, unknown, foreign)
                    count.advance(chunk.size)
    except KeyboardInterrupt:
        more = "" if path is None or is_parquet(path) else f"; --resume continues {path}"
        raise FtorError(f"stopped{more}") from None
    return tally
