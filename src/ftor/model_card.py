"""The README of a model folder: what the model is, how good, and how to use it."""

from typing import Any

from ftor.config import Config
from ftor.predict import Model

_NAMES = {
    "fertility-reordering": "fertility, then reordering (F→R)",
    "reordering-fertility": "reordering, then fertility (R→F)",
    "fertility": "fertility alone",
}


def model_card(config: Config, model: Model, metrics: dict[str, Any]) -> str:
    """Text in Markdown, with the numbers of `metrics`."""
    parameters = sum(parameter.numel() for parameter in model.network.parameters())
    decoder = f"{config.model.decoder} decoder" + (" with copying" if config.model.copying else "")
    results = {"dev": metrics["dev"], "test": metrics["test"]}
    rows = "\n".join(
        f"| {split} | {found['count']} | {100 * found['exact_match']:.1f} % | {found['edit_distance']:.2f} "
        f"| {found['length_error']:.2f} |"
        for split, found in results.items()
        if found
    )
    example = " ".join(model.vocabularies.source.tokens[:4])
    return f"""# {config.name}

A sequence transducer trained with ftor {metrics["version"]}: {_NAMES[config.model.order]}, {decoder},
{parameters:,} parameters, seed {config.training.seed}, epoch {metrics["best_epoch"]} of {metrics["epochs"]},
{metrics["train"]["count"]} training pairs, {metrics["seconds"]:.0f} s of training.

| pairs | number | exact match | mean edit distance | mean length error |
|---|---|---|---|---|
{rows}

    ftor predict . "{example}"
    ftor explain . "{example}"

`config.toml` is the whole configuration, `vocab.json` the {len(model.vocabularies.source.tokens)} source
and {len(model.vocabularies.target.tokens)} target tokens it knows, `model.safetensors` its weights,
`metrics.json` all results, `log.jsonl` one line per epoch. `checkpoint*.safetensors` are only
needed to train on (`ftor train --resume . --set training.epochs=N`).
"""
