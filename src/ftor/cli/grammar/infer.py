"""`ftor grammar infer`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ftor.show.progress import TerminalReport


def infer(
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Source, tab, program.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a file. Default: stdout.")] = None,
    notation: Annotated[
        Literal["auto", "s-expression", "calls", "funql", "json", "prefix"],
        typer.Option(metavar="NAME", help="auto, s-expression, calls, funql, json or prefix."),
    ] = "auto",
    generality: Annotated[
        Literal["typed", "union", "arity"],
        typer.Option(
            help="typed: a slot takes what slots like it took in the file. "
            "union: also other units with the same head. arity: every slot takes everything."
        ),
    ] = "typed",
    original: Annotated[
        bool, typer.Option("--original", help="Write rules in the notation of the programs, not in units.")
    ] = False,
    copies: Annotated[bool, typer.Option("--copies", help="Words of sources may be copied.")] = False,
) -> None:
    """Infer a grammar from the programs of a file, and say what it accepts of programs held out."""
    from ftor.files import write_text  # here for start-up time
    from ftor.text.programs import Programs, UnitSettings
    from ftor.text.programs.grammars import inferred_grammar
    from ftor.text.programs.grammars.coverage import HELD_OUT, coverage
    from ftor.text.programs.pairs import encode_pairs, learn_programs
    from ftor.text.reading import DataError, read_pairs

    report = TerminalReport()
    pairs = read_pairs(file)
    learned = learn_programs(notation, {"train": pairs}, UnitSettings(), copies)
    learned.tell(report)
    programs = learned.units
    if not isinstance(programs, Programs):
        raise DataError(f"{file}: the targets are not programs")
    text = inferred_grammar(encode_pairs(programs, pairs), programs, copies, generality, original)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(out, text)
    if len(pairs) >= HELD_OUT:
        for found in coverage(pairs, programs.notation.name, copies):
            report.say(str(found))
