"""The model card: the README of a model folder."""

import shlex
from typing import Any

from ftor.metrics import Metrics, format_score
from ftor.model.model import Model
from ftor.reporting import percent
from ftor.text.emphasis import MARKER
from ftor.text.reading import Pair


def model_card(model: Model, metrics: dict[str, Any], example: Pair) -> str:
    """The model card in Markdown.

    Args:
        model: the trained model.
        metrics: the content of `metrics.json`.
        example: a pair whose source is the example in the commands.
    """
    config = model.config
    parameters = sum(parameter.numel() for parameter in model.network.parameters())
    sentence = " ".join(example.source)
    if example.emphasis is not None:
        sentence += f" {MARKER} {example.emphasis}"
    commands = [shlex.join(["ftor", "predict", ".", sentence])]
    if config.model.structured:
        commands.append(shlex.join(["ftor", "explain", ".", sentence]))
    usage = "\n".join(f"    {command}" for command in commands)
    files = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in _files(model).items())
    return f"""# {config.name}

{config.model.description}.

- ftor version: {metrics["version"]}
- Parameters: {parameters:,}
- Training pairs: {metrics["train"]["count"]}
- Training time: {metrics["seconds"]:.0f} s
- Best epoch: {metrics["best_epoch"]} of {metrics["epochs"]}
- Seed: {config.training.seed}

## Results

{_results(metrics)}

## Usage

Run these commands in this folder:

{usage}

## Files

| file | content |
|---|---|
{files}
"""


def _results(metrics: dict[str, Any]) -> str:
    """A table with a row for each split, without and with the grammar."""
    splits = [split for split in ("dev", "dev_grammar", "test", "test_grammar") if metrics.get(split)]
    results = {split: Metrics.from_dict(metrics[split]) for split in splits}
    scores = list(results["dev"].scores)
    columns = [
        "pairs",
        "number",
        "accuracy",
        "exact match",
        "mean edit distance",
        "mean length error",
        *scores,
    ]
    rows = [columns, ["---"] * len(columns)]
    for split, result in results.items():
        rows.append(
            [
                _named(split, "dev_grammar" in results),
                str(result.count),
                percent(result.accuracy),
                percent(result.exact_match),
                f"{result.edit_distance:.2f}",
                f"{result.length_error:.2f}",
                *(format_score(name, score) for name, score in result.scores.items()),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _named(split: str, has_grammar: bool) -> str:
    """A split in words: "dev, with the grammar"."""
    if not has_grammar:
        return split
    name, _, grammar = split.partition("_")
    return f"{name}, {'with' if grammar else 'without'} the grammar"


def _files(model: Model) -> dict[str, str]:
    """The files of the folder and what they are."""
    source, target = len(model.trained_words), len(model.vocabularies.target.tokens)
    # A falling learning rate depends on the number of epochs, which then cannot be changed.
    epochs = "" if model.config.training.schedule == "linear" else " --set training.epochs=N"
    files = {
        "config.toml": "the configuration",
        "vocab.json": f"the {source} source tokens and {target} target tokens of the training pairs",
        "model.safetensors": "the weights",
        "grammar.cfg": "the grammar of the outputs",
        "pretrained": "the tokenizer and the description of the pretrained network",
        "metrics.json": "all results",
        "log.jsonl": "one line for each epoch",
        "checkpoint*.safetensors": f"only for training on: `ftor train --resume .{epochs}`",
    }
    if model.grammar is None:
        del files["grammar.cfg"]
    if not model.config.model.subwords:
        del files["pretrained"]
    return files
