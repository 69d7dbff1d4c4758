"""`ftor data recombine`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ftor.show.progress import TerminalReport


def recombine(
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Training pairs: source, tab, target.")],
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many pairs at most.")] = 100,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.tsv", help="Write a file. Default: stdout.")
    ] = None,
    grammar: Annotated[
        str | None, typer.Option(metavar="G.cfg", help="Parts are what its rules derive: a file or a name.")
    ] = None,
    lists: Annotated[
        bool,
        typer.Option("--lists", help="With --grammar: half of the pairs have longer lists than is usual."),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same pairs.")] = 0,
) -> None:
    """Put parts of pairs together anew: programs with the phrases that name them, or whole pairs in others.

    These are pairs like those that `training.recombine` adds.
    """
    from ftor.config import Config  # here for start-up time
    from ftor.grammar import Grammar
    from ftor.text.programs import UnitSettings
    from ftor.text.programs.pairs import AUTO, encode_pairs, learn_programs
    from ftor.text.programs.rules import GRAMMAR, RuleUnits
    from ftor.text.reading import PairsFile, write_pairs
    from ftor.text.recombining import check_derived, recombined

    if lists and grammar is None:
        raise typer.BadParameter("--lists needs --grammar")
    report = TerminalReport()
    pairs = PairsFile.read(file, report=report).pairs
    rules = None if grammar is None else Grammar.read(grammar)
    notation = AUTO if rules is None else GRAMMAR
    learned = learn_programs(notation, {"train": pairs}, UnitSettings(), copying=False, grammar=rules)
    learned.tell(report)
    programs = learned.units
    if programs is not None:
        pairs = encode_pairs(programs, pairs)
    if isinstance(programs, RuleUnits):
        check_derived(pairs, programs, file, report)
    iterations = Config.load("programs").training.alignment_iterations
    drawn = recombined(pairs, programs, count, seed, iterations, lists)
    longest = max(len(pair.target) for pair in pairs)
    larger = sum(len(pair.target) > longest for pair in drawn)
    parts = "tokens" if programs is None else "units"
    report.say(f"{len(drawn)} recombined pairs; targets of more {parts} than all of the file: {larger}")
    texts = [(" ".join(pair.source), pair.target_text) for pair in drawn]
    if out is None:
        sys.stdout.writelines(f"{source}\t{target}\n" for source, target in texts)
    else:
        write_pairs(texts, out)
