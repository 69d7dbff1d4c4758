"""What `ftor tune` does: the experiment, the split that it trains on, the space and the protocol."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ftor.config import Config, ConfigError, shipped
from ftor.tuning.space import Space, Value, changed, paper_space, read_space

Sampler = Literal["random", "tpe"]

_OUT_OF_DISTRIBUTION = {
    r"geo-(iid|length)": "geo-template",
    r"atis-iid": "atis-length",
    r"mirror-xyz": "mirror",
}
"""The experiments that the paper tunes on, instead of others of the same dataset."""


@dataclass(frozen=True)
class Plan:
    """A search.

    Attributes:
        experiment: what is tuned: a shipped experiment or a file.
        on: the experiment whose pairs the trials train on.
        config: the configuration that trials change. It has no test pairs.
        trials: number of configurations that are drawn, besides the unchanged one.
        seed: the first of three seeds. The draws depend on it too.
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
        """The seeds of each trial."""
        return self.seed, self.seed + 1

    @property
    def third_seed(self) -> int:
        """The additional seed of the best trials."""
        return self.seed + 2

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return Path(self.experiment).name.removesuffix(".toml")

    @property
    def objective(self) -> str:
        """Name of the number that trials are compared by."""
        select_by = self.config.training.select_by
        return {"loss": "exact match", "exact_match": "exact match"}.get(select_by, select_by)

    def values(self, drawn: Mapping[str, Value]) -> dict[str, Value]:
        """Return a trial's value for each key of the space."""
        return self.space.values(drawn, self.config)

    def config_for(self, values: Mapping[str, Value], seed: int) -> Config:
        """Return the configuration of one run."""
        return changed(self.config, {**values, "training.seed": seed}, self.space.name)

    def settings(self) -> dict[str, Any]:
        """Return the settings that must not change when a search is resumed."""
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
    """Find the space and the split for an experiment. `options` are further fields of `Plan`."""
    on = experiment if on_itself else tuned_on(experiment)
    config = Config.load(on, [] if epochs is None else [f"training.epochs={epochs}"])
    nested = config.model_dump()
    nested["data"]["test"] = None  # test pairs must not decide anything
    config = Config.check(nested, on)
    space = read_space(space_file) if space_file is not None else paper_space(config)
    if space is None:
        raise ConfigError(
            f"{experiment}: the paper has no search space for this experiment, only for Geoquery, ATIS and "
            "Okapi, and for LSTMs and Transformers; give your own with --space FILE.toml"
        )
    space.check(config)
    return Plan(experiment, on, config, space, **options)


def tuned_on(experiment: str) -> str:
    """Return the out-of-distribution split of the same dataset and model, which the paper tunes on."""
    for pattern, other in _OUT_OF_DISTRIBUTION.items():
        name = re.sub(rf"^{pattern}(?=-|$)", other, experiment)
        if name != experiment and name in shipped():
            return name
    return experiment
