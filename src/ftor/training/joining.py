"""One model of several runs that differ by their seeds alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.datasets.splits import load_splits
from ftor.files import write_json, write_text
from ftor.metrics.judgements import JUDGEMENTS_FILE, write_judgements
from ftor.model.calibrating import fit_confidence
from ftor.model.card import model_card
from ftor.model.confidence import CONFIDENCE_FILE
from ftor.model.folder import CONFIG_FILE, GRAMMAR_FILE, METRICS_FILE, PROGRAMS_FILE, WEIGHTS_FILE, WORDS_FILE
from ftor.model.model import Model
from ftor.model.tensors import load_tensors, save_tensors
from ftor.reporting import SILENT
from ftor.text.programs.pairs import encode_pairs
from ftor.training.devices import accelerator_for
from ftor.training.evaluation import Evaluator
from ftor.training.provenance import machine, trained_parameters


def can_join(runs: Sequence[Path]) -> bool:
    """Whether models read and write the same words, under the same grammar."""
    files = [run / name for run in runs for name in (WORDS_FILE, GRAMMAR_FILE, PROGRAMS_FILE)]
    found = [file.read_bytes() if file.exists() else None for file in files]
    return all(found[number : number + 3] == found[:3] for number in range(3, len(found), 3))


def join(runs: Sequence[Path], folder: Path, data_folder: Path | None = None) -> float:
    """Write a model folder whose members are the models of several runs, and evaluate it.

    Args:
        runs: folders of transducers or of LSTMs with the same settings, but other seeds. The log is that of
            the first.
        folder: a new folder beside them, so that the relative paths in their configurations hold for it.
        data_folder: the data folder that the user named, if any.

    Returns:
        The share of the dev pairs that are right, under the grammar if there is one.
    """
    config = Config.load(runs[0] / CONFIG_FILE).with_overrides([f"model.members={len(runs)}"])
    found = [load_tensors(run / WEIGHTS_FILE) for run in runs]
    weights = {
        f"members.{number}.{name}": weight
        for number, (own, _) in enumerate(found)
        for name, weight in own.items()
    }
    folder.mkdir()
    for file in runs[0].iterdir():
        # It is no run that can be continued, and no other model's confidence is its own.
        if file.is_file() and not file.name.startswith("checkpoint.") and file.name != CONFIDENCE_FILE:
            (folder / file.name).write_bytes(file.read_bytes())
    write_text(folder / CONFIG_FILE, config.to_toml())
    save_tensors(folder / WEIGHTS_FILE, weights, found[0][1])
    return _evaluate(folder, config, runs, data_folder)


def _evaluate(folder: Path, config: Config, runs: Sequence[Path], data_folder: Path | None) -> float:
    """Write the metrics, the judgements, the confidence and the card of the joined model."""
    model = Model.load(folder, data_folder=data_folder)
    splits = load_splits(config, data_folder, folder, SILENT)
    pairs = {"dev": splits.dev or [], "test": splits.test}
    if model.programs is not None:
        pairs = {split: encode_pairs(model.programs, some) for split, some in pairs.items()}
    results, judgements = Evaluator(model, accelerator_for(config, folder)).results(pairs)
    before = [json.loads((run / METRICS_FILE).read_text("utf-8")) for run in runs]
    metrics = before[0] | results | _cost(before) | {"parameters": trained_parameters(model.network)}
    calibration = fit_confidence(model, pairs["dev"]) if config.training.confidence else None
    if calibration is not None:
        calibration.write(folder)
    write_judgements(folder / JUDGEMENTS_FILE, judgements)
    write_json(folder / METRICS_FILE, metrics)
    write_text(folder / "README.md", model_card(model, metrics, pairs["dev"][0]))
    return float((metrics.get("dev_grammar") or metrics["dev"])["exact_match"])


def _cost(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all runs took together, by their metrics. The best epoch stays that of the first, as the log."""
    seconds = {key: round(sum(one[key] for one in runs), 1) for key in ("seconds", "dev_seconds")}
    peak = max(one["peak_memory_mb"] for one in runs)
    return {**seconds, "peak_memory_mb": peak, "finished": machine()["finished"]}
