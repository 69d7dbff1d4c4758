"""How long a race takes, and how many epochs there is time for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ftor.tuning.look import Look
from ftor.tuning.race.candidates import RESCORER_COST, Candidate, has_short_programs
from ftor.tuning.race.plan import FINAL_SEEDS, FINALISTS, RUNGS, SEEDS, SLOW_LONGER, kept

LEAST_EPOCHS, LEAST_STEPS = 16, 600
"""Shorter runs tell nothing."""
START_SECONDS, STEP_SECONDS = 1.5, 9e-3
"""What each run and each step of training costs, whatever the pairs are."""
EXAMPLE_SECONDS, LARGE = (2.5e-4, 2e-5, 2e-8), 3
"""What each example costs in a small network, by its lengths, and how much more it costs in a large one."""
PAIRS_PER_MINUTE, MINUTES = 170, (3.0, 20.0)
"""Without a limit of the user, the time grows with the pairs: 3 minutes for 500."""


def least_epochs(look: Look) -> int:
    """The fewest epochs of the longest runs."""
    steps = math.ceil(look.pairs["train"] / int(look.settings["training.batch_size"]))
    return max(LEAST_EPOCHS, math.ceil(LEAST_STEPS / steps))


def default_minutes(pairs: int) -> float:
    """How long a race of so many pairs should take."""
    return min(max(pairs / PAIRS_PER_MINUTE, MINUTES[0]), MINUTES[1])


@dataclass(frozen=True)
class Costs:
    """What a race takes on an ordinary machine.

    It depends on the data alone, so that the same seed makes the same choice everywhere.

    Attributes:
        look: what the pairs are like.
        candidates: what is raced.
        rescores: whether the best transducer gets an LSTM beside it.
        cores: how many runs there are at a time.
    """

    look: Look
    candidates: Sequence[Candidate]
    rescores: bool
    cores: int

    def affordable_epochs(self, minutes: float) -> int:
        """How many epochs the longest runs may have."""
        seconds = 60 * minutes * self.cores - _runs(len(self.candidates)) * START_SECONDS
        return math.floor(max(seconds, 0) / self._seconds_per_epoch)

    def minutes(self, epochs: int) -> float:
        """How long a race with so many epochs takes."""
        seconds = epochs * self._seconds_per_epoch + _runs(len(self.candidates)) * START_SECONDS
        return seconds / 60 / self.cores

    @property
    def _seconds_per_epoch(self) -> float:
        """Seconds of one core for each epoch of the longest runs, all runs of the race together."""
        costs = sorted((one.cost for one in self.candidates), reverse=True)
        share, runs = 0.0, 0.0
        for rung, left in zip(RUNGS, _contenders(len(costs)), strict=True):
            runs += sum(costs[:left]) * (1 / rung - share)
            share = 1 / rung
        runs += self._seeds
        return runs * self.look.pairs["train"] * self.pair_seconds

    @property
    def pair_seconds(self) -> float:
        """Seconds of one core for a pair in one epoch of a candidate whose cost is 1."""
        look = self.look
        lengths, batch = look.units or look.target, int(look.settings["training.batch_size"])
        fixed, per_token, per_split = EXAMPLE_SECONDS
        example = fixed + per_token * (look.source.mean + lengths.mean) + per_split * lengths.mean**3
        is_large = "model.width" not in look.settings
        return STEP_SECONDS / batch + example * (LARGE if is_large else 1)

    @property
    def _seeds(self) -> float:
        """The cost of the second seeds of finalists, and of the winner on all pairs.

        On short programs the winner may have an LSTM.
        """
        mean = fmean(one.cost for one in self.candidates)
        if self.rescores:
            return 2 * SEEDS * (mean + RESCORER_COST)
        if has_short_programs(self.look):
            return 2 * SEEDS * SLOW_LONGER * max(one.cost for one in self.candidates)
        finals = SEEDS + (FINAL_SEEDS - SEEDS) / FINAL_SEEDS
        return mean * ((FINALISTS + 1) * (SEEDS - 1) + finals)


def _contenders(count: int) -> list[int]:
    """How many candidates there are at each rung."""
    counts = [count]
    for _ in RUNGS[1:]:
        counts.append(kept(counts[-1]))
    return counts


def _runs(count: int) -> int:
    return sum(_contenders(count)) + (FINALISTS + 1) * (SEEDS - 1) + FINAL_SEEDS
