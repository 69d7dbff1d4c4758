"""`ftor grammar sample`."""

from typing import Annotated

import typer

from ftor.cli.options import GrammarSource, Sentence, joins_quotes, named_grammar


def sample(
    source: GrammarSource,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many strings.")] = 10,
    longest: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="The most words of a string.")
    ] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed draws the same strings.")] = 0,
    sentence: Sentence = None,
) -> None:
    """Draw strings of a grammar, one per line.

    All lengths up to --longest that the grammar has are equally likely, and so are all strings of a length.
    """
    from ftor.grammar.sampling import sample_strings  # here for start-up time
    from ftor.grammar.writing import with_quotes

    grammar = named_grammar(source)
    text = with_quotes if joins_quotes(source, grammar) else " ".join
    words = None if sentence is None else sentence.split()
    for string in sample_strings(grammar, count, longest, seed, words):
        print(text(string))
