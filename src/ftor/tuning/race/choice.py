"""What a race chose, and why: for the model folder, for its card and for people."""

import math
from pathlib import Path

from ftor.files import write_text
from ftor.reporting import percent
from ftor.tuning.look.findings import Record, Value
from ftor.tuning.race.candidates import MEMBERS, RECOMBINED, SEQ2SEQ, is_late
from ftor.tuning.race.race import Race
from ftor.tuning.race.results import GOOD
from ftor.tuning.race.standings import ALL_RIGHT

CHOICE_FILE = "choice.json"


class Tried(Record):
    """One run of a race.

    Attributes:
        score: share of the held-out pairs that are right. If `on_all_pairs`, they are training pairs too,
            unless they are the user's dev pairs.
        problem: why it failed, if it did.
        replaced: whether it counts for nothing: it, or its second try with another seed, collapsed.
    """

    candidate: str
    meaning: str
    seed: int
    epochs: int
    on_all_pairs: bool
    score: float
    seconds: float
    problem: str | None = None
    replaced: bool = False

    @property
    def half_epochs(self) -> int:
        """Half of its epochs, or all if it has recombined pairs: then half as many are as many steps."""
        return self.epochs if self.candidate.endswith(RECOMBINED) else math.ceil(self.epochs / 2)


class Choice(Record):
    """What a race chose.

    Attributes:
        winner: name of the candidate.
        settings: of the winner, those that follow from the data included.
        promised: the worst of its scores on held-out pairs; None without a race.
        kept: whether the final model is about as good as promised.
        held_out: number of held-out pairs of each kind.
        tried: all runs.
        short: whether its runs had fewer epochs than the data would like.
        findings: what the look at the pairs warned of.
    """

    winner: str
    settings: dict[str, Value]
    promised: float | None
    kept: bool
    held_out: dict[str, int]
    tried: list[Tried]
    short: bool
    findings: list[str]

    @classmethod
    def of(cls, race: Race, members: int = 1) -> "Choice":
        """The choice of a race that has come to its end, of a model with so many members."""
        plan, winner = race.plan, race.winner
        assert winner is not None
        settings = plan.look.settings | dict(plan.candidate(winner).settings)
        if members > 1:
            settings["model.members"] = members
        return cls(
            winner=winner,
            settings=settings,
            promised=race.promised,
            kept=not race.below_promise,
            held_out=plan.held_out,
            tried=[
                Tried(
                    candidate=entry.candidate,
                    meaning=plan.candidate(entry.candidate).meaning,
                    seed=entry.seed,
                    epochs=entry.epochs,
                    on_all_pairs=entry.final,
                    score=race.standings.counted(result),
                    seconds=round(result.seconds, 1),
                    problem=result.problem,
                    replaced=race.standings.is_replaced(entry),
                )
                for entry, result in race.results.items()
            ],
            short=race.final is not None and race.epochs < plan.wanted,
            findings=[finding.text for finding in plan.look.warnings],
        )

    @classmethod
    def read(cls, folder: Path) -> "Choice | None":
        """The choice in a model folder, if there is one."""
        path = folder / CHOICE_FILE
        return cls.model_validate_json(path.read_text("utf-8")) if path.exists() else None

    def write(self, folder: Path) -> None:
        """Write the choice into a model folder, and its table into the model card."""
        write_text(folder / CHOICE_FILE, self.model_dump_json(indent=2) + "\n")
        card = folder / "README.md"
        rows = [self.columns, ["---"] * 5, *self.rows] if self.rows else []
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        section = f"## How the settings were chosen\n\n{self.reason}\n" + (table and f"\n{table}")
        write_text(card, f"{card.read_text('utf-8')}\n{section}")

    @property
    def reason(self) -> str:
        """Why this candidate, in a few sentences."""
        pairs = sum(self.held_out.values())
        meaning = next(run.meaning for run in self.tried if run.candidate == self.winner)
        if self.promised is None:
            return f"{self.winner} ({meaning}). There was no race."
        text = (
            f"{self.winner} ({meaning}) was right on {percent(self.promised)} of {pairs} "
            "held-out pairs with its worse seed."
        )
        others = [run for run in self.best_of_each if run.candidate != self.winner]
        if others:
            best = max(others, key=lambda run: (-self._missing_epochs(run), run.score))
            text += f" The best other candidate was {best.candidate}, {percent(best.score)}."
            text += self._why_not(best)
        if self.winner == SEQ2SEQ:
            text += " No transducer was better, so you get a plain seq2seq. It may fail on longer sentences."
        if self.settings.get("model.members", 1) != 1:
            text += f" {MEMBERS} of them, trained on all pairs with different seeds, write together."
        if self.short and self.promised < GOOD:
            text += " The runs were short for these pairs: more --minutes may help."
        if not self.kept:
            text += (
                " The model of all pairs is worse than that with every seed that was tried. More pairs, or "
                "more --minutes, may help."
            )
        return text

    def _why_not(self, other: Tried) -> str:
        """Why another candidate that was right as often was not chosen, if it was."""
        if self.promised is None or other.score < self.promised:
            return ""
        if other.candidate + RECOMBINED == self.winner:
            chance = "That may be chance, and recombined" if other.score > self.promised else "Recombined"
            return f" {chance} pairs teach longer outputs."
        if other.score > self.promised or other.candidate == SEQ2SEQ:
            return ""
        if self.promised >= ALL_RIGHT:
            return " Of candidates that are right on all pairs, the first in the list is taken."
        return " At equal shares the mean of the seeds decides, and then the loss."

    @property
    def best_of_each(self) -> list[Tried]:
        """The longest run of each candidate on held-out pairs, and of these the worst seed."""
        longest: dict[str, Tried] = {}
        for run in self.tried:
            known = longest.get(run.candidate)
            key = (run.epochs, -run.score)
            counts = not (run.on_all_pairs or run.replaced)
            if counts and (known is None or key > (known.epochs, -known.score)):
                longest[run.candidate] = run
        return list(longest.values())

    @property
    def columns(self) -> list[str]:
        """The head of the table."""
        return ["candidate", "what it is", "epochs", "held-out pairs right", "seconds"]

    @property
    def rows(self) -> list[list[str]]:
        """The table of all candidates, best first. Those that were given up are the last."""
        missing = self._missing_epochs
        return [
            [
                run.candidate,
                run.meaning,
                str(run.epochs),
                run.problem or percent(run.score) + (", given up" if missing(run) else ""),
                f"{self._seconds(run.candidate):.0f}",
            ]
            for run in sorted(self.best_of_each, key=lambda run: (missing(run), -run.score))
        ]

    def _missing_epochs(self, run: Tried) -> int:
        """By how many half epochs a candidate has come less far than others."""
        most = max((one.half_epochs for one in self.best_of_each if not is_late(one.candidate)), default=0)
        return max(most - run.half_epochs, 0)

    def _seconds(self, candidate: str) -> float:
        """The seconds of all runs of a candidate. Those of a run that was continued are in the last ones."""
        seconds: dict[tuple[int, bool], float] = {}
        for run in self.tried:
            if run.candidate == candidate:
                key = run.seed, run.on_all_pairs
                seconds[key] = max(seconds.get(key, 0.0), run.seconds)
        return sum(seconds.values())
