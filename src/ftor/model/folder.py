"""The files of a model folder: configuration, words, grammar and weights."""

import json
import shlex
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import torch

from ftor.config import Config
from ftor.datasets.folders import find_folder
from ftor.errors import FtorError, nearest
from ftor.files import write_text
from ftor.grammar import Grammar
from ftor.model.hub import is_remote, local_folder
from ftor.model.programs import grammar_name
from ftor.model.tensors import CheckpointError, load_tensors
from ftor.networks import Network, build
from ftor.text.copying import Copying
from ftor.text.programs.grammars import in_notation
from ftor.text.programs.pairs import TargetUnits, read_units
from ftor.text.readers import Reader, TrainedReader
from ftor.text.vocabularies import Vocabularies

CONFIG_FILE, COMMITTEE_FILE = "config.toml", "committee.json"
"""What makes a folder that of a model, or of a committee of models."""
WORDS_FILE = "vocab.json"
GRAMMAR_FILE = "grammar.cfg"
WEIGHTS_FILE = "model.safetensors"
PROGRAMS_FILE = "programs.json"
METRICS_FILE, CHECKPOINT_FILE = "metrics.json", "checkpoint.safetensors"
"""What a run writes at its end, and while it trains."""


def copying_of(config: Config) -> Copying | None:
    """The copy rules of an experiment, if its network copies."""
    return Copying.of(config.data) if config.model.copies else None


def reader_of(config: Config, data_folder: Path | None) -> Reader | None:
    """The pretrained reader of an experiment, if it has one. Models share it.

    A folder of its name in the data folders stands for the hub.
    """
    name, trained = config.model.pretrained_reader, config.model.trained_reader_layers
    return None if name is None else _reader(name, find_folder(name, data_folder, "config.json"), trained)


@lru_cache(maxsize=4)
def _reader(name: str, folder: Path | None, trained: int) -> Reader:
    return TrainedReader(name, trained, folder) if trained else Reader(name, folder=folder)


def is_model(name: str | Path) -> bool:
    """Whether a name is that of a model or committee, on disk or on a hub."""
    return is_remote(name) or any((Path(name) / file).is_file() for file in (CONFIG_FILE, COMMITTEE_FILE))


def meant_model(folder: Path, but: Iterable[str | Path] = ()) -> Path | None:
    """The model folder, none of `but`, that was most likely meant by one that does not exist."""
    others = {Path(name).resolve() for name in but}
    try:
        base, pattern = (folder.parent, "*") if folder.parent.exists() else (folder.parent.parent, "*/*")
        models = [path for path in base.glob(pattern) if is_model(path) and path.resolve() not in others]
    except OSError:  # a name is too long, or a folder may not be read
        return None
    found = nearest(str(folder.relative_to(base)), [str(path.relative_to(base)) for path in models])
    return None if found is None else base / found


def not_a_model(folder: Path, but: Iterable[str | Path] = ()) -> CheckpointError:
    """The error that a folder is not one of a model. Names the one that may be meant, none of `but`."""
    missing = "it is a file" if folder.exists() else "it does not exist"
    why = f"it has no {CONFIG_FILE}" if folder.is_dir() else missing
    meant = meant_model(folder, but)
    hint = "" if meant is None else f"; did you mean {meant}?"
    return CheckpointError(f"{folder}: not a model folder: {why}{hint}")


def unfinished(folder: Path) -> str | None:
    """How to finish a run that was interrupted. None if the folder is not one of such a run."""
    model = [(folder / name).exists() for name in (WORDS_FILE, WEIGHTS_FILE)]
    begun = (folder / CHECKPOINT_FILE).exists() or ((folder / CONFIG_FILE).exists() and not any(model))
    if not begun or (folder / METRICS_FILE).exists():
        return None
    missing = "its training has not finished" if all(model) else "its training has not got to a model yet"
    return f"{folder}: {missing}; if it was interrupted, `ftor train --resume {folder}` continues it"


def require_trained(folder: Path) -> None:
    """Raise if the folder is that of a run without a model yet."""
    reason = unfinished(folder)
    if reason is not None and not ((folder / WORDS_FILE).exists() and (folder / WEIGHTS_FILE).exists()):
        raise CheckpointError(reason)


def read_description(folder: Path, data_folder: Path | None = None) -> tuple[Config, Vocabularies]:
    """Read the configuration and the words of a model folder. Its reader may be in the data folder."""
    if not (folder / CONFIG_FILE).is_file():
        if (folder / "race").is_dir():
            command = shlex.join(["ftor", "train", "--resume", str(folder)])
            raise CheckpointError(f"{folder}: its race was stopped; to resume: {command}")
        raise not_a_model(folder)
    config = Config.load(folder / CONFIG_FILE)
    try:
        tokens = json.loads((folder / WORDS_FILE).read_text("utf-8"))
        source, target = list(tokens["source"]), list(tokens["target"])
        if not all(isinstance(token, str) for token in (*source, *target)):
            raise TypeError("a token is not a string")
        start_token, lowercase = config.data.start_token, config.data.lowercase
        vocabularies = Vocabularies(source, target, copying_of(config), start_token, lowercase)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{folder / WORDS_FILE}: not two lists of tokens: {error!r}") from None
    vocabularies.reader = reader_of(config, data_folder)
    return config, vocabularies


def read_programs(folder: Path) -> TargetUnits | None:
    """Read how a model folder writes its outputs in units. None if its outputs are plain tokens."""
    path = folder / PROGRAMS_FILE
    if not path.exists():
        return None
    try:
        return read_units(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path}: not a description of programs: {error!r}") from None


def grammar_in_words(name: str | Path) -> Grammar:
    """The grammar of a model, in the words of its targets, without reading its weights."""
    folder = local_folder(name)
    config, _ = read_description(folder)
    programs = read_programs(folder)
    if grammar_name(config, programs) is None:
        raise CheckpointError(f"{name}: the model has no grammar")
    grammar = Grammar.read(folder / GRAMMAR_FILE)
    return grammar if programs is None else in_notation(grammar, programs)


def write_description(
    folder: Path,
    config: Config,
    source: list[str],
    target: list[str],
    grammar: Grammar | None,
    programs: TargetUnits | None = None,
) -> None:
    """Write the configuration, the source and target tokens, the grammar and the units of programs."""
    tokens = {"source": source, "target": target}
    write_text(folder / CONFIG_FILE, config.to_toml())
    write_text(folder / WORDS_FILE, json.dumps(tokens, ensure_ascii=False, indent=0) + "\n")
    if grammar is not None:
        write_text(folder / GRAMMAR_FILE, grammar.text)
    if programs is not None:
        write_text(folder / PROGRAMS_FILE, json.dumps(programs.to_dict(), ensure_ascii=False) + "\n")


def check_description(folder: Path, source: list[str], target: list[str], grammar: Grammar | None) -> None:
    """Raise if a model folder has other tokens or another grammar. Its weights would not fit."""
    _, vocabularies = read_description(folder)
    if (vocabularies.source.tokens, vocabularies.target.tokens) != (source, target):
        raise CheckpointError(f"{folder / WORDS_FILE}: the words are not those of the training pairs")
    path = folder / GRAMMAR_FILE
    if grammar is not None and Grammar.read(path).text != grammar.text:
        raise CheckpointError(f"{path}: the grammar is not that of {grammar.name}")


def read_network(folder: Path, config: Config, words: Vocabularies) -> tuple[Network, Vocabularies]:
    """Build the network of a model folder with its weights, and the vocabularies that number its tokens."""
    weights, _ = load_tensors(folder / WEIGHTS_FILE)
    tables = [weights[name] for name in ("embedding.weight", "members.0.embedding.weight") if name in weights]
    try:
        with torch.device("meta"):  # initial weights take time, and would be overwritten
            size = tables[0].shape[1] if tables and config.data.vectors is not None else None
            network, vocabularies = build(config, words, size, folder)
    except FtorError:
        raise
    except (RuntimeError, ValueError, TypeError, ArithmeticError, MemoryError, LookupError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{folder / CONFIG_FILE}: not the sizes of a network: {reason}") from None
    try:
        network.load_state_dict(weights, assign=True)
    except RuntimeError as error:  # a headline, and then a line for each weight
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[min(1, len(lines) - 1)][:300]
        raise CheckpointError(
            f"{folder / WEIGHTS_FILE}: weights of another model than {CONFIG_FILE} describes: {reason}"
        ) from None
    return network, vocabularies
