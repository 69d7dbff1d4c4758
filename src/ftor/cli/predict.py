"""`ftor predict`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.model.model import Model
    from ftor.model.prediction import Prediction

LINES_AT_ONCE = 1024


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
    batch_size: Annotated[int | None, typer.Option(metavar="N", min=1, help="Sentences per batch.")] = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Translate sentences. Prints JSON lines: source, prediction, tokens, score, length."""
    import ftor  # here for start-up time

    if sentences and input_file:
        raise typer.BadParameter("give sentences or --input, not both", param_hint="--input")
    use_threads(threads)
    model = ftor.load(folder, data_folder=data_dir)
    lines = list(_sentences(sentences, input_file))
    decoding_grammar = read_grammar(grammar)
    tokens = list(_tokenized(model, lines, "" if sentences else str(input_file or "stdin")))
    model.add_words(tokens, TerminalReport())  # for all lines at once: the file of vectors is large
    structure = alignment or fertilities or tree
    if structure:
        model.require_transducer("--alignment, --fertilities, --tree")
    report = TerminalReport(quiet=len(lines) < 100)
    malformed: list[str] = []

    def records() -> Iterator[dict[str, Any]]:
        for first in range(0, len(lines), LINES_AT_ONCE):
            some = lines[first : first + LINES_AT_ONCE]
            predictions = model.predict(
                some,
                lengths=lengths,
                grammar=decoding_grammar,
                batch_size=batch_size,
                structure=structure,
                report=report,
            )
            malformed.extend(each.text for each in predictions if each.well_formed is False)
            for source, prediction in zip(some, predictions, strict=True):
                yield _record(source, prediction, alignment, fertilities, tree)

    write_lines(records(), output)
    if malformed:
        lengths_tried = "that the model can write, of the lengths that were tried"
        tried = lengths_tried if model.config.model.structured else "in the model's beam"
        TerminalReport().warn(
            f"{len(malformed)} of {len(lines)} outputs do not derive from the grammar, which derives none "
            f"{tried}; the first is: {malformed[0]}"
        )


def _sentences(given: list[str] | None, path: Path | None) -> Iterator[str]:
    """Yield sentences from the arguments, a file or stdin. Raises an error that names all bad lines."""
    from ftor.text.reading import DataError, decoded_lines, read_lines  # here for start-up time

    if given:
        yield from given
        return
    name = str(path) if path else "stdin"
    lines = read_lines(path) if path else decoded_lines(sys.stdin.buffer.read())
    problems = []
    for number, text in lines:
        if text is None or not text.strip():
            problems.append(f"{name}:{number}: {'not UTF-8' if text is None else 'an empty line'}")
        else:
            yield text
    if problems:
        raise DataError("\n".join(problems))


def _tokenized(model: "Model", lines: list[str], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of all lines. Raises an error that names all bad ones.

    `name` is the name of the file, or empty if the lines are arguments.
    """
    from ftor.text.reading import DataError  # here for start-up time

    problems = []
    for number, line in enumerate(lines, 1):
        try:
            yield model.tokenize(line)
        except DataError as error:
            problems.append(f"{name}:{number}: {error}" if name else f"{line!r}: {error}")
    if problems:
        raise DataError("\n".join(problems))


def _record(
    source: str, prediction: "Prediction", alignment: bool, fertilities: bool, tree: bool
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "source": source,
        "prediction": prediction.text,
        "tokens": prediction.tokens,
        "score": prediction.score,
        "length": prediction.length,
    }
    if prediction.well_formed is not None:
        record["well_formed"] = prediction.well_formed
    structure = prediction.structure
    if structure is not None:
        record["source_tokens"] = prediction.source
        if fertilities:
            record["fertilities"] = structure.fertilities
        if tree:
            record["tree"] = None if structure.tree is None else str(structure.tree)
        if alignment:
            record["alignment"] = structure.alignment.round(6).tolist()
    return record
