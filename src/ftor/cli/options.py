"""Options and arguments that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ftor.grammar import Grammar
    from ftor.text.reading import Pair

TableName = Literal["mirror", "geo", "atis", "okapi", "style"]
"""The paper's tables, as `ftor.lab.paper.TABLES`, which takes longer to import."""

Experiment = Annotated[
    str, typer.Argument(metavar="NAME|FILE.toml", help="A shipped experiment (see ftor data list) or a file.")
]
ModelFolder = Annotated[
    str,  # not a path, which would make one slash of two
    typer.Argument(metavar="DIR", help="A model folder, as ftor train writes it, or hf://owner/name."),
]
CommitteeMean = Annotated[
    Literal["log", "arithmetic", "soup"] | None,
    typer.Option(
        "--committee",
        help="What several models average: the logarithms of their probabilities, the probabilities, or "
        "their weights. Default: `decoding.committee` of their configuration, which is log.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Where the data is. Default: $FTOR_DATA, then ./data, then the user's cache."
    ),
]
DevFile = Annotated[
    Path | None, typer.Option("--dev", metavar="FILE.tsv", help="Pairs that select the best epoch.")
]
TestFile = Annotated[
    Path | None, typer.Option("--test", metavar="FILE.tsv", help="Pairs that are evaluated at the end.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting. May be given several times."),
]
Threads = Annotated[
    int, typer.Option(metavar="N", min=1, help="CPU threads. More than one helps on an idle machine only.")
]
Ray = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on a Ray cluster. `auto`: the one of this machine.")
]
Lengths = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of output lengths to try. Default: as configured with a grammar, else 1.",
    ),
]
GrammarOption = Annotated[
    str,
    typer.Option(
        "--grammar",
        metavar="G|none",
        show_default=False,
        help="Only write outputs of this grammar (.cfg, .lark or .gbnf). Default: the model's own, if any. "
        "`none` turns it off.",
    ),
]
GrammarSource = Annotated[
    str,
    typer.Argument(
        metavar="G",
        help="A file (.cfg, .lark or .gbnf), the name of a shipped grammar, or a model folder.",
    ),
]
Sentence = Annotated[
    str | None, typer.Option(metavar="WORDS", help="The sentence whose words `@copy` stands for.")
]
Ledger = Annotated[Path | None, typer.Option(metavar="FILE", help="Append the results to this JSONL file.")]

To = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The data folder. Default: $FTOR_DATA, else ./data.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite files that differ.")]


def read_grammar(option: str) -> "Grammar | str | None":
    """Return the grammar that `--grammar` names: "own", None for "none", or the grammar of a file."""
    from ftor.grammar import Grammar  # here for start-up time

    if option == "own":
        return option
    return None if option == "none" else Grammar.read(option)


def named_grammar(source: str) -> "Grammar":
    """Return a grammar: that of a file, a shipped one, or that of a model in the words of its targets."""
    from ftor.grammar import Grammar  # here for start-up time

    if not _is_model(source):
        return Grammar.read(source)
    from ftor.model.folder import grammar_in_words

    return grammar_in_words(source)


def in_units(source: str, grammar: "Grammar") -> list[str]:
    """A line that says that a grammar seems to be over units, if it does. Texts are then not in its words."""
    from ftor.text.programs.grammars import likely_unit  # here for start-up time

    unit = likely_unit(grammar)
    if unit is None:
        return []
    advice = "give the model folder instead, or write it anew with ftor grammar infer --original"
    return [f"{source}: {unit!r} looks like a unit of programs; if the grammar is over units, {advice}"]


def joins_quotes(source: str, grammar: "Grammar") -> bool:
    """Whether texts of a grammar have no space between a quote and the words of a name.

    So it is in JSON, and in all programs of a model that reads them as trees.
    """
    from ftor.text.programs.grammars import has_json_strings  # here for start-up time

    if not _is_model(source):
        return has_json_strings(grammar)
    from ftor.model.folder import read_programs
    from ftor.model.hub import local_folder
    from ftor.text.programs import Programs

    return isinstance(read_programs(local_folder(source)), Programs)


def pairs_for(source: str, path: Path) -> "list[Pair]":
    """Return the pairs of a file, in the tokens of a model if `source` is its folder."""
    from ftor.text.reading import read_pairs  # here for start-up time

    if not _is_model(source):
        return read_pairs(path)
    from ftor.model.folder import read_description
    from ftor.model.hub import local_folder

    data = read_description(local_folder(source))[0].data
    return read_pairs(path, data.source_tokenizer, data.target_tokenizer, data.emphasis)


def _is_model(source: str) -> bool:
    from ftor.grammar import shipped_grammars  # here for start-up time

    return source not in shipped_grammars() and (source.startswith("hf://") or Path(source).is_dir())


def leading_models(names: list[str]) -> tuple[list[str], list[str]]:
    """Split arguments into the models at their beginning, and the rest. The first is always a model.

    A path beside one of the models that is no model is a typing error, not a sentence.
    """
    from ftor.model.folder import is_model, not_a_model  # here for start-up time

    first = next((place for place, name in enumerate(names) if place and not is_model(name)), len(names))
    models, rest = names[:first], names[first:]
    beside = {str(Path(model).parent) for model in models} - {"."}
    if rest and str(Path(rest[0]).parent) in beside:
        raise not_a_model(Path(rest[0]), models)
    return models, rest


def use_threads(threads: int) -> None:
    """Set the number of CPU threads of torch."""
    import torch  # here for start-up time

    torch.set_num_threads(threads)


def check_figure(path: Path, option: str) -> None:
    """Refuse a file name that is not one of a figure."""
    from ftor.show.drawing import SUFFIXES  # here for start-up time

    if path.suffix.lower() not in SUFFIXES:
        raise typer.BadParameter(f"expected {' or '.join(SUFFIXES)}, found {path}", param_hint=option)


def target_folder(to: Path | None) -> Path:
    """Return the data folder that `--to` names, or the default."""
    from ftor.datasets.folders import data_folders  # here for start-up time
    from ftor.text.reading import DataError

    folder = to if to is not None else data_folders(None)[0]
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: a file, not a data folder")
    return folder
