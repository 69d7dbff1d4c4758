"""`ftor grammar parse`."""

from typing import Annotated

import typer

from ftor.cli.options import GrammarSource, Sentence, in_units, named_grammar


def parse(
    source: GrammarSource,
    strings: Annotated[
        list[str],
        typer.Argument(metavar="STRING", help="Words with blanks between them, in quotes, or a program."),
    ],
    sentence: Sentence = None,
) -> None:
    """Print a parse tree of each string. If there is none, say which word does not fit."""
    from ftor.grammar import GrammarError  # here for start-up time
    from ftor.text.programs.grammars import read_targets
    from ftor.text.reading import Pair

    grammar = named_grammar(source)
    words = tuple((sentence or "").split())
    problems = []
    for string in strings:
        (read,) = read_targets(
            grammar, [Pair(words, tuple(string.split()), 1, target_text=string.strip())]
        ).pairs
        tree = grammar.tree(read.target, words)
        if tree is None:
            problems.append(f"{string!r}: {grammar.why_not(read.target, words)}")
        else:
            print(tree)
    if problems:
        raise GrammarError("\n".join([*problems, *in_units(source, grammar)]))
