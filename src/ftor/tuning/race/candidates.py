"""The candidates of a race: what the data does not tell is tried."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ftor.config import Config
from ftor.config.architectures import ARCHITECTURES
from ftor.config.complaints import section_keys
from ftor.tuning.look import Look
from ftor.tuning.look.findings import Value

WARM_UP: dict[str, Value] = {
    "training.aligner": "poisson",
    "training.alignment_weight": 3.2,
    "training.alignment_epochs": 10,
}
TAUGHT: dict[str, Value] = WARM_UP | {"training.align_fertilities": True}
FREE: dict[str, Value] = {"model.reordering_context": 1.0}
SURE = 0.9
"""Share of the target tokens that an aligner explains where it teaches fertilities first."""


@dataclass(frozen=True)
class Candidate:
    """Settings to try.

    Attributes:
        name: a few words, also the name of its folders.
        settings: by their keys, beside those that the data tells.
        cost: the time of an epoch, relative to the first candidate's.
    """

    name: str
    settings: Mapping[str, Value]
    cost: float = 1.0


def candidates(look: Look) -> list[Candidate]:
    """The candidates for pairs. Of equally good ones, the first wins."""
    lstm: dict[str, Value] = {"model.architecture": "lstm", "model.max_steps": _longest(look)}
    scorer = {"model.rescorer": "lstm"}
    sure = look.alignment.explained >= SURE
    teaching = [Candidate("taught", TAUGHT | FREE), Candidate("aligned", WARM_UP | FREE)]
    some = [
        *(teaching if sure else reversed(teaching)),
        Candidate("unaligned", FREE),
        Candidate("words-first", {"model.order": "reordering-fertility"}, 0.7),
        Candidate("words-first-aligned", {"model.order": "reordering-fertility", **WARM_UP}, 0.7),
        Candidate("in-context", TAUGHT | FREE | {"model.context_scale": 1.0}),
        Candidate("autoregressive", TAUGHT | FREE | {"model.decoder": "autoregressive"}, 1.3),
    ]
    if look.alignment.none > look.alignment.separable:
        some.append(
            Candidate("in-order", TAUGHT | {"model.order": "fertility", "model.context_scale": 1.0}, 0.4)
        )
    if look.notation is not None:
        some = [one for one in some if one.name != "autoregressive"]  # it keeps to no grammar
        if not look.settings.get("model.copying"):
            some.append(Candidate("rescored", WARM_UP | FREE | scorer, 3.0))
    return [*some, Candidate("lstm", lstm, 2.0)]


def _longest(look: Look) -> int:
    return 2 * (look.units or look.target).most + 10


def configuration(
    name: str, settings: Sequence[Mapping[str, Value]], overrides: Sequence[str], **training: int
) -> Config:
    """A configuration of settings, the later ones over the earlier, and of the user's overrides.

    Keys that the architecture does not have are left out. Only what the user sets must fit it.
    """
    values: dict[str, Value] = {}
    for more in settings:
        values |= more
    chosen = str(values.get("model.architecture", "transducer"))
    known = {f"{section}.{key}" for section, keys in section_keys(chosen).items() for key in keys}
    known -= {*ARCHITECTURES[chosen].unused_keys}
    values |= {f"training.{key}": value for key, value in training.items()}
    texts = [
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if key in known
    ]
    return Config.load("transducer", [f'name="{name}"', *texts, *overrides])
