"""The README of a model folder: what the model is, how good, and how to use it."""

from typing import Any

from ftor.config import Config
from ftor.metrics import Metrics, format_score
from ftor.model.model import Model
from ftor.text.emphasis import MARKER


def model_card(config: Config, model: Model, metrics: dict[str, Any]) -> str:
    """Text in Markdown, with the numbers of `metrics`."""
    parameters = sum(parameter.numel() for parameter in model.network.parameters())
    found = {split: metrics.get(split) for split in ("dev", "dev_grammar", "test", "test_grammar")}
    results = {split: Metrics.from_dict(values) for split, values in found.items() if values}
    rows = "\n".join(
        f"| {split.replace('_', ', ')} | {r.count} | {100 * r.accuracy:.1f} % | {100 * r.exact_match:.1f} % "
        f"| {r.edit_distance:.2f} | {r.length_error:.2f} |"
        + "".join(f" {format_score(name, score)} |" for name, score in r.scores.items())
        for split, r in results.items()
    )
    scores = list(results["dev"].scores)
    further, rule = "".join(f" {name} |" for name in scores), "---|" * len(scores)
    grammar = "`grammar.cfg` what its outputs derive from, " if model.grammar is not None else ""
    if config.model.subwords:
        grammar += "`pretrained` its tokenizer and what describes its network, "
    example = " ".join(model.trained_words[:4])
    if config.data.emphasis:
        example += f" {MARKER} {model.trained_words[0]}"
    longer = "" if config.training.schedule == "linear" else " --set training.epochs=N"
    words = "of its training" if config.model.subwords else "it knows"
    explain = f'\n    ftor explain . "{example}"' if config.model.structured else ""
    return f"""# {config.name}

{config.model.description}, trained with ftor {metrics["version"]},
{parameters:,} parameters, seed {config.training.seed}, epoch {metrics["best_epoch"]} of {metrics["epochs"]},
{metrics["train"]["count"]} training pairs, {metrics["seconds"]:.0f} s of training.

| pairs | number | accuracy | exact match | mean edit distance | mean length error |{further}
|---|---|---|---|---|---|{rule}
{rows}

    ftor predict . "{example}"{explain}

`config.toml` is the whole configuration, `vocab.json` the {len(model.trained_words)} source
and {len(model.vocabularies.target.tokens)} target tokens {words}, `model.safetensors` its weights,
{grammar}`metrics.json` all results, `log.jsonl` one line per epoch. `checkpoint*.safetensors` are only
needed to train on (`ftor train --resume .{longer}`).
"""
