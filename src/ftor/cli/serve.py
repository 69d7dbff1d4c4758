"""`ftor serve`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ftor.cli.options import DataDir, Threads, use_threads
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.grammar import Grammar


def serve(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR",
            help="Model folders, or hf://owner/name. The first is the default. NAME=DIR names one.",
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen. 0.0.0.0 is every network.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port. 0 is any that is free.")
    ] = 8000,
    api_key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Answer only clients with a key of this file.")
    ] = None,
    grammar: Annotated[
        list[str] | None,
        typer.Option(metavar="G", help="A grammar that clients may choose. May be given several times."),
    ] = None,
    max_body: Annotated[int, typer.Option(metavar="N", min=1, help="Bytes of a request.")] = 1_000_000,
    max_sentences: Annotated[int, typer.Option(metavar="N", min=1, help="Sentences of a request.")] = 64,
    max_words: Annotated[int, typer.Option(metavar="N", min=1, help="Words of a sentence.")] = 100,
    max_n_best: Annotated[int, typer.Option(metavar="N", min=1, help="Outputs per sentence.")] = 10,
    max_seconds: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Time for a request to arrive, and to be answered.")
    ] = 30.0,
    max_queue: Annotated[
        int, typer.Option(metavar="N", min=1, help="Requests that may wait for a model.")
    ] = 256,
    max_batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Sentences that are predicted at once.")
    ] = 32,
    batch_wait: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Milliseconds to wait for others to join a batch.")
    ] = 2.0,
    log_sentences: Annotated[
        bool, typer.Option("--log-sentences", help="Log sentences and outputs, too.")
    ] = False,
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Answer sentences over HTTP: an API, and a page that shows how answers came about.

    Needs pip install 'ftor[serve]'. Stops at Ctrl+C or SIGTERM, after what is running.
    """
    import ftor  # here for start-up time
    from ftor.serve.app import make_app
    from ftor.serve.hosting import Host
    from ftor.serve.limits import Limits
    from ftor.serve.metrics import Metrics
    from ftor.serve.refusals import Keys
    from ftor.serve.server import Watched, address, listen, log_to_stderr, run

    use_threads(threads)
    keys = None if api_key_file is None else Keys.read(api_key_file)
    grammars = _grammars(grammar or [])
    named = _named(folders)
    limits = Limits(
        body=max_body, sentences=max_sentences, words=max_words, n_best=max_n_best, seconds=max_seconds,
        queue=max_queue, batch=max_batch, wait=batch_wait / 1000,
    )  # fmt: skip
    metrics, report = Metrics(), TerminalReport()
    with listen(host, port) as listening:
        hosts = []
        for name, folder in named.items():
            report.say(f"loading {name}")
            model = ftor.load(folder, data_folder=data_dir)
            hosts.append(Host(name, model, grammars, limits, metrics))
            for problem in hosts[-1].refused.values():
                report.warn(f"{name} is served without this grammar: {problem}")
        log_to_stderr()
        print(address(listening), flush=True)
        app = make_app(hosts, limits, metrics, keys, log_sentences)
        run(Watched(app, metrics, log_sentences), listening, limits.seconds)


def _named(folders: list[str]) -> dict[str, str]:
    """The folders by the names that clients use: the given one, or the last part of the path."""
    named: dict[str, str] = {}
    for folder in folders:
        name, equals, rest = folder.partition("=")
        if not equals or "/" in name:
            name, rest = Path(folder).resolve().name, folder
        if name in named:
            raise typer.BadParameter(
                f"{named[name]} and {rest} are both called {name}; write NAME={rest}", param_hint="DIR"
            )
        named[name] = rest
    return named


def _grammars(options: list[str]) -> "dict[str, Grammar]":
    """The grammars by the names that clients use: those of the files, without .cfg."""
    from ftor.grammar import Grammar  # here for start-up time

    grammars: dict[str, Grammar] = {}
    for option in options:
        name = Path(option).stem
        if name in ("own", "none", *grammars):
            raise typer.BadParameter(f"another grammar is called {name}", param_hint="--grammar")
        grammars[name] = Grammar.read(option)
    return grammars
