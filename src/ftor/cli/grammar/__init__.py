"""`ftor grammar`: grammars of outputs. One file per command."""

import typer

from ftor.cli.grammar.check import check
from ftor.cli.grammar.export import export
from ftor.cli.grammar.infer import infer
from ftor.cli.grammar.parse import parse
from ftor.cli.grammar.sample import sample

grammar_app = typer.Typer(no_args_is_help=True, help="Check, use, convert and infer grammars of outputs.")
grammar_app.command(epilog="Example: ftor grammar check calendar.cfg --pairs pairs.tsv")(check)
grammar_app.command(epilog='Example: ftor grammar parse geo "answer population_1 stateid utah"')(parse)
grammar_app.command(epilog="Example: ftor grammar sample geo --count 5 --longest 8")(sample)
grammar_app.command(epilog="Example: ftor grammar export runs/mine-0 --out programs.gbnf")(export)
grammar_app.command(epilog="Example: ftor grammar infer pairs.tsv --out programs.cfg")(infer)
