"""`ftor data`: look at, find, get and generate data. One file per command."""

import typer

from ftor.cli.data.fetch import fetch
from ftor.cli.data.generate import generate
from ftor.cli.data.import_ import import_
from ftor.cli.data.list import list_
from ftor.cli.data.look import look
from ftor.cli.data.recombine import recombine
from ftor.cli.data.trivial import trivial

data_app = typer.Typer(no_args_is_help=True, help="Look at, find, get and generate data.")
data_app.command("look", epilog="Example: ftor data look pairs.tsv --dev dev.tsv")(look)
data_app.command("list", epilog="Example: ftor data list --data-dir ~/corpora")(list_)
data_app.command("fetch", epilog="Example: ftor data fetch geo geobase --to ~/corpora")(fetch)
data_app.command("import", epilog="Example: ftor data import data.zip --to ~/corpora")(import_)
data_app.command(
    "generate", epilog="Example: ftor data generate mirror --lengths 30,50 --size 100 > long.tsv"
)(generate)
data_app.command("recombine", epilog="Example: ftor data recombine pairs.tsv --count 50 --out made.tsv")(
    recombine
)
data_app.command("trivial", epilog="Example: ftor data trivial style-adjective --split dev")(trivial)
