"""The application: its commands, and how errors end it.

Results go to stdout, messages and progress to stderr. Exit codes are 0, 1 (it failed) and 2 (bad usage).
"""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from ftor._version import __version__
from ftor.cli.align import align
from ftor.cli.calibrate import calibrate
from ftor.cli.compare import compare
from ftor.cli.config import config_app
from ftor.cli.data import data_app
from ftor.cli.evaluate import evaluate
from ftor.cli.explain import explain
from ftor.cli.grammar import grammar_app
from ftor.cli.predict import predict
from ftor.cli.reproduce import reproduce
from ftor.cli.results import results
from ftor.cli.score import score
from ftor.cli.serve import serve
from ftor.cli.train import train
from ftor.cli.tune import tune
from ftor.errors import FtorError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog='Begin with: ftor train mirror, then ftor predict runs/mirror-0 "a b c d e f g h i j k a"',
)
app.command(epilog="Example: ftor train pairs.tsv --minutes 2")(train)
app.command(epilog='Example: ftor predict runs/mirror-0 "a b c d" "k j i" --tree')(predict)
app.command(epilog="Example: ftor evaluate runs/mirror-0 more.tsv")(evaluate)
app.command(epilog="Example: ftor score runs/mirror-0 pairs.tsv --output scores.jsonl")(score)
app.command(epilog="Example: ftor calibrate runs/mirror-0 dev.tsv")(calibrate)
app.command(epilog="Example: ftor compare runs/mirror-0 runs/mirror-lstm-0 more.tsv --n 5")(compare)
app.command(epilog='Example: ftor explain runs/mirror-0 "a b c" --out picture.svg')(explain)
app.command(epilog="Example: ftor serve runs/mirror-0 --port 8080")(serve)
app.command(epilog="Example: ftor align pairs.tsv --threshold 0.7 --output alignments.jsonl")(align)
app.command(epilog="Example: ftor reproduce geo --seeds 2 --jobs 2")(reproduce)
app.command(epilog="Example: ftor results geo --format latex")(results)
app.command(epilog="Example: ftor tune geo-template-rf --trials 20 --epochs 50")(tune)
app.add_typer(data_app, name="data")
app.add_typer(config_app, name="config")
app.add_typer(grammar_app, name="grammar")


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


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the command line. Errors that a user can mend are one message without a traceback."""
    try:
        app(list(arguments) if arguments is not None else None)
    except BrokenPipeError:  # the reader of our output has closed it
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error, code=1)
    except FtorError as error:
        from ftor.config import ConfigError  # here for start-up time

        _fail(error, code=2 if isinstance(error, ConfigError) else 1)


def _fail(error: Exception | str, code: int) -> None:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(code)
