"""`ftor explain`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import (
    DataDir,
    GrammarOption,
    Lengths,
    ModelFolder,
    Threads,
    check_figure,
    read_grammar,
    use_threads,
)
from ftor.cli.output import show


def explain(
    folder: ModelFolder,
    sentence: Annotated[
        str,
        typer.Argument(
            metavar="SENTENCE", help="As in training: `sentence ; word` for a model that emphasises words."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a picture (.png or .svg) instead of text.")
    ] = None,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Show how a model made its output: fertilities, reordering tree, alignment."""
    import ftor  # here for start-up time
    from ftor.show.explain import picture, view

    if out is not None:
        check_figure(out, "--out")
    use_threads(threads)
    model = ftor.load(folder, data_folder=data_dir)
    model.require_transducer(f"explain {folder}")
    prediction = model.predict([sentence], lengths=lengths, grammar=read_grammar(grammar))[0]
    if out is None:
        show(view(prediction))
    else:
        picture(prediction, out)
