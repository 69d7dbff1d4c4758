"""The candidates of a race: what the data does not tell is tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ftor.config import Config
from ftor.config.architectures import ARCHITECTURES
from ftor.config.complaints import section_keys
from ftor.training.train import as_overrides
from ftor.tuning.look import Look
from ftor.tuning.look.findings import Lengths, Value
from ftor.tuning.look.linking import NOTABLE
from ftor.tuning.look.sizes import FEW_PAIRS

WARM_UP: dict[str, Value] = {
    "training.aligner": "sparse",
    "training.alignment_weight": 3.2,
    "training.alignment_epochs": 10,  # the plan of a race changes it
    "training.align_fertilities": True,
}
RESCORED_LENGTH = 12
"""The mean length of outputs up to which their n-best lists are found in a time that a race has."""
RESCORED, RECOMBINED = "+rescored", "+recombined"
"""What names of candidates end with, in this order."""
RECOMBINED_MEANING = "; recombined pairs"
LSTM_RATE: dict[str, Value] = {"training.learning_rate": 0.004}
"""A race has few epochs: with a lower rate an LSTM has not learnt enough by then."""
READER_RATE: dict[str, Value] = {"training.learning_rate": 0.001}
"""With a pretrained encoder a higher one is worse."""
LENGTHS: dict[str, Value] = {"decoding.lengths": 5}
RESCORER: dict[str, Value] = LSTM_RATE | LENGTHS | {"model.rescorer": "lstm", "model.rescorer_hidden": 100}
RESCORER_COST = 3.5
"""The time of its epochs, relative to the first candidate's, besides that of the transducer."""
SEQ2SEQ = "lstm"
"""The candidate that others must beat on all held-out pairs."""
ANCHORED = "anchored"
"""The candidate for pairs that no separable permutation reorders. It learns slowly."""
LATE = (SEQ2SEQ, ANCHORED)
"""Candidates that are not compared early: they join at the end."""
MEMBERS = 2
"""So many models of all pairs write together, unless one alone is right on all held-out pairs."""
CONTEXT: dict[str, Value] = {"model.reordering_context": 1.0}
WORDS_FIRST: dict[str, Value] = {"model.order": "reordering-fertility", "model.context_scale": 0.5}


@dataclass(frozen=True)
class Candidate:
    """Settings to try.

    Attributes:
        name: a few words, also the name of its folders.
        meaning: what it is, for people.
        settings: by their keys, beside those that the data tells.
        cost: the time of an epoch, relative to the first candidate's.
    """

    name: str
    meaning: str
    settings: Mapping[str, Value]
    cost: float = 1.0

    @property
    def recombined(self) -> "Candidate":
        """The same candidate with as many pairs more, put together from parts of training pairs."""
        settings = {**self.settings, "training.recombine": 1.0}
        name, meaning = self.name + RECOMBINED, self.meaning + RECOMBINED_MEANING
        return Candidate(name, meaning, settings, self.cost)

    @property
    def rescored(self) -> "Candidate":
        """The same candidate with an LSTM that ranks its best outputs."""
        meaning, cost = f"{self.meaning}; an LSTM ranks its best outputs", self.cost + RESCORER_COST
        return Candidate(f"{self.name}{RESCORED}", meaning, {**self.settings, **RESCORER}, cost)


def candidates(look: Look) -> list[Candidate]:
    """The candidates for pairs. Of equally good ones, the first wins."""
    taught = WARM_UP | CONTEXT
    skip: dict[str, Value] = {"model.fertility_skip": True}
    in_context: dict[str, Value] = {"model.context_scale": 1.0}
    in_order: dict[str, Value] = {"model.order": "fertility"}
    some = [
        Candidate("taught", "F→R; an aligner teaches alignments and fertilities first", taught | skip),
        Candidate("in-context", "F→R, taught; the decoder reads the whole sentence", taught | in_context),
        Candidate("words-first", "R→F, taught: words are reordered first", WARM_UP | WORDS_FIRST, 0.8),
        Candidate("words-first-untaught", "R→F without an aligner", WORDS_FIRST, 0.8),
        Candidate(
            "in-order", "fertility alone: nothing is reordered", WARM_UP | in_order | in_context | skip, 0.4
        ),
        Candidate("untaught", "F→R without an aligner", CONTEXT | in_context),
    ]
    if has_short_programs(look):
        some = [replace(one, settings={**one.settings, **LENGTHS}) for one in some]
    copies = bool(look.settings.get("model.copying"))  # a word can be copied by itself only
    if look.alignment.not_separable > NOTABLE and not copies:
        some.append(_anchored(look, taught | in_context))
    if "model.copying" in look.open:
        copying: dict[str, Value] = {"model.copying": True}
        some.append(Candidate("copying", "F→R, taught; source words can be copied", taught | skip | copying))
    if look.notation is None:  # an autoregressive decoder keeps to no grammar
        reading: dict[str, Value] = {"model.decoder": "autoregressive"}
        some.append(
            Candidate("autoregressive", "F→R, taught; the decoder reads its output", taught | reading, 1.3)
        )
    return [*some, _seq2seq(look)]


def _anchored(look: Look, settings: Mapping[str, Value]) -> Candidate:
    """For pairs that no separable permutation reorders: words in between write what is torn apart.

    They need more copies than other words.
    """
    meaning = "F→R, in context; words that would be torn apart write nothing, their neighbours do"
    copies = {"model.max_fertility": 2 * int(look.settings["model.max_fertility"])}
    return Candidate(ANCHORED, meaning, {**settings, "training.aligner": "anchored", **copies})


def _seq2seq(look: Look) -> Candidate:
    settings: dict[str, Value] = {"model.architecture": "lstm", "model.max_steps": _longest(look)}
    if look.pairs["train"] < FEW_PAIRS:
        settings |= LSTM_RATE | {"model.width": 100, "model.hidden": 100}
    meaning = "a plain LSTM seq2seq with attention"
    if look.reader is not None:
        settings["model.reader"] = look.reader
        meaning += "; a pretrained encoder"
    elif look.vectors is not None:  # in few epochs they do not help transducers
        settings["data.vectors"] = look.vectors
        meaning += "; pretrained word vectors"
    return Candidate(SEQ2SEQ, meaning, settings, 2.0)


def is_late(name: str) -> bool:
    """Whether a candidate, with whatever beside it, joins the race at its end."""
    return name.removesuffix(RECOMBINED).removesuffix(RESCORED) in LATE


def has_short_programs(look: Look) -> bool:
    """Whether targets are programs, and not long. Then an LSTM can rank the n-best outputs of transducers."""
    short = look.notation is not None and _length(look).mean <= RESCORED_LENGTH
    return short and not look.settings.get("model.copying")


def _length(look: Look) -> Lengths:
    return look.units or look.target


def _longest(look: Look) -> int:
    return 2 * _length(look).most + 10


def configuration(
    name: str, settings: Sequence[Mapping[str, Value]], overrides: Sequence[str], **training: int
) -> Config:
    """A configuration of settings, the later ones over the earlier, and of the user's overrides.

    Keys that the architecture does not have are left out. Only what the user sets must fit it. The rate of an
    LSTM is that of one with a pretrained encoder, if the settings or the user give it one.
    """
    values: dict[str, Value] = {}
    for more in settings:
        values |= more
    given = [*values, *(text.partition("=")[0].strip() for text in overrides)]
    if "model.reader" in given and values.items() >= LSTM_RATE.items():
        values |= READER_RATE
    chosen = str(values.get("model.architecture", "transducer"))
    known = {f"{section}.{key}" for section, keys in section_keys(chosen).items() for key in keys}
    known -= {*ARCHITECTURES[chosen].unused_keys}
    values |= {f"training.{key}": value for key, value in training.items()}
    texts = as_overrides({key: value for key, value in values.items() if key in known})
    return Config.load("transducer", [f'name="{name}"', *texts, *overrides])
