"""The study on disk, by Optuna's journal: what was drawn and what came of it, one JSON line per step."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ftor.errors import FtorError
from ftor.seeds import derived_seed
from ftor.tuning.plan import Plan
from ftor.tuning.trials import Result, Trial, TrialState

try:
    import optuna
except ImportError:
    raise FtorError("ftor tune: expected optuna, found none; pip install 'ftor[tune]'") from None
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

JOURNAL = "journal.jsonl"
NAME = "ftor"
"""Of the study within its journal."""
_STATES: dict[OptunaState, TrialState] = {
    OptunaState.RUNNING: "running",
    OptunaState.COMPLETE: "complete",
    OptunaState.PRUNED: "pruned",
    OptunaState.FAIL: "failed",
}


class StudyError(FtorError):
    """A study that cannot be gone on with; says what differs."""


class Store:
    """A study's trials and the results of their runs.

    Args:
        plan: what the study is; one that is there already has to agree.
        folder: where its journal is.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        journal = folder / JOURNAL
        _mend(journal)
        self._storage = JournalStorage(JournalFileBackend(str(journal)))
        self._study = optuna.create_study(
            storage=self._storage,
            # The first trials have nothing to be compared with, and the first epochs, from 1, say little.
            pruner=optuna.pruners.MedianPruner(n_warmup_steps=plan.config.training.epochs // 5 + 1),
            study_name=NAME,
            direction="maximize",
            load_if_exists=True,
        )
        self._check_settings()
        if not self._study.trials:
            # Optuna learns from what lies within the space.
            self._study.enqueue_trial(plan.space.drawn(plan.config), user_attrs={"unchanged": True})

    def _check_settings(self) -> None:
        before, now = self._study.user_attrs.get("settings"), self.plan.settings()
        if before is None:
            self._study.set_user_attr("settings", now)
            return
        differences = list(_differences(before, now))
        if differences:
            raise StudyError(
                f"{self.folder}: a search goes on as it began; for another one, give another --out:\n"
                + "\n".join(f"  {difference}" for difference in differences)
            )

    def trials(self) -> list[Trial]:
        """All that have been drawn, in order."""
        results = self._study.user_attrs
        return [self._trial(frozen, results) for frozen in self._frozen() if frozen.state in _STATES]

    def _frozen(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _trial(self, frozen: FrozenTrial, results: dict[str, Any]) -> Trial:
        plan = self.plan
        found = {seed: results.get(run_name(frozen.number, seed)) for seed in (*plan.seeds, plan.third_seed)}
        third = found.pop(plan.third_seed)
        unchanged = "unchanged" in frozen.user_attrs
        return Trial(
            frozen.number,
            plan.values({} if unchanged else frozen.params),
            {seed: Result(**values) for seed, values in found.items() if values is not None},
            _STATES[frozen.state],
            unchanged,
            frozen.user_attrs.get("reason"),
            Result(**third) if isinstance(third, dict) else third,
        )

    def draw(self) -> Trial:
        """A new trial; what is drawn depends on the seed and, for TPE, on trials that are done."""
        number = sum(frozen.state in _STATES for frozen in self._frozen())
        self._fill_in(self._study.ask())
        return self.trials()[number]

    def complete_draws(self) -> None:
        """Draw what a trial lacks because whoever drew it was cut off."""
        for frozen in self._frozen():
            if frozen.state == OptunaState.RUNNING:
                self._fill_in(self._handle(frozen.number))

    def _fill_in(self, trial: optuna.Trial) -> None:
        for key, allowed in self.plan.space.keys.items():
            if "unchanged" not in trial.user_attrs or key in self.plan.space.drawn(self.plan.config):
                self._study.sampler = self._sampler(trial.number, key)
                allowed.draw(trial, key)

    def _sampler(self, number: int, key: str) -> optuna.samplers.BaseSampler:
        """One for each value, so that a search that goes on draws what it would have drawn."""
        seed = derived_seed(self.plan.seed, number, key, bits=32)
        if self.plan.sampler == "tpe":
            return optuna.samplers.TPESampler(seed=seed)
        return optuna.samplers.RandomSampler(seed=seed)

    def _handle(self, number: int) -> optuna.Trial:
        """A trial to write to, whoever drew it.

        A study hands one out only when it draws it, and cannot take it up in another process: so its id is
        asked of the storage, and it is made as the study makes it.
        """
        study = self._storage.get_study_id_from_name(NAME)
        return optuna.Trial(self._study, self._storage.get_trial_id_from_study_id_trial_number(study, number))

    def keep(self, number: int, seed: int, result: Result | str) -> None:
        """Keep what a run came to, or why it failed."""
        values = result if isinstance(result, str) else asdict(result)
        self._study.set_user_attr(run_name(number, seed), values)

    def end(self, number: int, state: TrialState, reason: str | None = None) -> Trial:
        """Close a trial; a complete one has the mean over its seeds."""
        if reason is not None:
            self._handle(number).set_user_attr("reason", reason)
        if state == "complete":
            values = [result.value for result in self.trials()[number].results.values()]
            self._study.tell(number, sum(values) / len(values))
        else:
            self._study.tell(number, state=OptunaState.PRUNED if state == "pruned" else OptunaState.FAIL)
        return self.trials()[number]

    def keep_epoch(self, number: int, epoch: int, value: float) -> None:
        """Keep the best value that a trial has had by the end of an epoch, for others to be compared with."""
        before = self._frozen()[number].intermediate_values
        if epoch not in before:
            self._handle(number).report(max([value, *before.values()]), epoch)

    def is_hopeless(self, number: int) -> bool:
        """Whether a trial is below the median of the others after its last epoch."""
        return self._handle(number).should_prune()


def run_name(number: int, seed: int) -> str:
    """What a run's folder is called."""
    return f"trial-{number}-seed-{seed}"


def _mend(journal: Path) -> None:
    """Remove what a writer that was killed has left: its lock, and half a line."""
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
    if not journal.exists():
        return
    with journal.open("rb+") as file:
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
        os.fsync(file.fileno())


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    different = [name for name in now if before.get(name) != now[name]]
    for name in different:
        old, new = before.get(name), now[name]
        if name == "configuration":
            if len(different) == 1:  # else the others say why
                yield "configuration: expected the one that it began with, found another"
        elif isinstance(old, dict) and isinstance(new, dict):
            for key in sorted(old.keys() | new.keys()):
                if old.get(key) != new.get(key):
                    yield f"{name}: {key}: expected {old.get(key, 'none')}, found {new.get(key, 'none')}"
        else:
            yield f"{name}: expected {old}, found {new}"
