"""The race: short runs of all candidates, longer ones of the better ones, and the winner on all pairs."""

import math
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from ftor.errors import FtorError
from ftor.files import read_json_lines
from ftor.jobs import Job, Status, Workload
from ftor.reporting import SILENT, Report, percent
from ftor.tuning.race.candidates import RECOMBINED, RESCORED, SEQ2SEQ, is_late
from ftor.tuning.race.plan import FINAL_SEEDS, FINALISTS, MADE, RESULTS_FILE, RUNGS, SEEDS, Entry, Plan, kept
from ftor.tuning.race.results import (
    GOOD,
    Imagined,
    RaceClock,
    Result,
    better_without_grammar,
    is_alike,
    is_below,
    keep_result,
    read_results,
)
from ftor.tuning.race.standings import ALL_RIGHT, OTHER_SEEDS, Standings

BEHIND = 0.1
"""A run that collapsed has another try if its score is so far below the best."""
TRIES = 2
"""How often the winner is trained on all pairs, with other seeds, until it keeps what the race promised."""


class Race(Workload):
    """The runs of a race. Results are kept in a file, so that a race can be continued.

    Args:
        plan: what is raced.
        report: receives who is ahead.
        data_folder: where an encoder and vectors are, if not in the usual folders.
    """

    def __init__(self, plan: Plan, report: Report, data_folder: Path | None = None) -> None:
        super().__init__()
        self.plan, self._report = plan, report
        self._data_folder = data_folder and data_folder.absolute()
        self._file = plan.folder / RESULTS_FILE
        self.results = read_results(self._file)
        unknown = [entry.candidate for entry in self.results if not plan.has(entry.candidate)]
        if unknown:
            raise FtorError(
                f"{self._file}: another version began this race: there is no candidate {unknown[0]} now; "
                "start it anew"
            )
        self._entries: dict[Job, Entry] = {}
        self._told: dict[Entry, float] = {}  # seconds of runs by their own count
        self._coming: tuple[tuple[int, int], list[Entry]] = (-1, -1), []
        self.standings = Standings(plan, self.results)
        self._course = self._stages()
        self.epochs = plan.epochs
        self.winner: str | None = None
        self.promised: float | None = None
        self.final: Entry | None = None
        self.finals: list[Entry] = []

    def extend(self) -> bool:
        """When all runs of a stage are done, add those of the next one."""
        while all(status.state in ("done", "failed") for status in self.statuses):
            stage = next(self._course, None)
            if stage is None:
                return False
            new = [entry for entry in stage if entry not in self.results]
            seconds = dict(zip(new, self._clock().seconds_of(new), strict=True))
            for entry in sorted(new, key=self.plan.cost, reverse=True):  # so that all cores are done together
                folder = self.plan.folder / "runs" / entry.run
                job = Job(self.plan.config(entry), folder, self._data_folder)
                self._entries[job] = entry
                self.statuses.append(Status(job, f"{entry.run}, {entry.epochs} epochs", seconds[entry]))
            if new:
                return True
        return False

    def seconds_to_come(self, mean: float | None) -> float:
        """Return the seconds of all stages that follow this one, if candidates stay as good as they are."""
        known = len(self.results), len(self._entries)
        if self._coming[0] != known:  # a board asks twice a second
            self._coming = known, self._stages_to_come()
        return sum(self._clock().seconds_of(self._coming[1]))

    def _stages_to_come(self) -> list[Entry]:
        """The runs of the stages that follow this one, found by racing with imagined results."""
        here = {*self.results, *self._entries.values()}
        coming = dict.fromkeys(entry for stage in _Foreseen(self)._stages() for entry in stage)
        return [entry for entry in coming if entry not in here]

    def _clock(self) -> RaceClock:
        """How long runs take, by those that are done: what others tell at their start may be far too much."""
        for status in self.statuses:
            if status.left is not None and status.share < 1 and status.seconds is not None:
                self._told[self._entries[status.job]] = status.seconds
        # Their own count leaves the first batch out, for which kernels may be compiled.
        done = {
            entry: min(result.seconds, self._told.get(entry, result.seconds))
            for entry, result in self.results.items()
            if not result.problem
        }
        return RaceClock(self.plan, [*self.results, *self._entries.values()], done)

    def _stages(self) -> Iterator[list[Entry]]:
        """The runs of each stage. The results of a stage are there when the next one is asked for."""
        plan, epochs = self.plan, self.plan.epochs
        self.winner = next(iter(plan.candidates))
        if plan.races:
            epochs = yield from self._race()
        for number in range(TRIES if plan.races else 1):
            yield from self._train_on_all_pairs(plan.seed + number * FINAL_SEEDS, epochs)
            if not self.below_promise:
                break
            self._report.say(f"{self.winner}: the model of all pairs is worse than its race promised")

    def _train_on_all_pairs(self, first: int, epochs: int) -> Iterator[list[Entry]]:
        """Start the winner with several seeds. Those that are best after a while go on.

        With an LSTM there are fewer seeds at the start: none of them is unlucky.
        """
        plan, winner = self.plan, self.winner
        assert winner is not None
        count = SEEDS if RESCORED in winner or winner == SEQ2SEQ else FINAL_SEEDS
        if not plan.races:
            count = 1
        seeds = [first + number for number in range(count)]
        if len(seeds) > SEEDS:
            short = math.ceil(epochs / FINAL_SEEDS)
            entries = [plan.entry(winner, seed, short, final=True) for seed in seeds]
            yield entries
            seeds = [entry.seed for entry in sorted(entries, key=self.quality, reverse=True)[:SEEDS]]
        entries = [plan.entry(winner, seed, epochs, final=True) for seed in seeds]
        yield entries
        self.finals = sorted([*self.finals, *entries], key=self.quality, reverse=True)
        self.final = self.finals[0]

    def quality(self, entry: Entry) -> tuple[float, float]:
        """What final runs are compared by."""
        return self.standings.counted(self.results[entry]), -self.results[entry].loss

    def _race(self) -> Generator[list[Entry], None, int]:
        """Find the winner. Returns the epochs that it is trained for on all pairs."""
        plan, standings, early, proven = self.plan, self.standings, False, list[str]()
        seeds = [plan.seed + number for number in range(SEEDS)]
        contenders, before = [name for name in plan.contenders if not is_late(name)], 0
        for rung in RUNGS[:-1]:
            epochs = math.ceil(plan.epochs / rung)
            yield from self._trained(contenders, [plan.seed], epochs)
            contenders = standings.best(contenders, [plan.seed], epochs)
            score = standings.worst(contenders[0], [plan.seed], epochs)
            shown = standings.entry(contenders[0], plan.seed, epochs).epochs
            self._report.say(f"after {shown} epochs, {contenders[0]} leads: {percent(score)}")
            if score >= ALL_RIGHT:
                winner = yield from self._decided(plan.finalists(contenders), seeds, epochs, 1)
                score = standings.worst(winner, seeds, epochs)
                early = score >= ALL_RIGHT
                if early:
                    break
                proven = [winner]
                self._report.say(f"{winner}: {percent(score)} with its worse seed, so the race goes on")
            promising = sorted(contenders, key=lambda name: -standings.expected(name, epochs, before))
            contenders = promising[: kept(len(promising))]
            before = epochs
        if not early:  # nobody gets less than the plain seq2seq would give
            late = [name for name in plan.contenders if is_late(name)]
            finalists = list(dict.fromkeys([*plan.finalists(contenders), *proven, *late]))
            winner = yield from self._decided(finalists, seeds, plan.epochs, FINALISTS)
            winner = yield from self._prolonged(winner, finalists, seeds)
            epochs = self.epochs
        if why := better_without_grammar(standings.results_of(winner, seeds, epochs)):
            self._report.warn(f"{winner} {why}; try --grammar none")
        return plan.epochs_after_early_end if early else epochs

    def _prolonged(
        self, winner: str, finalists: list[str], seeds: list[int]
    ) -> Generator[list[Entry], None, str]:
        """Let finalists train on while the winner is often wrong and gains. Returns the winner then."""
        standings, pairs = self.standings, sum(self.plan.held_out.values())
        while more := self.plan.longer(self.epochs):
            score = standings.worst(winner, seeds, self.epochs)
            if score >= GOOD or not standings.may_gain(winner, self.epochs):
                break
            worst = {name: standings.worst(name, seeds[:1], self.epochs) for name in finalists}
            left = [name for name in finalists if name == SEQ2SEQ or not is_below(worst[name], score, pairs)]
            finalists = list(dict.fromkeys([*left, *([] if RESCORED in winner else [winner])]))
            self._report.say(f"{winner}: {percent(score)}, so the race goes on, up to {more} epochs")
            self.epochs = more
            winner = yield from self._decided(finalists, seeds, more, FINALISTS)
        return winner

    def _decided(
        self, finalists: list[str], seeds: list[int], epochs: int, at_once: int
    ) -> Generator[list[Entry], None, str]:
        """Find out which finalist wins, and what it promises."""
        best, *_ = yield from self._proven(finalists, seeds, epochs, at_once)
        winner = yield from self._with_longer_pairs(best, seeds, epochs)
        self.winner, self.promised = winner, self.standings.worst(winner, seeds, epochs)
        return winner

    def _proven(
        self, names: list[str], seeds: list[int], epochs: int, at_once: int
    ) -> Generator[list[Entry], None, list[str]]:
        """Train finalists. Only those get all seeds that can still win. Returns these, best first.

        So many get their seeds at once. One is enough if it is right on all pairs with the first seed.
        """
        standings = self.standings
        yield from self._trained(names, seeds[:1], epochs)
        self._check_made(names, seeds[0], epochs)
        left, proven = standings.best(names, seeds[:1], epochs), self._rescored(names, seeds[0], epochs)
        if proven:
            yield from self._trained(proven, seeds, epochs)
            best = standings.worst(proven[0], seeds, epochs)
            left = [name for name in left if standings.worst(name, seeds[:1], epochs) > best]
        while left:
            some, left = left[:at_once], left[at_once:]
            yield from self._trained(some, seeds, epochs)
            proven = standings.best(proven + some, seeds, epochs)
            best = standings.worst(proven[0], seeds, epochs)
            left = [name for name in left if standings.worst(name, seeds[:1], epochs) > best]
        return proven

    def _rescored(self, names: list[str], seed: int, epochs: int) -> list[str]:
        """The best transducer with an LSTM beside it, if the pairs are hard enough."""
        best = self.standings.best(names, [seed], epochs)
        if self.standings.worst(best[0], [seed], epochs) >= ALL_RIGHT:
            return []
        transducers = [self.plan.rescored(name) for name in best if name != SEQ2SEQ]
        return [name for name in transducers[:1] if name is not None]

    def _with_longer_pairs(
        self, name: str, seeds: list[int], epochs: int
    ) -> Generator[list[Entry], None, str]:
        """The candidate with recombined pairs, if it is hardly worse: few held-out pairs are longer.

        The mean of its seeds counts, because unlucky ones are given up when all pairs are trained on. It may
        not be worse than the plain seq2seq.
        """
        standings, pairs = self.standings, sum(self.plan.held_out.values())
        other = name + RECOMBINED
        if not standings.trusts_made or standings.entry(other, seeds[0], epochs) not in self.results:
            return name
        for some in (seeds[:1], seeds):
            yield from self._trained([other], some, epochs)
            mean, best = (standings.mean(one, some, epochs) for one in (other, name))
            plain = [self.results.get(standings.entry(SEQ2SEQ, seed, epochs)) for seed in some]
            is_behind = any(
                one and standings.counted(one) > standings.worst(other, some, epochs) for one in plain
            )
            if is_behind or not is_alike(mean, best, pairs):
                return name
        return other

    def _check_made(self, names: list[str], seed: int, epochs: int) -> None:
        """Go on with real pairs alone if a candidate is clearly worse on them when it trains on made ones."""
        found = {name: self.results[self.standings.entry(name, seed, epochs)].real for name in names}
        pairs = sum(count for kind, count in self.plan.held_out.items() if kind != MADE)
        for name, real in found.items():
            other = found.get(name + RECOMBINED)
            if real is not None and other is not None and is_below(other, real, pairs):
                self._report.say("recombined pairs mislead: candidates are compared by real pairs only")
                self._leave_out_made()
                return

    def _leave_out_made(self) -> None:
        self.plan, self.standings.trusts_made = self.plan.without_made(), False

    def _trained(self, names: list[str], seeds: list[int], epochs: int) -> Generator[list[Entry], None, None]:
        """Train candidates. One that collapses is trained once more, and from now on with the better seed."""
        standings, runs = self.standings, [(name, seed) for name in names for seed in seeds]
        yield [standings.entry(name, seed, epochs) for name, seed in runs]
        found = {run: self.results[standings.entry(*run, epochs)] for run in runs}
        scores = {run: standings.counted(result) for run, result in found.items()}
        best = max(scores.values())
        leaders = {name for (name, _), score in scores.items() if score == best}
        again = {
            run: standings.entry(*run, epochs)
            for run, result in found.items()
            if result.collapsed
            and scores[run] < best - BEHIND
            and run not in standings.other_seeds
            and (best < ALL_RIGHT or run[0] in leaders)  # others are not needed any more
        }
        for (name, seed), entry in again.items():
            self._report.say(f"{entry.run} collapsed; it is tried with another seed")
            standings.other_seeds[name, seed] = seed + OTHER_SEEDS
        yield [standings.entry(name, seed, epochs) for name, seed in again]
        for run, entry in again.items():
            second, first = self.results[standings.entry(*run, epochs)], self.results[entry]
            if standings.counted(second) < standings.counted(first):
                standings.other_seeds[run] = run[1]

    @property
    def below_promise(self) -> bool:
        """Whether the final model is right on clearly fewer pairs than the race promised."""
        if self.promised is None or self.final is None:
            return False
        score, _ = self.quality(self.final)
        return is_below(score, self.promised, self.plan.final_pairs)

    def finished(self, status: Status, record: dict[str, Any]) -> str:
        """Keep the result."""
        log = read_json_lines(status.job.folder / "log.jsonl")
        has_made = self.standings.trusts_made and not self._entries[status.job].final
        result = Result.of(record, log, self.plan.held_out if has_made else {})
        self._keep(status, result)
        return percent(result.score)

    def failed(self, status: Status, reason: str) -> None:
        """A candidate that fails has lost."""
        self._report.warn(f"{status.name} failed: {reason}")
        self._keep(status, Result(0.0, math.inf, 0.0, reason))

    def _keep(self, status: Status, result: Result) -> None:
        entry = self._entries[status.job]
        self.results[entry] = result
        keep_result(self._file, entry, result)


class _Foreseen(Race):
    """A race whose missing results are imagined. It changes no file."""

    def __init__(self, race: Race) -> None:
        super().__init__(race.plan, SILENT)
        self.results = Imagined(race.results)
        self.standings = Standings(race.plan, self.results)

    def _leave_out_made(self) -> None:
        self.standings.trusts_made = False
