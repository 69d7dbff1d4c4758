"""`ftor grammar export`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ftor.cli.options import GrammarSource, Sentence, joins_quotes, named_grammar


def export(
    source: GrammarSource,
    format_: Annotated[
        Literal["cfg", "lark", "gbnf"] | None,
        typer.Option("--format", help="Default: by the suffix of --out, else cfg."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a file. Default: stdout.")] = None,
    sentence: Sentence = None,
) -> None:
    """Write a grammar in another notation, or the grammar of a model in the notation of its targets.

    Lark and GBNF derive texts with one space between two words, but none inside the quotes of programs.
    There `@copy` is any word, or with --sentence one of the words of the sentence.
    """
    from ftor.files import write_text  # here for start-up time
    from ftor.grammar.grammar import format_of

    words = None if sentence is None else sentence.split()
    grammar = named_grammar(source)
    format_ = format_ or (format_of(out) if out else "cfg")
    text = grammar.export(format_, words, joins_quotes(source, grammar))
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(out, text)
