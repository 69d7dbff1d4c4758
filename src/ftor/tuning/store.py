"""The trials of a search on disk, in the journal of an Optuna study."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ftor.errors import FtorError
from ftor.text.seeds import derived_seed
from ftor.tuning.plan import Plan
from ftor.tuning.trials import Result, Trial, TrialState

try:
    import optuna
except ImportError:
    raise FtorError("Optuna is not installed: pip install 'ftor[tune]'") from None
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

JOURNAL = "journal.jsonl"
NAME = "ftor"
"""The study's name in its journal."""
_STATES: dict[OptunaState, TrialState] = {
    OptunaState.RUNNING: "running",
    OptunaState.COMPLETE: "complete",
    OptunaState.PRUNED: "pruned",
    OptunaState.FAIL: "failed",
}


class StudyError(FtorError):
    """A search that cannot be resumed with these settings."""


class Store:
    """The trials of a search and the results of their runs.

    Args:
        plan: the search. If the folder has one already, its settings must be the same.
        folder: of the journal.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        journal = folder / JOURNAL
        _repair(journal)
        self._storage = JournalStorage(JournalFileBackend(str(journal)))
        self._study = optuna.create_study(
            storage=self._storage,
            # The first epochs say little. They are counted from 1.
            pruner=optuna.pruners.MedianPruner(n_warmup_steps=plan.config.training.epochs // 5 + 1),
            study_name=NAME,
            direction="maximize",
            load_if_exists=True,
        )
        self._check_settings()
        if not self._study.trials:
            # TPE learns from the values within the space.
            self._study.enqueue_trial(plan.space.drawn(plan.config), user_attrs={"unchanged": True})

    def _check_settings(self) -> None:
        before, now = self._study.user_attrs.get("settings"), self.plan.settings()
        if before is None:
            self._study.set_user_attr("settings", now)
            return
        differences = list(_differences(before, now))
        if differences:
            raise StudyError(
                f"{self.folder}: this search began with other settings; use another --out for a new search:\n"
                + "\n".join(f"  {difference}" for difference in differences)
            )

    def trials(self) -> list[Trial]:
        """Return all trials that were drawn, in order."""
        results = self._study.user_attrs
        return [self._trial(frozen, results) for frozen in self._frozen() if frozen.state in _STATES]

    def _frozen(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def reopen_failed(self) -> list[str]:
        """Forget that trials and runs with the third seed failed, but not for good. Returns their names."""
        names = list[str]()
        for trial in self.trials():
            if trial.state == "failed" and self._frozen()[trial.number].state == OptunaState.RUNNING:
                self._handle(trial.number).set_user_attr("reason", None)
                names.append(f"trial {trial.number}")
            elif isinstance(trial.third, str):
                self._study.set_user_attr(run_name(trial.number, self.plan.third_seed), None)
                names.append(f"trial {trial.number} with seed {self.plan.third_seed}")
        return names

    def _trial(self, frozen: FrozenTrial, results: dict[str, Any]) -> Trial:
        plan = self.plan
        by_seed = {seed: results.get(run_name(frozen.number, seed)) for seed in plan.seeds}
        third = results.get(run_name(frozen.number, plan.third_seed))
        unchanged, reason = "unchanged" in frozen.user_attrs, frozen.user_attrs.get("reason")
        return Trial(
            frozen.number,
            plan.values({} if unchanged else frozen.params),
            {seed: Result(**values) for seed, values in by_seed.items() if values is not None},
            "failed" if reason is not None else _STATES[frozen.state],
            unchanged,
            reason,
            Result(**third) if isinstance(third, dict) else third,
        )

    def draw(self) -> Trial:
        """Draw a trial. The draw depends on the seed and, with TPE, on the trials that are done."""
        number = sum(frozen.state in _STATES for frozen in self._frozen())
        self._fill_in(self._study.ask())
        return self.trials()[number]

    def complete_draws(self) -> None:
        """Draw the missing values of trials whose process was killed while it drew them."""
        for frozen in self._frozen():
            if frozen.state == OptunaState.RUNNING:
                self._fill_in(self._handle(frozen.number))

    def _fill_in(self, trial: optuna.Trial) -> None:
        for key, allowed in self.plan.space.keys.items():
            if "unchanged" not in trial.user_attrs or key in self.plan.space.drawn(self.plan.config):
                self._study.sampler = self._sampler(trial.number, key)
                allowed.draw(trial, key)

    def _sampler(self, number: int, key: str) -> optuna.samplers.BaseSampler:
        """Return a sampler for one value, so that a resumed search draws the same values."""
        seed = derived_seed(self.plan.seed, number, key, bits=32)
        if self.plan.sampler == "tpe":
            return optuna.samplers.TPESampler(seed=seed)
        return optuna.samplers.RandomSampler(seed=seed)

    def _handle(self, number: int) -> optuna.Trial:
        """Return a trial to write to.

        Optuna returns such a trial only to the process that drew it. Others need its id in the storage.
        """
        study = self._storage.get_study_id_from_name(NAME)
        return optuna.Trial(self._study, self._storage.get_trial_id_from_study_id_trial_number(study, number))

    def keep(self, number: int, seed: int, result: Result | str) -> None:
        """Keep the result of a run, or the reason why it failed."""
        values = result if isinstance(result, str) else asdict(result)
        self._study.set_user_attr(run_name(number, seed), values)

    def end(
        self, number: int, state: TrialState, reason: str | None = None, *, for_good: bool = False
    ) -> Trial:
        """End a trial. The value of a complete one is the mean over its seeds.

        A failed one needs a reason. Unless it failed for good, it runs on in the study, since Optuna reopens
        no trial that has ended.
        """
        if state == "failed":
            self._handle(number).set_user_attr("reason", reason)
            if for_good:
                self._study.tell(number, state=OptunaState.FAIL)
        elif state == "complete":
            values = [result.value for result in self.trials()[number].results.values()]
            self._study.tell(number, sum(values) / len(values))
        else:
            self._study.tell(number, state=OptunaState.PRUNED)
        return self.trials()[number]

    def keep_epoch(self, number: int, epoch: int, value: float) -> None:
        """Keep the best value of a trial up to an epoch. Other trials are compared with it."""
        before = self._frozen()[number].intermediate_values
        if epoch not in before:
            self._handle(number).report(max([value, *before.values()]), epoch)

    def is_hopeless(self, number: int) -> bool:
        """Return whether a trial is below the median of the others at its last epoch."""
        return self._handle(number).should_prune()


def run_name(number: int, seed: int) -> str:
    """Return the name of a run's folder."""
    return f"trial-{number}-seed-{seed}"


def _repair(journal: Path) -> None:
    """Remove what a killed process left: its lock, and half a line."""
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
    if not journal.exists():
        return
    with journal.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
        os.fsync(file.fileno())


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    different = [name for name in now if before.get(name) != now[name]]
    for name in different:
        old, new = before.get(name), now[name]
        if name == "configuration":
            if len(different) == 1:  # else the other differences explain it
                yield "configuration: not the same as before"
        elif isinstance(old, dict) and isinstance(new, dict):
            for key in sorted(old.keys() | new.keys()):
                if old.get(key) != new.get(key):
                    yield f"{name}: {key}: expected {old.get(key, 'none')}, found {new.get(key, 'none')}"
        else:
            yield f"{name}: expected {old}, found {new}"
