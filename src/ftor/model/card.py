"""The model card: the README of a model folder."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from ftor.metrics import Metrics, format_score, split_name, was_trained_on
from ftor.metrics.significance import LEVEL, share
from ftor.model.folder import CHECKPOINT_FILE
from ftor.model.model import Model
from ftor.networks.decoding import LONGEST
from ftor.reporting import counted, percent
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
    reader = config.model.pretrained_reader
    where = [] if reader is None or Path(reader).is_absolute() else ["--data-dir", "DIR"]
    commands = [shlex.join(["ftor", "predict", ".", sentence, *where])]
    if config.model.structured:
        commands.append(shlex.join(["ftor", "explain", ".", sentence, *where]))
    usage = "\n".join(f"    {command}" for command in commands)
    if where:
        usage += f"\n\nDIR is the data folder with the encoder `{reader}`, unless it is in a default one."
    files = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in _files(model).items())
    return f"""{_front_matter(model, metrics)}
# {config.name}

{config.model.description}.

- ftor version: {metrics["version"]}
- Parameters: {parameters:,}
- Training pairs: {metrics["train"]["count"]}{_made(metrics)}
- Training time: {metrics["seconds"]:.0f} s
- Best epoch: {metrics["best_epoch"]} of {metrics["epochs"]}
- Seed: {config.training.seed}

## Results

{_results(metrics)}

Accuracy has the {percent(LEVEL, 0)} interval of a bootstrap over the pairs.

## Intended use

{_uses(model)}

## Limits

{_limits(model, metrics)}

## Usage

Run these commands in this folder:

{usage}

## Files

| file | content |
|---|---|
{files}
"""


def _made(metrics: dict[str, Any]) -> str:
    made = metrics["train"].get("made", 0)
    return f", and {made} made of their parts" if made else ""


def _front_matter(model: Model, metrics: dict[str, Any]) -> str:
    """What a hub reads: the library, tags and metrics. The license is for the owner to choose."""
    config = model.config
    tags = ["ftor", "sequence-transduction"]
    tags += ["programs"] * (model.programs is not None) + ["grammar"] * (model.grammar is not None)
    split = "test_grammar" if model.uses_grammar and metrics.get("test_grammar") else "test"
    split = split if metrics.get(split) else "dev"
    result = Metrics.from_dict(metrics[split])
    split = split.split("_")[0]
    split = "train" if was_trained_on(split, metrics) else split
    # Strings are written as JSON, which is YAML, too: names may have colons and quotes.
    name, task = json.dumps(config.name, ensure_ascii=False), json.dumps(config.data.task)
    lines = [
        "---",
        "# license: choose one before you publish the model, such as apache-2.0",
        "library_name: ftor",
        f"tags: {json.dumps(tags)}",
        'metrics: ["accuracy", "exact_match"]',
        "model-index:",
        f"  - name: {name}",
        "    results:",
        "      - task: {type: text2text-generation}",
        f"        dataset: {{type: {task}, name: {task}, split: {json.dumps(split)}}}",
        "        metrics:",
        f"          - {{type: accuracy, value: {100 * result.accuracy:.2f}}}",
        f"          - {{type: exact_match, value: {100 * result.exact_match:.2f}}}",
        "---",
    ]
    return "\n".join(lines)


def _uses(model: Model) -> str:
    """What the model is for."""
    what = "outputs" if model.programs is None else "programs"
    sentences = [
        f"The model writes {what} for sentences of the same kind and language as its training pairs."
    ]
    if model.uses_grammar:
        sentences.append(f"It only writes {what} that its grammar derives.")
    copying = model.vocabularies.copying
    if copying is not None:
        which = "also words that training lacked" if copying.open else "if training had them as outputs"
        sentences.append(f"It can copy words of the sentence, {which}.")
    return " ".join(sentences)


def _limits(model: Model, metrics: dict[str, Any]) -> str:
    """What the model is not for."""
    config = model.config
    limits = [
        f"It has learnt from {counted(metrics['train']['count'], 'pair')}. Sentences of another kind get an "
        "output, too, which is probably wrong.",
        "The results are those of the pairs above. They do not carry over to other data.",
        "A well-formed output can be wrong. Check outputs before anything acts on them.",
    ]
    reader = config.model.pretrained_reader
    if reader is not None:
        limits.append(f"It needs the encoder {reader}, which is not in this folder.")
    elif not config.model.subwords and config.data.vectors is None:
        limits.append("All words that training lacked look the same to it, apart from words that it copies.")
    if config.model.structured:
        limits.append(f"It reorders in blocks (separable permutations), and at most {LONGEST} tokens.")
    return "\n".join(f"- {limit}" for limit in limits)


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
                _named(split, metrics),
                str(result.count),
                _with_interval(result.accuracy, result.count),
                percent(result.exact_match),
                f"{result.edit_distance:.2f}",
                f"{result.length_error:.2f}",
                *(format_score(name, score) for name, score in result.scores.items()),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _with_interval(accuracy: float, count: int) -> str:
    """A share of right answers with its interval."""
    right = round(accuracy * count)
    estimate = share(np.arange(count) < right)
    return f"{percent(accuracy)} ({100 * estimate.low:.1f}–{100 * estimate.high:.1f})"


def _named(split: str, metrics: dict[str, Any]) -> str:
    """A split in words: "dev, with the grammar"."""
    split, _, grammar = split.partition("_")
    name = split_name(split, metrics)
    if not metrics.get("dev_grammar"):
        return name
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
        "programs.json": "how programs are written in units",
        "pretrained": "the tokenizer and the description of the pretrained network",
        "metrics.json": "all results",
        "judgements.json.gz": "whether each output for dev and test is right",
        "log.jsonl": "one line for each epoch",
        "checkpoint*.safetensors": f"only for training on: `ftor train --resume .{epochs}`",
    }
    if model.grammar is None:
        del files["grammar.cfg"]
    if model.programs is None:
        del files["programs.json"]
    if not model.config.model.subwords:
        del files["pretrained"]
    if model.folder is not None and not (model.folder / CHECKPOINT_FILE).exists():
        del files["checkpoint*.safetensors"]
    return files
