"""The protocol, with runs that nobody trains: what is drawn, started, pruned, compared and kept."""

import signal
import tomllib
from collections import Counter
from functools import partial
from itertools import product

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from ftor.config import ConfigError
from ftor.jobs import Failed, Lost, Stopped
from ftor.show.progress import TerminalReport
from ftor.tuning.plan import Plan
from ftor.tuning.store import JOURNAL, Store
from ftor.tuning.trials import winner
from ftor.tuning.winner import winning_toml
from support.pretended_runs import BASE, EPOCHS, Pretended, plan_in, search, tuned

THIRD = 1002


@pytest.fixture
def tune(tmp_path):
    return partial(tuned, tmp_path)


def test_two_seeds_each_a_third_for_the_best_two_and_for_the_unchanged(tune):
    _, trials, executor = tune(lambda weight, seed: weight / 20)
    assert [trial.unchanged for trial in trials] == [True, False, False, False, False]
    assert trials[0].values == {"training.length_weight": BASE}
    assert {trial.state for trial in trials} == {"complete"}
    assert Counter(executor.started).most_common(1)[0][1] == 1
    best = sorted(trials[1:], key=lambda trial: -trial.values["training.length_weight"])[:2]
    assert {name for name in executor.started if name.endswith(str(THIRD))} == {
        f"trial-{trial.number}-seed-{THIRD}" for trial in (trials[0], *best)
    }
    assert winner(trials).number == best[0].number
    assert winner(trials).mean == pytest.approx(best[0].values["training.length_weight"] / 20)


def test_the_third_seed_decides_between_the_best_two(tune):
    _, trials, _ = tune(lambda weight, seed: 1 - weight / 20 if seed == THIRD else 0.5 + weight / 20)
    first, second = sorted(trials[1:], key=lambda trial: -trial.mean)[:2]
    assert first.mean > second.mean
    assert winner(trials).number == second.number


def test_the_unchanged_configuration_wins_if_it_is_as_good(tune):
    plan, trials, _ = tune(lambda weight, seed: 0.5)
    assert winner(trials).unchanged
    assert tomllib.loads(winning_toml(plan, trials, winner(trials))) == {"base": "transducer"}


def test_of_equal_trials_those_with_the_lower_loss_are_finalists(tune):
    _, trials, _ = tune(lambda weight, seed: 0.1 if weight == BASE else 0.5)  # the loss is the weight
    weights = sorted(trial.values["training.length_weight"] for trial in trials[1:])
    checked = [trial.values["training.length_weight"] for trial in trials[1:] if trial.third]
    assert sorted(checked) == weights[:2]
    assert winner(trials).values["training.length_weight"] == weights[0]


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_a_failed_trial_is_kept_with_its_reason_and_others_go_on(tune, slots):
    _, trials, executor = tune(lambda weight, seed: Failed("it broke") if weight > 5 else weight / 20, slots)
    failed = [trial for trial in trials if trial.values["training.length_weight"] > 5]
    assert failed
    assert all((trial.state, trial.mean) == ("failed", None) for trial in failed)
    assert not executor.running
    assert failed[0].reason == "seed 1000: it broke"
    assert winner(trials).state == "complete"


def test_if_all_fail_nothing_wins(tune):
    _, trials, _ = tune(lambda weight, seed: Failed("it broke"))
    assert [trial.state for trial in trials] == ["failed"] * 5
    assert winner(trials) is None


def test_failed_trials_are_tried_again_on_resume(tune, capsys):
    _, trials, _ = tune(lambda weight, seed: Failed("no room") if weight > 5 else weight / 20)
    failed = [trial.number for trial in trials if trial.state == "failed"]
    finished = [trial for trial in trials if trial.state == "complete"]
    _, again, executor = tune(lambda weight, seed: weight / 20, report=TerminalReport())
    assert failed
    assert [again[trial.number].results for trial in finished] == [trial.results for trial in finished]
    assert {trial.state for trial in again} == {"complete"}
    assert all(again[number].reason is None for number in failed)
    assert {int(name.split("-")[1]) for name in executor.started if not name.endswith(str(THIRD))} == {
        *failed
    }
    assert winner(again).values["training.length_weight"] == max(
        trial.values["training.length_weight"] for trial in again
    )
    first = next(iter(failed))
    assert f"tried again, since they failed before: trial {first}" in capsys.readouterr().err


def test_a_trial_that_fails_again_has_the_new_reason(tune):
    tune(lambda weight, seed: Failed("once"))
    _, trials, _ = tune(lambda weight, seed: Failed("twice"))
    assert {(trial.state, trial.reason) for trial in trials} == {("failed", "seed 1000: twice")}


def test_a_third_seed_that_failed_is_tried_again_on_resume(tune):
    _, trials, _ = tune(lambda weight, seed: Failed("it broke") if seed == THIRD else weight / 20)
    failed = {f"trial-{trial.number}-seed-{THIRD}" for trial in trials if isinstance(trial.third, str)}
    _, again, executor = tune(lambda weight, seed: weight / 20)
    assert len(failed) == 3
    assert {*executor.started} == failed
    assert sum(trial.checked is not None for trial in again) == 3


def test_a_run_whose_folder_is_on_another_machine_has_its_result(tune, tmp_path):
    _, trials, _ = tune(lambda weight, seed: weight / 20)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plan = plan_in(elsewhere)
    store, executor = Store(plan, elsewhere), Pretended(lambda weight, seed: weight / 20, has_storage=False)
    assert search(store, executor)
    assert [trial.mean for trial in store.trials()] == [trial.mean for trial in trials]


def moved(folder, best):
    """The trials of runs that went on elsewhere from epoch 3. Here are their logs of epoch 1."""
    store = Store(plan_in(folder), folder)
    executor = Pretended(lambda weight, seed: weight / 20, has_storage=False, heard_from=3, best=best)
    for number, seed in product(range(5), (1000, 1001, THIRD)):
        log = folder / "runs" / f"trial-{number}-seed-{seed}" / "log.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text('{"epoch": 1, "dev_exact_match": 0.9, "dev_loss": 1.0}\n')
    assert search(store, executor)
    return store.trials()


def test_a_run_that_goes_on_elsewhere_has_the_result_of_its_best_epoch(tune, tmp_path):
    _, trials, _ = tune(lambda weight, seed: weight / 20)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert [trial.mean for trial in moved(elsewhere, best=3)] == [trial.mean for trial in trials]


def test_a_run_whose_best_epoch_nobody_heard_of_has_failed(tmp_path):
    (trial, *_) = moved(tmp_path, best=1)
    assert trial.state == "failed"
    assert trial.reason == "seed 1000: the scores of its best epoch, 1, did not arrive"


def test_values_that_exclude_each_other_are_not_tried_again(tune, monkeypatch, capsys):
    def refused(plan, values, seed):
        if values["training.length_weight"] > 5:
            raise ConfigError("they exclude each other")
        return config_for(plan, values, seed)

    config_for = Plan.config_for
    monkeypatch.setattr(Plan, "config_for", refused)
    _, trials, _ = tune(lambda weight, seed: weight / 20)
    failed = [trial for trial in trials if trial.state == "failed"]
    assert {trial.reason for trial in failed} == {"they exclude each other"}
    _, again, executor = tune(lambda weight, seed: weight / 20, report=TerminalReport())
    assert (again, executor.started) == (trials, [])
    said = capsys.readouterr().err
    assert "tried again" not in said
    assert "exclude" not in said


def test_a_finalist_that_fails_with_the_third_seed_loses(tune):
    weights = set()

    def outcome(weight, seed):
        weights.add(weight)
        return Failed("it broke") if seed == THIRD and weight == max(weights) else weight / 20

    _, trials, _ = tune(outcome)
    assert isinstance(max(trials, key=lambda trial: trial.mean).third, str)
    assert winner(trials).checked is not None


def test_runs_that_are_lost_are_started_again(tune, capsys):
    lost = {}

    def outcome(weight, seed):
        lost[weight, seed] = lost.get((weight, seed), 0) + 1
        return Lost("gone") if lost[weight, seed] == 1 else 0.5

    _, trials, executor = tune(outcome, trials=1, report=TerminalReport())
    assert {trial.state for trial in trials} == {"complete"}
    assert set(Counter(executor.started).values()) == {2}
    said = capsys.readouterr().err
    assert "trial-1-seed-1001 waiting: lost: gone; restart 1 of 3" in said


@pytest.mark.parametrize(("event", "reason"), [(Lost("gone"), "gone"), (Stopped(), "somebody stopped it")])
def test_a_run_that_breaks_off_again_and_again_makes_its_trial_fail(tune, event, reason):
    _, trials, executor = tune(
        lambda weight, seed: 0.5 if weight == BASE or seed != 1000 else event, trials=2
    )
    assert [trial.state for trial in trials] == ["complete", "failed", "failed"]
    assert trials[1].reason == f"seed 1000: lost 4 times: {reason}"
    assert Counter(executor.started)["trial-1-seed-1000"] == 4


def test_a_check_that_breaks_off_again_and_again_fails(tune):
    _, trials, executor = tune(lambda weight, seed: Lost("gone") if seed == THIRD else weight / 20, trials=2)
    assert {trial.third for trial in trials} == {"lost 4 times: gone"}
    assert Counter(executor.started)["trial-0-seed-1002"] == 4
    assert winner(trials).mean == max(trial.mean for trial in trials)


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_pruning_stops_hopeless_trials_and_spares_the_unchanged(tune, slots):
    _, trials, executor = tune(lambda weight, seed: weight / 20, slots, trials=12, prune=True)
    states = Counter(trial.state for trial in trials)
    assert states["pruned"] >= 2
    assert states["complete"] >= 6
    assert trials[0].state == "complete"
    pruned = {trial.number for trial in trials if trial.state == "pruned"}
    assert {int(name.split("-")[1]) for name in executor.stopped} <= pruned
    assert all(trial.mean is None and trial.third is None for trial in trials if trial.number in pruned)
    assert winner(trials).values["training.length_weight"] == max(
        trial.values["training.length_weight"] for trial in trials
    )


def test_the_first_seed_of_every_trial_is_compared_with_also_of_the_unchanged(tune, tmp_path):
    _, trials, _ = tune(lambda weight, seed: weight / 20 + seed % 2 / 50, trials=6, prune=True)
    study = optuna.load_study(
        study_name=None, storage=JournalStorage(JournalFileBackend(str(tmp_path / JOURNAL)))
    )
    for trial, kept in zip(trials, study.trials, strict=True):
        whole = trial.values["training.length_weight"] / 20
        values = {epoch: whole * epoch / EPOCHS for epoch in range(1, EPOCHS + 1)}
        if trial.state == "complete":
            assert kept.intermediate_values == pytest.approx(values)


def test_without_pruning_nothing_is_stopped(tune):
    _, trials, executor = tune(lambda weight, seed: weight / 20, trials=12)
    assert (executor.stopped, {trial.state for trial in trials}) == ([], {"complete"})


class Killed(BaseException):
    """Whatever ends a process without its knowing."""


@pytest.mark.parametrize("when", [1, 3, 5, 8, 11, 14])
def test_a_search_that_is_cut_off_comes_to_the_same_end(tune, tmp_path, when):
    calls = []

    def outcome(weight, seed):
        calls.append(weight)
        if len(calls) == 3 * when:
            raise Killed
        return weight / 20

    with pytest.raises(Killed):
        tune(outcome)
    before = {trial.number: trial.values for trial in Store(plan_in(tmp_path), tmp_path).trials()}
    with (tmp_path / JOURNAL).open("a") as file:
        file.write('{"op_code": 5, "worker')  # and half a line
    _, trials, executor = tune(lambda weight, seed: weight / 20)
    assert {number: trials[number].values for number in before} == before
    assert [trial.number for trial in trials] == [0, 1, 2, 3, 4]
    drawn = {number: trial.values for number, trial in enumerate(trials)}
    (tmp_path / JOURNAL).unlink()
    _, others, _ = tune(lambda weight, seed: weight / 20)
    assert {number: trial.values for number, trial in enumerate(others)} == drawn
    assert winner(others).number == winner(trials).number
    assert max(Counter(executor.started).values()) == 1


def test_a_finished_search_has_nothing_left_to_do_and_can_be_extended(tune):
    _, trials, _ = tune(lambda weight, seed: weight / 20)
    _, again, executor = tune(lambda weight, seed: weight / 20)
    assert (again, executor.started) == (trials, [])
    _, more, executor = tune(lambda weight, seed: weight / 20, trials=6)
    assert [trial.values for trial in more[:5]] == [trial.values for trial in trials]
    assert len(more) == 7


def test_ctrl_c_stops_all_runs(tune, tmp_path):
    plan = plan_in(tmp_path)

    pressed: list[int] = []

    def outcome(weight, seed):
        if not pressed:
            pressed.append(seed)
            signal.raise_signal(signal.SIGINT)
        return 0.5

    executor = Pretended(outcome)
    store = Store(plan, tmp_path)
    assert not search(store, executor)
    assert sorted(executor.stopped) == sorted(executor.started) == ["trial-0-seed-1000", "trial-0-seed-1001"]
    assert [trial.state for trial in store.trials()] == ["running"]
    _, trials, executor = tune(lambda weight, seed: 0.5)
    assert "trial-0-seed-1000" in executor.started
    assert len(trials) == 5


def test_tpe_learns_from_trials(tune):
    _, trials, _ = tune(lambda weight, seed: weight / 20, trials=16, sampler="tpe")
    weights = [trial.values["training.length_weight"] for trial in trials[1:]]
    assert sum(weights[10:]) / 6 > sum(weights[:10]) / 10
