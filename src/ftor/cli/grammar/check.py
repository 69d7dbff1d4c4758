"""`ftor grammar check`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import GrammarSource, in_units, named_grammar, pairs_for
from ftor.reporting import counted, percent

LONGEST = 100
REJECTED_SHOWN = 5


def check(
    source: GrammarSource,
    pairs: Annotated[
        Path | None, typer.Option(metavar="PAIRS.tsv", help="Also try the targets of these pairs.")
    ] = None,
) -> None:
    """Say what a grammar has, or what is wrong with it. Fails if it does not derive a target of --pairs."""
    from ftor.text.programs.grammars import read_targets  # here for start-up time
    from ftor.text.reading import DataError

    grammar = named_grammar(source)
    copies = " and @copy" if grammar.copies else ""
    lengths = [length for length, possible in enumerate(grammar.lengths(LONGEST)) if possible]
    shortest = (
        f"the shortest string has {counted(lengths[0], 'word')}"
        if lengths
        else f"no string has at most {LONGEST} words"
    )
    rules, words = counted(len(grammar.rules), "alternative"), counted(len(grammar.terminals), "word")
    print(f"{source}: {rules}, {words}{copies}; {shortest}")
    if pairs is None:
        return
    reading = read_targets(grammar, pairs_for(source, pairs))
    every, rejected = reading.pairs, reading.rejected
    for pair in rejected[:REJECTED_SHOWN]:
        print(f"{pairs}:{pair.line}: {grammar.why_not(pair.target, pair.source)}")
    accepted = len(every) - len(rejected)
    print(f"derives {accepted} of {counted(len(every), 'target')} ({percent(accepted / len(every))})")
    if rejected:
        missing = counted(len(rejected), "target")
        failed = f"{source}: does not derive {missing} of {pairs}, read as {reading}"
        raise DataError("\n".join([failed, *in_units(source, grammar)]))
