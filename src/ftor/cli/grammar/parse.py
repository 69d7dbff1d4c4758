"""`ftor grammar parse`."""

from typing import Annotated

import typer

from ftor.cli.options import GrammarSource, Sentence, named_grammar


def parse(
    source: GrammarSource,
    strings: Annotated[
        list[str], typer.Argument(metavar="STRING", help="Words with blanks between them, in quotes.")
    ],
    sentence: Sentence = None,
) -> None:
    """Print a parse tree of each string. If there is none, say which word does not fit."""
    from ftor.grammar import GrammarError  # here for start-up time

    grammar = named_grammar(source)
    words = (sentence or "").split()
    problems = []
    for string in strings:
        tree = grammar.tree(string.split(), words)
        if tree is None:
            problems.append(f"{string!r}: {grammar.why_not(string.split(), words)}")
        else:
            print(tree)
    if problems:
        raise GrammarError("\n".join(problems))
