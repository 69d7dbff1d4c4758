"""`ftor predict`."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ftor.cli.options import (
    CommitteeMean,
    DataDir,
    GrammarOption,
    Lengths,
    ModelFolder,
    Threads,
    leading_models,
)
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.jobs.corpora import Chunk, Predict, Request


def predict(
    folder: ModelFolder,
    rest: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DIR]... [SENTENCE]...",
            help="More models make a committee. Sentences: without any, the lines of --input, or of stdin.",
        ),
    ] = None,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="A text file, one sentence per line, or a Parquet file. May be given several times.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write JSON lines, or FILE.parquet, and not to stdout."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an --output that was cut off, if there is one.")
    ] = False,
    column: Annotated[
        str, typer.Option(metavar="NAME", help="The column of the sentences in Parquet files.")
    ] = "text",
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Number of processes.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Predict on a Ray cluster. `auto` is that of this machine."),
    ] = None,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Add the alignment of output and source tokens.")
    ] = False,
    fertilities: Annotated[
        bool, typer.Option("--fertilities", help="Add the number of copies of each source token.")
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Add the best reordering tree.")] = False,
    n_best: Annotated[int, typer.Option(metavar="N", min=1, help="Add the next best outputs, up to N.")] = 1,
    min_confidence: Annotated[
        float | None,
        typer.Option(metavar="P", min=0, max=1, help="Abstain if the answer is right with less than P."),
    ] = None,
    batch_size: Annotated[int | None, typer.Option(metavar="N", min=1, help="Sentences per batch.")] = None,
    committee: CommitteeMean = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Translate sentences. Prints JSON lines: source, prediction, tokens, score and more.

    A line that is empty or too long has an error instead. The output has as many lines as the input, in the
    same order.
    """
    from ftor.jobs.corpora import Request, predict_corpus  # here for start-up time

    folders, sentences = leading_models([folder, *(rest or [])])
    _check_usage(sentences, inputs, output, resume, ray)
    report = TerminalReport()
    if sentences and (meant := _meant(folders, sentences[0])):
        report.warn(f"{sentences[0]!r} is read as a sentence; did you mean the model folder {meant}?")
    request = Request(
        tuple(folders),
        data_dir,
        grammar,
        alignment,
        fertilities,
        tree,
        threads,
        lengths,
        batch_size,
        n_best,
        min_confidence,
        committee,
    )
    chunks, size = _chunks(sentences, inputs, column, ray is not None, report)
    predict_chunks = _places(request, jobs, ray, report)
    predict_corpus(chunks, predict_chunks, output, report, size, resume).report(report)


def _check_usage(
    sentences: list[str], inputs: list[Path] | None, output: Path | None, resume: bool, ray: str | None
) -> None:
    """Refuse options that do not go together."""
    if sentences and inputs:
        raise typer.BadParameter("give sentences or --input, not both", param_hint="--input")
    if len(sentences) == 1 and _is_file(sentences[0]):
        raise typer.BadParameter(f"{sentences[0]} is a file: --input {sentences[0]}", param_hint="SENTENCE")
    if ray is not None and not inputs:
        raise typer.BadParameter("a cluster reads files: give --input", param_hint="--ray")
    if resume and (output is None or output.suffix.lower() == ".parquet"):
        raise typer.BadParameter("only --output FILE.jsonl can be continued", param_hint="--resume")
    if output is not None and any(
        path.exists() and output.exists() and path.samefile(output) for path in inputs or ()
    ):
        raise typer.BadParameter(f"{output} is an --input, which it would replace", param_hint="--output")


def _meant(folders: list[str], sentence: str) -> Path | None:
    """The model folder that was most likely meant by one word, which is read as a sentence."""
    from ftor.model.folder import meant_model  # here for start-up time

    return meant_model(Path(sentence), folders) if len(sentence.split()) == 1 else None


def _is_file(sentence: str) -> bool:
    try:
        return Path(sentence).is_file()
    except (OSError, ValueError):  # too long, or with a null byte
        return False


def _chunks(
    sentences: list[str],
    inputs: list[Path] | None,
    column: str,
    on_cluster: bool,
    report: TerminalReport,
) -> tuple["Iterator[Chunk]", int | None]:
    """The input, and its size if it is known."""
    from ftor.jobs.corpora import chunks  # here for start-up time

    if sentences:
        return chunks.given_chunks(sentences), sum(map(len, sentences))
    if inputs:
        if on_cluster:
            chunks.require_spans(inputs)
        return chunks.read_chunks(inputs, column, report), chunks.input_size(inputs)
    return chunks.stream_chunks(sys.stdin.buffer, "stdin", report), None


def _places(request: "Request", jobs: int, ray: str | None, report: TerminalReport) -> "Predict":
    """Where chunks are predicted: here, in several processes, or on a cluster."""
    from ftor.jobs.corpora.processes import predict_here, predict_in_processes  # here for start-up time

    if ray is not None:
        from ftor.jobs.corpora.cluster import predict_on_cluster

        return partial(predict_on_cluster, request, ray, report)
    return partial(predict_here, request) if jobs == 1 else partial(predict_in_processes, request, jobs)
