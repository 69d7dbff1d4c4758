"""What a race will do: its candidates, its held-out pairs and how long it trains."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ftor.config import Config, ConfigError, TransducerConfig
from ftor.files import write_text
from ftor.text.reading import Pair, write_pairs
from ftor.tuning.look import Look
from ftor.tuning.look.findings import Value
from ftor.tuning.race.candidates import (
    ANCHORED,
    RECOMBINED,
    RESCORED,
    SEQ2SEQ,
    Candidate,
    candidates,
    configuration,
    has_short_programs,
)
from ftor.tuning.race.held_out import HeldOut

TRAIN_FILE, HELD_OUT_FILE, MADE_FILE, REAL_FILE = "train.tsv", "held-out.tsv", "made.tsv", "real.tsv"
RESULTS_FILE = "results.jsonl"
MADE = "made longer"
"""The kind of held-out pairs that are recombined."""
FROM_RUN = Path("../..")
"""The folder of a race, from the folder of one of its runs. It can be moved with all its runs."""
RUNGS = (8, 4, 2, 1)
"""Candidates are compared after these parts of the epochs: an eighth, a quarter, a half, all."""
KEPT = 0.6
"""The share of the candidates that goes on after each rung."""
WARM_UP_PART = 6
"""An aligner teaches in this part of the epochs."""
FINALISTS = 2
SEEDS, FINAL_SEEDS = 2, 4
"""Seeds of the finalists, and of the winner on all pairs. Half of the latter are given up after a quarter."""
SLOW_LONGER, EARLY_LONGER, HARD_LONGER = 2, 2, 4
"""Candidates that learn slowly train for so many times the epochs of the others. The winner of a race that
ended early trains on all pairs for so many times those of the race. The best candidates for hard pairs train
for up to so many times the epochs that were planned. But no run has more than wanted."""


@dataclass(frozen=True)
class Entry:
    """One run of a race.

    Attributes:
        candidate: its name.
        epochs: how long it trains in all. An entry of more epochs continues that of fewer.
        final: whether it trains on all pairs.
    """

    candidate: str
    seed: int
    epochs: int
    final: bool = False

    @property
    def run(self) -> str:
        """The name of its folder."""
        return f"{'final-' if self.final else ''}{self.candidate}-{self.seed}"


@dataclass(frozen=True)
class Plan:
    """A race.

    Attributes:
        name: of the model.
        files: train, and dev and test if the user has them.
        look: what the pairs are like.
        candidates: by their names, in the order of preference.
        recombines: whether candidates train on recombined pairs, too. The best one is also tried without.
        held_out: how many pairs candidates are compared by: held out at random, held out because they are
            hard, made longer than training's, and dev pairs.
        rescores: whether the best transducer may get an LSTM beside it.
        overrides: the user's `section.key=value`.
        seed: of the first runs.
        epochs: of the longest runs.
        wanted: the epochs that the data would like.
        may_take_longer: whether the best candidates may train on if all are often wrong.
        pair_seconds: about how long a pair takes in one epoch of a candidate whose cost is 1.
        folder: of the race.
    """

    name: str
    files: dict[str, Path]
    look: Look
    candidates: dict[str, Candidate]
    recombines: bool
    held_out: dict[str, int]
    rescores: bool
    overrides: tuple[str, ...]
    seed: int
    epochs: int
    wanted: int
    may_take_longer: bool
    pair_seconds: float
    folder: Path

    def entry(self, name: str, seed: int, epochs: int, final: bool = False) -> Entry:
        """A run of a candidate. With recombined pairs, half of the epochs are as many steps.

        Some learn slowly: the plain seq2seq on short programs, and candidates with anchors. They have more
        epochs than the others, if as many are wanted.
        """
        plain = name.removesuffix(RECOMBINED)
        if plain.removesuffix(RESCORED) == ANCHORED or (plain == SEQ2SEQ and has_short_programs(self.look)):
            epochs = self._longer(SLOW_LONGER, epochs)
        return Entry(name, seed, math.ceil(epochs / (2 if name.endswith(RECOMBINED) else 1)), final)

    @property
    def epochs_after_early_end(self) -> int:
        """The epochs of the winner on all pairs if the race ended early and has time left."""
        return self._longer(EARLY_LONGER, self.epochs)

    def longer(self, epochs: int) -> int | None:
        """Twice the epochs, if the user has set no limit of time and the data would like more."""
        more = min(self._longer(2, epochs), HARD_LONGER * self.epochs)
        return more if self.may_take_longer and more > epochs else None

    def _longer(self, times: int, epochs: int) -> int:
        return max(epochs, min(times * epochs, self.wanted))

    def config(self, entry: Entry) -> Config:
        """The configuration of a run."""
        candidate = self.candidate(entry.candidate)
        training = {"seed": entry.seed, "epochs": entry.epochs}
        warm_up: dict[str, Value] = {}
        if "training.alignment_epochs" in candidate.settings:
            most = self.entry(entry.candidate, entry.seed, self.epochs).epochs
            warm_up["training.alignment_epochs"] = max(2, most // WARM_UP_PART)
        ends: dict[str, Value] = {} if entry.final else {"training.confidence": False}  # only one is needed
        settings = [self.look.settings, candidate.settings, warm_up, ends, self._data(entry.final)]
        return configuration(self.name, settings, self.overrides, **training)

    @property
    def final_pairs(self) -> int:
        """How many pairs the models of all pairs are compared by: the user's dev pairs if there are any."""
        return self.held_out.get("dev") or sum(self.held_out.values())

    def cost(self, entry: Entry) -> float:
        """About how long a run takes, in pairs of a candidate whose cost is 1."""
        held_out = 0 if entry.final else sum(self.held_out.get(kind, 0) for kind in ("random", "harder"))
        pairs = (self.look.pairs["train"] - held_out) * (2 if entry.candidate.endswith(RECOMBINED) else 1)
        return entry.epochs * pairs * self.candidate(entry.candidate).cost

    @property
    def contenders(self) -> list[str]:
        """The names of the candidates at the start."""
        if not self.recombines:
            return list(self.candidates)
        return [name if name == SEQ2SEQ else name + RECOMBINED for name in self.candidates]

    def finalists(self, contenders: list[str]) -> list[str]:
        """The best contenders, and the leader also without recombined pairs."""
        leader = contenders[0]
        plain = [leader.removesuffix(RECOMBINED)] if leader.endswith(RECOMBINED) else []
        return contenders[:FINALISTS] + plain

    def candidate(self, name: str) -> Candidate:
        """A candidate, or one with an LSTM beside it, with recombined pairs, or with both."""
        plain = name.removesuffix(RECOMBINED)
        found = self.candidates[plain.removesuffix(RESCORED)]
        if plain.endswith(RESCORED):
            found = found.rescored
        return found.recombined if name.endswith(RECOMBINED) else found

    def has(self, name: str) -> bool:
        """Whether there is a candidate of a name."""
        return name.removesuffix(RECOMBINED).removesuffix(RESCORED) in self.candidates

    def rescored(self, name: str) -> str | None:
        """The name of a candidate with an LSTM beside it, if it can have one and has none."""
        plain = name.removesuffix(RECOMBINED)
        if not self.rescores or plain.endswith(RESCORED):
            return None
        other = plain + RESCORED + name.removeprefix(plain)
        try:
            model = self.config(self.entry(other, self.seed, self.epochs)).model
        except ConfigError:  # it does not go with the user's settings
            return None
        has_one = isinstance(model, TransducerConfig) and model.rescorer != "none"
        return other if has_one else None

    def _data(self, final: bool) -> dict[str, Value]:
        files = {
            "train": self.files["train"] if final else FROM_RUN / TRAIN_FILE,
            "dev": self.files.get("dev") if final else None,
            "test": self.files.get("test") if final else None,
        }
        if not final and MADE in self.held_out:  # once more alone, so that real pairs can be told apart
            files["test"] = FROM_RUN / MADE_FILE
        if files["dev"] is None and any(self.held_out.values()):
            files["dev"] = FROM_RUN / HELD_OUT_FILE
        return {f"data.{split}": path.as_posix() for split, path in files.items() if path is not None}

    def without_made(self) -> "Plan":
        """The same race, compared by real pairs only. Its runs keep their configurations."""
        real = (self.folder / REAL_FILE).read_text("utf-8")
        write_text(self.folder / HELD_OUT_FILE, real)
        return replace(self, held_out=self.held_out | {MADE: 0})

    @property
    def races(self) -> bool:
        """Whether there is anything to compare, and pairs to compare it by."""
        return len(self.candidates) > 1 and any(self.held_out.values())


def write_held_out(
    folder: Path, pairs: Sequence[Pair], parts: HeldOut, dev: Sequence[Pair], made: Sequence[Pair]
) -> None:
    """Write the training pairs of a race, and the held-out pairs with dev pairs and made ones."""
    folder.mkdir(parents=True, exist_ok=True)
    real = [*dev, *(pairs[i] for i in parts.random), *(pairs[i] for i in parts.harder)]
    files = {
        TRAIN_FILE: [pairs[i] for i in parts.train],
        HELD_OUT_FILE: [*made, *real],
        **({MADE_FILE: made, REAL_FILE: real} if made else {}),
    }
    for name, some in files.items():
        write_pairs([(" ".join(pair.source), pair.target_text) for pair in some], folder / name)


def allowed(look: Look, overrides: Sequence[str]) -> dict[str, Candidate]:
    """The candidates that the user's settings leave. Of those that they make equal, the first."""
    found: dict[str, Candidate] = {}
    hashes = set()
    problem: ConfigError | None = None
    for candidate in candidates(look):
        try:
            config = configuration("x", [look.settings, candidate.settings], overrides)
        except ConfigError as error:
            problem = problem or error
            continue
        if config.hash not in hashes:
            hashes.add(config.hash)
            found[candidate.name] = candidate
    if not found and problem is not None:
        raise problem
    return found


def kept(count: int) -> int:
    """How many of so many candidates go on."""
    return min(count, max(FINALISTS + 1, math.ceil(KEPT * count)))
