"""Who is ahead in a race, by the results of its runs."""

import math
from collections.abc import MutableMapping, Sequence
from statistics import fmean

from ftor.tuning.race.candidates import RECOMBINED, RESCORED, SEQ2SEQ
from ftor.tuning.race.plan import Entry, Plan
from ftor.tuning.race.results import TOLERANCE, Result

ALL_RIGHT = 0.995
"""Share of right held-out pairs that more training cannot improve."""
OTHER_SEEDS = 1000
"""How far the seed of a run that collapsed is from that of its second try."""


class Standings:
    """Compares candidates.

    Args:
        plan: of the race.
        results: of its runs. It may grow.

    Attributes:
        trusts_made: whether held-out pairs that were made count. It turns out that some mislead.
        other_seeds: the seed of candidates that collapsed with another one, by candidate and that seed.
    """

    def __init__(self, plan: Plan, results: MutableMapping[Entry, Result]) -> None:
        self._plan, self.results = plan, results
        self.trusts_made = True
        self.other_seeds: dict[tuple[str, int], int] = {}

    def entry(self, name: str, seed: int, epochs: int) -> Entry:
        """The run of a candidate, with another seed if it has collapsed with this one."""
        return self._plan.entry(name, self.other_seeds.get((name, seed), seed), epochs)

    def is_replaced(self, entry: Entry) -> bool:
        """Whether the race goes by a run with another seed instead, because one of the two collapsed."""
        tries = [(entry.candidate, seed) for seed in (entry.seed, entry.seed - OTHER_SEEDS)]
        return not entry.final and any(self.other_seeds.get(run, entry.seed) != entry.seed for run in tries)

    def counted(self, result: Result) -> float:
        """What a result counts: without made pairs, if they mislead."""
        return result.score if self.trusts_made or result.real is None else result.real

    def results_of(self, name: str, seeds: Sequence[int], epochs: int) -> list[Result]:
        """The results of a candidate."""
        return [self.results[self.entry(name, seed, epochs)] for seed in seeds]

    def scores(self, name: str, seeds: Sequence[int], epochs: int) -> list[float]:
        """What the runs of a candidate count."""
        return [self.counted(result) for result in self.results_of(name, seeds, epochs)]

    def worst(self, name: str, seeds: Sequence[int], epochs: int) -> float:
        """The worst score of a candidate."""
        return min(self.scores(name, seeds, epochs))

    def mean(self, name: str, seeds: Sequence[int], epochs: int) -> float:
        """The mean score of a candidate."""
        return fmean(self.scores(name, seeds, epochs))

    def gain(self, name: str, epochs: int, before: int) -> float | None:
        """By how much a candidate is better than after fewer epochs. None if that is not known."""
        seed = self._plan.seed
        last = self.results.get(self.entry(name, seed, before))  # none if it has another seed now
        return None if last is None else self.worst(name, [seed], epochs) - self.counted(last)

    def expected(self, name: str, epochs: int, before: int) -> float:
        """The score at the next rung, if it gains as much as since the last one."""
        score = self.worst(name, [self._plan.seed], epochs)
        return score + max(self.gain(name, epochs, before) or 0.0, 0.0)

    def may_gain(self, name: str, epochs: int) -> bool:
        """Whether a candidate has become better since half of the epochs, as far as that is known."""
        gain = self.gain(name, epochs, math.ceil(epochs / 2))
        return gain is None or gain > TOLERANCE

    def best(self, names: Sequence[str], seeds: Sequence[int], epochs: int) -> list[str]:
        """The candidates, best first: by worst seed, then mean, then loss where not all pairs are right.

        Of equal ones, those with recombined pairs come first: they have seen longer pairs.
        """

        def key(name: str) -> tuple[float, float, float]:
            scores = self.scores(name, seeds, epochs)
            loss = fmean(result.loss for result in self.results_of(name, seeds, epochs))
            # The plain seq2seq's loss is a mean over tokens, not over pairs.
            loss = 0.0 if min(scores) >= ALL_RIGHT else math.inf if name == SEQ2SEQ else loss
            return min(scores), fmean(scores), -loss

        order = [
            name + beside + more
            for name in self._plan.candidates
            for beside in (RESCORED, "")
            for more in (RECOMBINED, "")
        ]
        return sorted(names, key=lambda name: (*key(name), -order.index(name)), reverse=True)
