"""The command line. Results go to stdout, progress and errors to stderr; exit codes are 0, 1 and 2."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ftor._version import __version__
from ftor.cli.data import DataDir, align, data_app
from ftor.cli.output import show, write_lines
from ftor.cli.reproduce import reproduce
from ftor.cli.results import results
from ftor.cli.tune import tune
from ftor.config import Config, ConfigError, shipped
from ftor.errors import FtorError
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.grammar import Grammar
    from ftor.model.model import Model
    from ftor.model.prediction import Prediction

LINES_AT_ONCE = 1024

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog='Begin with: ftor train mirror, then ftor predict runs/mirror-0 "a b c d e f g h i j k a"',
)
app.add_typer(data_app, name="data")
app.command(epilog="Example: ftor align pairs.tsv --threshold 0.7 --output alignments.jsonl")(align)
app.command(epilog="Example: ftor reproduce geo --seeds 2 --jobs 2")(reproduce)
app.command(epilog="Example: ftor results geo --format latex")(results)
app.command(epilog="Example: ftor tune geo-template-rf --trials 20 --epochs 50")(tune)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A model folder, as ftor train makes it.")]
Threads = Annotated[int, typer.Option(min=1, help="CPU threads; more than one pays on an idle machine only.")]
Lengths = Annotated[
    int | None, typer.Option(min=1, help="How many output lengths are tried; as configured with a grammar.")
]
GrammarOption = Annotated[
    str,
    typer.Option(
        "--grammar", metavar="G.cfg|none", help="What outputs derive from; else the model's own, if any."
    ),
]
Ledger = Annotated[Path | None, typer.Option(help="A JSONL file to add the results to.")]


def _show_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Sequence transduction that generalises: train on short examples, be right on longer ones."""


@app.command(epilog="Example: ftor train mirror --seed 1 --set training.epochs=5")
def train(
    experiment: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE.toml", help=f"One of {', '.join(shipped())}, or a file."),
    ] = None,
    train_file: Annotated[Path | None, typer.Option("--train", help="TSV: source, tab, target.")] = None,
    dev_file: Annotated[Path | None, typer.Option("--dev", help="TSV that chooses the best epoch.")] = None,
    test_file: Annotated[
        Path | None, typer.Option("--test", help="TSV that is evaluated at the end.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model.")] = None,
    out: Annotated[Path | None, typer.Option(help="A new folder; runs/NAME-SEED if not given.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the configuration.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Go on with a run that was stopped.")
    ] = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
    ledger: Ledger = None,
) -> None:
    """Train a model, and evaluate it."""
    from ftor.training.run import Run

    overrides = list(settings or [])
    if resume is not None:
        if train_file or dev_file or test_file or out or seed is not None:
            raise typer.BadParameter(
                "--resume takes its data, seed and folder from the run", param_hint="--resume"
            )
        run = Run.resume(resume, experiment, overrides)
    else:
        if experiment is None:
            raise typer.BadParameter("an experiment, or --resume DIR", param_hint="NAME|FILE.toml")
        files = {"train": train_file, "dev": dev_file, "test": test_file}
        overrides += [
            f"data.{key}={json.dumps(str(path.absolute() if path.exists() else path), ensure_ascii=False)}"
            for key, path in files.items()
            if path is not None
        ]
        overrides += [f"training.seed={seed}"] if seed is not None else []
        config = Config.load(experiment, overrides)
        if train_file is not None and test_file is None and config.data.test is not None:
            TerminalReport().warn(
                f"no --test is given: the model is tested on {config.data.test} of {experiment}"
            )
        run = Run.new(config, out)
    _use(threads)
    metrics = run.train(data_dir, TerminalReport(), ledger)
    if metrics is None:
        raise typer.Exit(1)
    if run.is_main_process:
        _show_metrics(metrics)


@app.command(epilog='Example: ftor predict runs/mirror-0 "a b c d" "k j i" --tree')
def predict(
    folder: Folder,
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="SENTENCE", help="Else --input, or lines from stdin.")
    ] = None,
    input_file: Annotated[Path | None, typer.Option("--input", help="Text, one sentence per line.")] = None,
    output: Annotated[Path | None, typer.Option(help="A JSONL file; stdout if not given.")] = None,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    alignment: Annotated[bool, typer.Option("--alignment", help="Add P(output ← source).")] = False,
    fertilities: Annotated[bool, typer.Option("--fertilities", help="Add copies per source token.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Add the best reordering tree.")] = False,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Sentences at a time.")] = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Translate sentences: JSON lines with source, prediction, tokens, score and length."""
    import ftor

    if sentences and input_file:
        raise typer.BadParameter("expected sentences or --input, found both", param_hint="--input")
    _use(threads)
    model = ftor.load(folder, data_folder=data_dir)
    lines = list(_sentences(sentences, input_file))
    language = _language(grammar)
    tokens = list(_tokenized(model, lines, "" if sentences else str(input_file or "stdin")))
    model.know(tokens, TerminalReport())  # at once: a file of word vectors is read as a whole
    structure = alignment or fertilities or tree
    if structure:
        model.require_transducer("--alignment, --fertilities, --tree")
    report = TerminalReport(quiet=len(lines) < 100)

    strange: list[str] = []

    def records() -> Iterator[dict[str, Any]]:
        for first in range(0, len(lines), LINES_AT_ONCE):
            some = lines[first : first + LINES_AT_ONCE]
            found = model.predict(
                some,
                lengths=lengths,
                grammar=language,
                batch_size=batch_size,
                structure=structure,
                report=report,
            )
            strange.extend(prediction.text for prediction in found if prediction.well_formed is False)
            for source, prediction in zip(some, found, strict=True):
                yield _record(source, prediction, alignment, fertilities, tree)

    write_lines(records(), output)
    if strange:
        tried = "that the model can write, of the lengths that were tried"
        tried = tried if model.config.model.structured else "in the model's beam"
        TerminalReport().warn(
            f"{len(strange)} of {len(lines)} outputs do not derive from the grammar, which derives none "
            f"{tried}; the first is: {strange[0]}"
        )


@app.command(epilog="Example: ftor evaluate runs/mirror-0 more.tsv")
def evaluate(
    folder: Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE.tsv", help="Source, tab, gold target.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
    ledger: Ledger = None,
) -> None:
    """Compare a model's outputs with gold ones: exact match, by length too, edit distance, length error."""
    import ftor
    from ftor.files import append_json_line
    from ftor.show.metrics import tables
    from ftor.text.reading import read_pairs
    from ftor.training.provenance import commit, machine

    _use(threads)
    model = ftor.load(folder, data_folder=data_dir)
    data = model.config.data
    pairs = read_pairs(file, data.source_tokenizer, data.target_tokenizer, data.emphasis)
    metrics = model.evaluate(pairs, lengths, TerminalReport(), _language(grammar))
    if ledger is not None:
        seed, found = model.config.training.seed, metrics.as_dict()
        record = {
            "experiment": model.config.name,
            "seed": seed,
            "config": model.config.hash,
            "file": file.name,
            "grammar": grammar,
            "lengths": lengths,
            "commit": commit(),
        }
        append_json_line(ledger, record | {"metrics": found} | machine())
    if as_json:
        print(json.dumps(metrics.as_dict()))
    else:
        show(tables(metrics))


@app.command(epilog='Example: ftor explain runs/mirror-0 "a b c" --out picture.svg')
def explain(
    folder: Folder,
    sentence: Annotated[
        str,
        typer.Argument(
            metavar="SENTENCE", help="As in training; `sentence ; word` if a word is to be emphasised."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="A picture, .png or .svg, instead of text.")] = None,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Show how a model came to its output: fertilities, reordering tree, alignment."""
    import ftor
    from ftor.show.explain import picture, view

    _use(threads)
    model = ftor.load(folder, data_folder=data_dir)
    model.require_transducer(f"explain {folder}")
    prediction = model.predict([sentence], lengths=lengths, grammar=_language(grammar))[0]
    if out is None:
        show(view(prediction))
    else:
        picture(prediction, out)


def _language(option: str) -> "Grammar | str | None":
    """The grammar that --grammar names, read once."""
    from ftor.grammar import Grammar

    if option == "own":
        return option
    return None if option == "none" else Grammar.read(option)


def _sentences(given: list[str] | None, path: Path | None) -> Iterator[str]:
    """Non-empty sentences from arguments, a file or stdin; a bad line is named."""
    from ftor.text.reading import DataError, decoded_lines, read_lines

    if given:
        yield from given
        return
    name = str(path) if path else "stdin"
    lines = read_lines(path) if path else decoded_lines(sys.stdin.buffer.read())
    problems = []
    for number, text in lines:
        if text is None or not text.strip():
            problems.append(
                f"{name}:{number}: expected a sentence, found {'no UTF-8' if text is None else 'none'}"
            )
        else:
            yield text
    if problems:
        raise DataError("\n".join(problems))


def _tokenized(model: "Model", lines: list[str], name: str) -> Iterator[tuple[str, ...]]:
    """The tokens of all lines of a file, or of sentences if it has no name; all bad ones are named."""
    from ftor.text.reading import DataError

    problems = []
    for number, line in enumerate(lines, 1):
        try:
            yield model.tokenize(line)
        except DataError as error:
            problems.append(f"{name}:{number}: {error}" if name else f"{line!r}: {error}")
    if problems:
        raise DataError("\n".join(problems))


def _record(
    source: str, found: "Prediction", alignment: bool, fertilities: bool, tree: bool
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "source": source,
        "prediction": found.text,
        "tokens": found.tokens,
        "score": found.score,
        "length": found.length,
    }
    if found.well_formed is not None:
        record["well_formed"] = found.well_formed
    how = found.structure
    if how is not None:
        record["source_tokens"] = found.source
        if fertilities:
            record["fertilities"] = how.fertilities
        if tree:
            record["tree"] = None if how.tree is None else str(how.tree)
        if alignment:
            record["alignment"] = how.alignment.round(6).tolist()
    return record


def _use(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _show_metrics(metrics: dict[str, Any]) -> None:
    from ftor.metrics import Metrics
    from ftor.show.metrics import summary, tables

    split = "test" if metrics["test"] else "dev"
    show(f"{split} pairs, exact match by source length:")
    show(tables(Metrics.from_dict(metrics[split])))
    if f"{split}_grammar" in metrics:
        show(f"{split} pairs with the grammar:")
        show(summary(Metrics.from_dict(metrics[f"{split}_grammar"])))


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the command line; errors that a user can mend are one message, without a traceback."""
    try:
        app(list(arguments) if arguments is not None else None)
    except ConfigError as error:
        _fail(error, code=2)
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error, code=1)
    except FtorError as error:
        _fail(error, code=1)


def _fail(error: Exception | str, code: int) -> None:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(code)
