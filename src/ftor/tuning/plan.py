"""What `ftor tune` is to do: the experiment, on which split, over which space, by which protocol."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ftor.config import Config, ConfigError, shipped
from ftor.tuning.space import Space, Value, changed, published, read

Sampler = Literal["random", "tpe"]

_OUT_OF_DISTRIBUTION = {
    r"geo-(iid|length)": "geo-template",
    r"atis-iid": "atis-length",
    r"mirror-xyz": "mirror",
}
"""The experiments that the paper tunes on, for those that take over what was found there."""


@dataclass(frozen=True)
class Plan:
    """A search.

    Attributes:
        experiment: what is tuned: a shipped experiment or a file.
        on: the one whose pairs trials train and are judged on.
        config: what trials are changes of; without test pairs.
        trials: how many configurations are drawn, besides the unchanged one.
        seed: the first of the three seeds that runs have; what is drawn follows from it too.
        prune: whether hopeless trials are stopped early.
    """

    experiment: str
    on: str
    config: Config
    space: Space
    trials: int = 20
    sampler: Sampler = "random"
    seed: int = 1000
    prune: bool = False

    @property
    def seeds(self) -> tuple[int, int]:
        """Those that each trial is the mean over."""
        return self.seed, self.seed + 1

    @property
    def third_seed(self) -> int:
        """That of the check of the best."""
        return self.seed + 2

    @property
    def name(self) -> str:
        """What the experiment is called."""
        return Path(self.experiment).name.removesuffix(".toml")

    @property
    def objective(self) -> str:
        """What is compared, in words."""
        chosen = self.config.training.select_by
        return {"loss": "exact match", "exact_match": "exact match"}.get(chosen, chosen)

    def values(self, drawn: Mapping[str, Value]) -> dict[str, Value]:
        """What a trial has for each key of the space."""
        return self.space.values(drawn, self.config)

    def config_for(self, values: Mapping[str, Value], seed: int) -> Config:
        """The configuration of one run."""
        return changed(self.config, {**values, "training.seed": seed}, self.space.name)

    def settings(self) -> dict[str, Any]:
        """What has to be the same when a search goes on."""
        return {
            "experiment": self.name,
            "trained on": self.on,
            "epochs": self.config.training.epochs,
            "sampler": self.sampler,
            "seed": self.seed,
            "prune": self.prune,
            "space": self.space.as_dict(),
            "configuration": self.config.hash,
        }


def make_plan(
    experiment: str,
    space_file: Path | None = None,
    on_itself: bool = False,
    epochs: int | None = None,
    **options: Any,
) -> Plan:
    """Find the space and the split for an experiment; `options` are the `Plan`'s further ones."""
    on = experiment if on_itself else tuned_on(experiment)
    config = Config.load(on, [] if epochs is None else [f"training.epochs={epochs}"])
    nested = config.model_dump()
    nested["data"]["test"] = None  # what is chosen by test pairs says nothing about them
    config = Config.check(nested, on)
    space = read(space_file) if space_file is not None else published(config)
    if space is None:
        raise ConfigError(
            f"{experiment}: expected an experiment with a published search space (of Geoquery, ATIS and "
            "Okapi, and the LSTMs and Transformers), found one without; give your own with --space FILE.toml"
        )
    space.check(config)
    return Plan(experiment, on, config, space, **options)


def tuned_on(experiment: str) -> str:
    """The out-of-distribution split of the same dataset and model, which the paper tunes on."""
    for pattern, other in _OUT_OF_DISTRIBUTION.items():
        name = re.sub(rf"^{pattern}(?=-|$)", other, experiment)
        if name != experiment and name in shipped():
            return name
    return experiment
