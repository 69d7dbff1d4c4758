"""`ftor predict`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ftor.cli.options import (
    DataDir,
    GrammarOption,
    Lengths,
    ModelFolder,
    Threads,
    read_grammar,
    use_threads,
)
from ftor.cli.output import write_lines
from ftor.reporting import counted
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.model.model import Model

LINES_AT_ONCE = 1024
WORDS_SHOWN = 10
"""Unknown words that are named."""


def predict(
    folder: ModelFolder,
    sentences: Annotated[
        list[str] | None,
        typer.Argument(metavar="SENTENCE", help="Without any: the lines of --input, or of stdin."),
    ] = None,
    input_file: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="A text file, one sentence per line.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JSON lines to this file, not to stdout.")
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
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Translate sentences. Prints JSON lines: source, prediction, tokens, score and more.

    A line that is empty or too long has an error instead.
    """
    import ftor  # here for start-up time
    from ftor.model.prediction import error_record
    from ftor.text.reading import PROBLEMS_SHOWN, DataError

    if sentences and input_file:
        raise typer.BadParameter("give sentences or --input, not both", param_hint="--input")
    use_threads(threads)
    model = ftor.load(folder, data_folder=data_dir)
    decoding_grammar = read_grammar(grammar)
    structure = alignment or fertilities or tree
    if structure:
        model.require_transducer("--alignment, --fertilities, --tree")
    lines = list(_lines(model, sentences, input_file))
    good = [line for line in lines if line.error is None]
    if lines and not good:
        raise DataError("\n".join(f"{line.place}{line.error}" for line in lines[:PROBLEMS_SHOWN]))
    model.add_words([line.tokens for line in good], TerminalReport())  # at once: the file of vectors is large
    report = TerminalReport(quiet=len(good) < 100)
    malformed: list[str] = []
    unknown: dict[str, None] = {}
    failed: list[str] = []

    def records() -> Iterator[dict[str, Any]]:
        for first in range(0, len(lines), LINES_AT_ONCE):
            some = lines[first : first + LINES_AT_ONCE]
            predictions = iter(
                model.predict(
                    [line.text for line in some if line.error is None],
                    lengths=lengths,
                    grammar=decoding_grammar,
                    batch_size=batch_size,
                    structure=structure,
                    n_best=n_best,
                    min_confidence=min_confidence,
                    report=report,
                )
            )
            for line in some:
                prediction = next(predictions) if line.error is None else None
                error = line.error if prediction is None else prediction.error
                if error is not None:
                    failed.append(f"{line.place}{error}")
                if prediction is None:
                    yield error_record(line.text, str(error))
                else:
                    unknown.update(dict.fromkeys(prediction.unknown))
                    malformed.extend([prediction.text] if prediction.well_formed is False else [])
                    yield prediction.record(
                        line.text, alignment=alignment, fertilities=fertilities, tree=tree
                    )

    write_lines(records(), output)
    _warn(model, malformed, failed, len(lines))
    _warn_of_unknown(model, list(unknown))


class _Line(NamedTuple):
    """A line to predict from.

    Attributes:
        place: the file and the number of the line, for messages. Empty for an argument.
        text: what it says.
        tokens: its tokens.
        error: why it cannot be predicted from. None if it can.
    """

    place: str
    text: str
    tokens: tuple[str, ...] = ()
    error: str | None = None


def _lines(model: "Model", given: list[str] | None, path: Path | None) -> Iterator[_Line]:
    """Yield sentences from the arguments, a file or stdin."""
    from ftor.text.reading import DataError  # here for start-up time

    name = str(path) if path else "stdin"
    for number, text in enumerate(given, 1) if given else _file_lines(path, name):
        place = f"{text!r}: " if given else f"{name}:{number}: "
        try:
            if not text.strip():
                raise DataError("an empty line")
            yield _Line(place, text, model.tokenize(text))
        except DataError as error:
            if given:
                raise DataError(f"{place}{error}") from None
            yield _Line(place, text, error=str(error))


def _file_lines(path: Path | None, name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines of a file or of stdin."""
    from ftor.text.reading import guessed_lines  # here for start-up time

    raw = path.read_bytes() if path else sys.stdin.buffer.read()
    return guessed_lines(raw, name, TerminalReport())


def _warn_of_unknown(model: "Model", words: list[str]) -> None:
    """Name the words that training did not have. A model that copies can still copy them."""
    if words and not model.config.model.copies:
        shown = ", ".join(words[:WORDS_SHOWN]) + (", …" if len(words) > WORDS_SHOWN else "")
        TerminalReport().warn(f"{counted(len(words), 'unknown word')}, which training did not have: {shown}")


def _warn(model: "Model", malformed: list[str], failed: list[str], count: int) -> None:
    """Warn of outputs that do not derive from the grammar, and of lines without an output."""
    from ftor.text.reading import PROBLEMS_SHOWN  # here for start-up time

    report = TerminalReport()
    if malformed:
        lengths_tried = "that the model can write, of the lengths that were tried"
        tried = lengths_tried if model.config.model.structured else "in the model's beam"
        report.warn(
            f"{len(malformed)} of {count} outputs do not derive from the grammar, which derives none "
            f"{tried}; the first is: {malformed[0]}"
        )
    for problem in failed[:PROBLEMS_SHOWN]:
        report.warn(problem)
    if failed:
        report.warn(f"{len(failed)} of {count} lines have no output")
