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
    "training.alignment_epochs": 10,  # the plan of a race changes it
    "training.align_fertilities": True,
}
RECOMBINED = "+recombined"
CONTEXT: dict[str, Value] = {"model.reordering_context": 1.0}
WORDS_FIRST: dict[str, Value] = {"model.order": "reordering-fertility", "model.context_scale": 0.5}


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

    @property
    def recombined(self) -> "Candidate":
        """The same candidate with as many pairs more, put together from parts of training pairs."""
        settings = {**self.settings, "training.recombine": 1.0}
        return Candidate(f"{self.name}{RECOMBINED}", settings, self.cost)


def candidates(look: Look) -> list[Candidate]:
    """The candidates for pairs. Of equally good ones, the first wins."""
    taught = WARM_UP | CONTEXT
    some = [
        Candidate("taught", taught | {"model.fertility_skip": True}),
        Candidate("in-context", taught | {"model.context_scale": 1.0}),
        Candidate("words-first", WARM_UP | WORDS_FIRST, 0.8),
        Candidate("words-first-untaught", WORDS_FIRST, 0.8),
        Candidate(
            "in-order",
            WARM_UP | {"model.order": "fertility", "model.context_scale": 1.0, "model.fertility_skip": True},
            0.4,
        ),
        Candidate("untaught", CONTEXT | {"model.context_scale": 1.0}),
    ]
    if "model.copying" in look.open:
        some.append(Candidate("copying", taught | {"model.fertility_skip": True, "model.copying": True}))
    if look.notation is None:
        some.append(Candidate("autoregressive", taught | {"model.decoder": "autoregressive"}, 1.3))
    elif not look.settings.get("model.copying"):  # an autoregressive decoder keeps to no grammar
        some.append(Candidate("rescored", taught | {"model.rescorer": "lstm"}, 3.0))
    seq2seq: dict[str, Value] = {"model.architecture": "lstm", "model.max_steps": _longest(look)}
    if look.pairs["train"] < 1000:
        seq2seq |= {"model.width": 100, "model.hidden": 100}
    return [*some, Candidate("lstm", seq2seq, 1.5)]


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
