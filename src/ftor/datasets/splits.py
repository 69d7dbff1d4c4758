"""The training, dev and test pairs of an experiment: found, generated or held out, and checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ftor.config import Config, ConfigError, TransducerConfig
from ftor.datasets import GENERATED, TASKS
from ftor.reporting import Report
from ftor.text.reading import DataError, Pair, data_folders, find_file, read_pairs, require_file

BYTES_PER_CUBE = 12
"""Memory that training a reordering takes for each l³ of each row; measured at l = 100 and 200."""
HELD_OUT = 10
"""Every tenth training pair is dev where there is no dev file."""


@dataclass(frozen=True)
class Splits:
    """Pairs to learn from, to choose the best epoch by, and to report; and where they are from.

    Attributes:
        train_name: what to call the training file.
        data_folder: the one that the user named, if any.
    """

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    reachable_dev: list[Pair]
    train_name: str
    data_folder: Path | None = None


def load_splits(config: Config, chosen: Path | None, folder: Path, report: Report) -> Splits:
    """Find, read and check an experiment's pairs.

    Args:
        config: names the files and the task.
        chosen: the data folder, if the user names one.
        folder: the run's own, for pairs that are generated.
        report: hears where the pairs come from, and which are left out.
    """
    paths = _find(config, chosen, folder, report)
    data = config.data
    problems, pairs = [], dict[str, list[Pair]]()
    for split, path in paths.items():
        try:
            pairs[split] = read_pairs(path, data.source_tokenizer, data.target_tokenizer, data.emphasis)
        except DataError as error:
            problems.append(str(error))
    if problems:
        raise DataError("\n".join(problems))
    train = _reachable(pairs["train"], config, paths["train"], report)
    if not train:
        raise DataError(f"{paths['train']}: expected pairs that can be learned, found none")
    dev = pairs.get("dev")
    if dev is None:
        train, dev = _hold_out(train, report)
    _check_memory(train, config, paths["train"])
    reachable_dev = [pair for pair in dev if _can_reach(pair, config)]
    dev_name = paths.get("dev", paths["train"])
    if not reachable_dev:
        raise DataError(f"{dev_name}: expected dev pairs that model.max_fertility can reach, found none")
    if len(reachable_dev) < len(dev):
        report.warn(f"{dev_name}: {len(dev) - len(reachable_dev)} of {len(dev)} pairs are out of reach")
    return Splits(train, dev, pairs.get("test", []), reachable_dev, str(paths["train"]), chosen)


def require_files(config: Config, chosen: Path | None) -> None:
    """See that the files of an experiment are there, before any of many runs begins."""
    data = config.data
    data_folders(chosen)  # which says if there is no such folder
    if data.train is None:
        raise DataError(f"{config.name}: data.train: expected a TSV file, found none")
    pairs = () if data.task in GENERATED else (data.train, data.dev, data.test)
    for name in (*pairs, data.vectors):
        if name is not None:
            require_file(name, chosen, config.name, "`ftor data fetch` brings the published ones")


def _find(config: Config, chosen: Path | None, folder: Path, report: Report) -> dict[str, Path]:
    if config.data.task not in TASKS:
        raise ConfigError(f"data.task: expected {', '.join(TASKS)}, found {config.data.task!r}")
    names = {split: getattr(config.data, split) for split in ("train", "dev", "test")}
    names = {split: name for split, name in names.items() if name is not None}
    if "train" not in names:
        raise DataError("data.train: expected a TSV file, found none; give one with --train FILE")
    generated = folder / "data"
    found = {
        split: _own_file(generated / name) or find_file(name, chosen) or _own_file(Path(name))
        for split, name in names.items()
    }
    missing = [names[split] for split, path in found.items() if path is None]
    if not missing:
        paths = {split: _from_here(path) for split, path in found.items() if path is not None}
        report.say("data: " + ", ".join(f"{split} {path}" for split, path in paths.items()))
        return paths
    task = GENERATED.get(config.data.task)
    if task is None or len(missing) < len(names):
        places = ", ".join(str(place) for place in data_folders(chosen))
        raise DataError(f"{', '.join(missing)}: no such file; looked in {places} and the current folder")
    made = task.generate(config.data.task, seed=task.DEFAULT_SEED)
    paths = {}
    for split, name in names.items():
        paths[split] = generated / name
        task.write(made[split], paths[split])
    report.say(f"data: {config.data.task} generated in {generated}")
    return paths


def _from_here(path: Path) -> Path:
    """The shorter name of a file below the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _own_file(path: Path) -> Path | None:
    return path if path.is_file() else None


def _can_reach(pair: Pair, config: Config) -> bool:
    if not isinstance(config.model, TransducerConfig):  # only fertilities have a largest
        return True
    positions = len(pair.source) + config.data.start_token
    return len(pair.target) <= positions * config.model.max_fertility


def _reachable(pairs: Sequence[Pair], config: Config, path: Path, report: Report) -> list[Pair]:
    """The pairs whose target some fertilities can reach; the others are listed."""
    out_of_reach = [pair for pair in pairs if not _can_reach(pair, config)]
    if out_of_reach and isinstance(config.model, TransducerConfig):
        listed = "\n".join(
            f"  {path}:{pair.line}: {len(pair.target)} target tokens from {len(pair.source)} source tokens"
            for pair in out_of_reach
        )
        report.warn(
            f"left out {len(out_of_reach)} of {len(pairs)} training pairs, whose targets are longer than "
            f"{config.model.max_fertility} copies of each source token (model.max_fertility):\n{listed}"
        )
    return [pair for pair in pairs if _can_reach(pair, config)]


def _hold_out(pairs: list[Pair], report: Report) -> tuple[list[Pair], list[Pair]]:
    if len(pairs) < HELD_OUT:
        report.warn(f"no dev file: the best epoch is chosen on the {len(pairs)} training pairs themselves")
        return pairs, pairs
    dev = pairs[HELD_OUT - 1 :: HELD_OUT]
    report.say(f"no dev file: every {HELD_OUT}th training pair is held out ({len(dev)} of {len(pairs)})")
    return [pair for number, pair in enumerate(pairs, 1) if number % HELD_OUT], dev


def _check_memory(pairs: Sequence[Pair], config: Config, path: Path) -> None:
    """Refuse targets whose reorderings cannot fit, before hours of training reach them."""
    model = config.model
    if not isinstance(model, TransducerConfig):
        return
    needed, pair = max(((_bytes(pair, model), pair) for pair in pairs), key=lambda item: item[0])
    # The longest pairs share a batch.
    longest = sorted((_bytes(pair, model) for pair in pairs), reverse=True)
    whole = needed * sum(size > 0.5 * needed for size in longest[: config.training.batch_size])
    free = psutil.virtual_memory().available
    if whole > free:
        raise DataError(
            f"{path}:{pair.line}: a target of {len(pair.target)} tokens needs about {whole / 1e9:.0f} GB of "
            f"memory for its reorderings, and {free / 1e9:.0f} GB are free; shorten it, or set a smaller "
            'training.batch_size or model.order = "fertility"'
        )


def _bytes(pair: Pair, config: TransducerConfig) -> int:
    reordered = {
        "fertility": 0,
        "fertility-reordering": len(pair.target),
        "reordering-fertility": len(pair.source),
    }
    return int(BYTES_PER_CUBE * reordered[config.order] ** 3)
