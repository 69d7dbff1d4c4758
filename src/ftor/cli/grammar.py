"""`ftor grammar`: grammars of outputs."""

import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ftor.text.programs import Programs
    from ftor.text.reading import Pair

grammar_app = typer.Typer(no_args_is_help=True, help="Infer grammars from programs.")

HELD_OUT = 5
"""Every fifth program is held out to measure what a grammar of the others accepts."""


@grammar_app.callback()
def _commands() -> None:
    """Make `infer` a command of its own even while it is the only one."""


@grammar_app.command(epilog="Example: ftor grammar infer pairs.tsv --out programs.cfg")
def infer(
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Source, tab, program.")],
    out: Annotated[Path | None, typer.Option(metavar="G.cfg", help="Write a file. Default: stdout.")] = None,
    notation: Annotated[
        Literal["auto", "s-expression", "calls", "funql", "json", "prefix"],
        typer.Option(metavar="NAME", help="auto, s-expression, calls, funql, json or prefix."),
    ] = "auto",
    generality: Annotated[
        Literal["typed", "arity"],
        typer.Option(
            help="typed: a slot takes what it took in the file. arity: every slot takes everything."
        ),
    ] = "typed",
    original: Annotated[
        bool, typer.Option("--original", help="Write rules in the notation of the programs, not in units.")
    ] = False,
    copies: Annotated[bool, typer.Option("--copies", help="Words of sources may be copied.")] = False,
) -> None:
    """Infer a grammar from the programs of a file, and say what it accepts of programs held out."""
    from ftor.files import write_text  # here for start-up time
    from ftor.model.programs import inferred_grammar
    from ftor.text.programs import Programs, UnitSettings
    from ftor.text.programs.pairs import encode_pairs, learn_programs
    from ftor.text.reading import DataError, read_pairs

    report = TerminalReport()
    pairs = read_pairs(file)
    programs = learn_programs(notation, {"train": pairs}, UnitSettings(), copies, report)
    if not isinstance(programs, Programs):
        raise DataError(f"{file}: the targets are not programs")
    pairs = encode_pairs(programs, pairs)
    text = inferred_grammar(pairs, programs, copies, generality, original)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(out, text)
    if len(pairs) >= 2 * HELD_OUT:
        for line in _coverage(pairs, programs, copies):
            report.say(line)


def _coverage(pairs: "Sequence[Pair]", programs: "Programs", copies: bool) -> "list[str]":
    """For each generality, what a grammar of four fifths accepts of the last fifth, and of all programs."""
    from ftor.grammar import Grammar  # here for start-up time
    from ftor.grammar.inferring import Generality, count_programs
    from ftor.model.programs import inferred_grammar

    rest = [pair for number, pair in enumerate(pairs) if number % HELD_OUT]
    held_out = pairs[::HELD_OUT]
    length = sorted(len(pair.target) for pair in pairs)[len(pairs) // 2]
    kinds: tuple[Generality, ...] = ("typed", "arity")
    grammars = {
        kind: Grammar.parse(inferred_grammar(rest, programs, copies, kind), f"grammar by {kind}")
        for kind in kinds
    }
    lines = []
    for kind, grammar in grammars.items():
        accepted = sum(grammar.accepts(pair.target, pair.source) for pair in held_out)
        derived = count_programs(grammar.rules, length)[length]
        lines.append(
            f"{kind}: a grammar of {len(rest)} programs accepts {100 * accepted / len(held_out):.1f} % of "
            f"{len(held_out)} others; it derives {Decimal(derived):.3g} programs of {length} units"
        )
    return lines
