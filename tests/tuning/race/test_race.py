"""Who goes on to the next stage, who wins, and what is trained at last; nobody trains here."""

import json
import signal
from dataclasses import asdict, dataclass, replace

import pytest

from ftor.config import Config, ConfigError
from ftor.datasets.splits import load_splits
from ftor.errors import FtorError
from ftor.jobs import Failed, Finished, Started, run_jobs
from ftor.jobs.loop import LineBoard
from ftor.reporting import SILENT, Report
from ftor.text.seeds import derived_seed
from ftor.tuning.own_pairs import Request, plan_race
from ftor.tuning.race import finishing
from ftor.tuning.race.candidates import ANCHORED, SEQ2SEQ
from ftor.tuning.race.choice import Choice
from ftor.tuning.race.costs import START_SECONDS, Costs
from ftor.tuning.race.finishing import finish
from ftor.tuning.race.plan import Entry, allowed
from ftor.tuning.race.race import Race
from ftor.tuning.race.results import Result
from support.scripted_jobs import Scripted, record
from tuning.race.test_held_out import pairs_of

COLLAPSED = {"sample_tokens": 2.0, "reordering_entropy": 0.0, "identity": 1.0, "fertility_bound": 0.1}


@pytest.fixture
def plan(tmp_path):
    """Give the plan of a race without recombined pairs."""
    return replace(make_plan(tmp_path), recombines=False)


def make_plan(folder, **changes):
    path = folder / "pairs.tsv"
    path.write_text(
        "".join(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in pairs_of(200)), "utf-8"
    )
    request = Request.new(path, minutes=2, **changes)
    return plan_race(request, folder / "model", SILENT)


def entry_of(job):
    name, config = job.name, job.config
    final = name.startswith("final-")
    candidate = name.removeprefix("final-").rpartition("-")[0]
    return Entry(candidate, config.training.seed, config.training.epochs, final)


class Warnings(Report):
    """Keeps warnings."""

    def __init__(self):
        self.texts = []

    def warn(self, text):
        self.texts.append(text)


@dataclass
class NamedCalibration:
    """Says which run it was fitted for."""

    run: str

    def write(self, folder):
        (folder / "confidence.json").write_text(self.run)


@pytest.fixture(autouse=True)
def calibration_by_name(monkeypatch):
    """Runs have no real models here."""
    monkeypatch.setattr(finishing, "_calibration", lambda run, race, data_folder: NamedCalibration(run.name))


def raced(
    plan,
    score,
    stop_after=None,
    collapsed=lambda entry: False,
    made_score=None,
    grammar_loss=None,
    report=SILENT,
    board=lambda race: LineBoard(SILENT),
    seconds=lambda entry: 9.0,
    loss=lambda entry, score: 1 - score,
):
    """Race with runs whose scores a function of their entries tells. It may also tell a last event.

    With `made_score`, half of the pairs were made, and it tells their scores. With `grammar_loss`, there is a
    grammar, and scores are that much lower with it.
    """
    started = []

    def script(job):
        entry = entry_of(job)
        started.append(entry)
        if stop_after is not None and len(started) > stop_after:
            if len(started) == stop_after + 1:
                signal.raise_signal(signal.SIGINT)
            return [Started("here")]
        found = score(entry)
        if isinstance(found, Failed):
            return [Started("here"), found]
        job.folder.mkdir(parents=True, exist_ok=True)
        epoch = {"dev_loss": loss(entry, found)} | (COLLAPSED if collapsed(entry) else {})
        (job.folder / "log.jsonl").write_text(3 * (json.dumps(epoch) + "\n"))
        (job.folder / "config.toml").write_text(job.config.to_toml(), "utf-8")
        files = "metrics.json", "README.md", "model.safetensors", "checkpoint.safetensors", "confidence.json"
        for name in files:
            (job.folder / name).write_text(entry.run)
        results = {"dev": {"exact_match": found}, "test": None}
        if made_score is not None:
            made = made_score(entry)
            has_made = "a 0\t" in (plan.folder / "held-out.tsv").read_text()
            results = {
                "dev": {"exact_match": (found + made) / 2 if has_made else found},
                "test": {"exact_match": made},
            }
        if grammar_loss is not None:
            results["dev_grammar"] = {"exact_match": results["dev"]["exact_match"] - grammar_loss}
        return [
            Started("here"),
            Finished(record(job, **results, best_epoch=1, seconds=seconds(entry), dev_seconds=0.0)),
        ]

    race = Race(plan, report)
    run_jobs(race, Scripted(2, script), board(race))
    return race, started


def order(plan):
    return list(plan.candidates)


def test_the_better_ones_train_on_and_the_worst_seed_decides(plan):
    names = order(plan)
    scores = {name: 0.1 * place for place, name in enumerate(names)}

    def score(entry):
        if entry.final:
            return 0.9
        unlucky = entry.candidate == names[-1] and entry.seed == 1
        return 0.2 if unlucky else scores.get(entry.candidate, 0.0)

    race, started = raced(plan, score)
    trained = {
        name: max(entry.epochs for entry in started if entry.candidate == name and not entry.final)
        for name in names
    }
    assert trained[names[0]] == -(-plan.epochs // 8)
    longest = {name: plan.entry(name, 0, plan.epochs).epochs for name in names}
    assert {name for name in names if trained[name] == longest[name]} == {*names[-3:]}
    assert race.winner == names[-2]  # the last is better with one seed only
    assert race.promised == pytest.approx(scores[names[-2]])
    assert {entry.candidate for entry in started if entry.final} == {names[-2]}


def test_who_gains_most_goes_on_and_the_seq2seq_always(plan):
    stuck, slow = order(plan)[:3], order(plan)[4]

    def score(entry):
        if entry.candidate == slow:
            return 0.3 + 0.6 * entry.epochs / plan.epochs
        return 0.5 if entry.candidate in stuck else 0.1

    race, started = raced(plan, score)
    assert race.winner == slow
    assert [entry.epochs for entry in started if entry.candidate == "lstm"] == [plan.epochs]
    finals = [entry for entry in started if entry.epochs == plan.epochs and not entry.final]
    assert finals[0].candidate == "lstm"  # it takes longest


def test_a_third_finalist_gets_another_seed_if_those_before_it_were_lucky(plan):
    names = order(plan)
    first = {names[0]: 0.9, names[1]: 0.8, "lstm": 0.7}

    def score(entry):
        unlucky = entry.seed == 1 and entry.candidate != "lstm" and not entry.final
        return 0.5 if unlucky else first.get(entry.candidate, 0.1)

    race, started = raced(plan, score)
    assert plan.entry("lstm", 1, plan.epochs) in started
    assert (race.winner, race.promised) == ("lstm", 0.7)
    finals = [entry for entry in started if entry.final]
    assert [entry.seed for entry in finals] == [0, 1], "both are trained at once, then joined"
    assert {entry.epochs for entry in finals} == {plan.epochs}


def test_candidates_train_on_recombined_pairs_and_the_leader_also_without(plan):
    plan = replace(plan, recombines=True)
    leader = order(plan)[3]

    def score(entry):
        return 0.4 * entry.candidate.startswith(leader) + 0.2 * entry.candidate.endswith("+recombined")

    race, started = raced(plan, score)
    assert race.winner == f"{leader}+recombined"
    assert plan.config(race.final).training.recombine == 1
    assert "; recombined pairs" in Choice.of(race).reason
    plain = {entry.candidate for entry in started if not entry.candidate.endswith("+recombined")}
    assert plain == {leader, "lstm"}
    again = replace(plan, folder=plan.folder / "again")
    race, _ = raced(again, lambda entry: 0.6 if entry.candidate == leader else score(entry) - 0.2)
    assert race.winner == leader


@pytest.mark.parametrize("real", [0.9, 0.5])
def test_made_pairs_that_mislead_are_not_chosen_by(plan, real):
    """With recombined pairs the made ones are right, and perhaps fewer of the real ones."""
    held_out = {"random": 25, "harder": 25, "made longer": 50}
    plan = replace(plan, recombines=True, held_out=held_out)
    lines = [f"a {number}\tA {number}\n" for number in range(100)]
    (plan.folder / "held-out.tsv").write_text("".join(lines))
    (plan.folder / "real.tsv").write_text("".join(lines[50:]))
    leader = order(plan)[1]

    def is_recombined(entry):
        return entry.candidate.endswith("+recombined")

    def score(entry):
        if entry.final:
            return 0.9
        if not entry.candidate.startswith(leader):
            return 0.1
        return real if is_recombined(entry) else 0.9

    race, _ = raced(plan, score, made_score=lambda entry: 1.0 if is_recombined(entry) else 0.0)
    is_misled = real < 0.9
    assert race.winner == (leader if is_misled else f"{leader}+recombined")
    assert race.promised == pytest.approx(0.9 if is_misled else 0.95)
    assert race.plan.held_out["made longer"] == (0 if is_misled else 50)
    shares = [row[3] for row in Choice.of(race).rows if row[0] == race.winner]
    assert shares == ["90.0 %" if is_misled else "95.0 %"]
    left = (plan.folder / "held-out.tsv").read_text().splitlines(keepends=True)
    assert left == (lines[50:] if is_misled else lines)


def test_of_equal_candidates_the_first_wins_and_a_perfect_one_ends_the_race(plan):
    race, started = raced(plan, lambda entry: 1.0)
    assert race.winner == order(plan)[0]
    assert {entry.epochs for entry in started if not entry.final} == {-(-plan.epochs // 8)}
    longest = min(2 * plan.epochs, plan.wanted)  # there is time left
    assert longest > plan.epochs
    assert {entry.epochs for entry in started if entry.final} == {longest, -(-longest // 4)}


def score_of_lucky(plan, unlucky):
    """Return scores: the first is right on all pairs with its first seed only, and the seq2seq is better."""
    lucky = order(plan)[0]

    def score(entry):
        if entry.candidate.startswith(lucky) and not entry.final:
            return 1.0 if entry.seed == 0 else unlucky(entry)
        return 0.9 if entry.candidate == SEQ2SEQ or entry.final else 0.5

    return score


@pytest.mark.parametrize("recombines", [False, True])
def test_a_leader_that_is_right_with_one_seed_only_does_not_end_the_race(plan, recombines):
    """The others go on as if it had not led, so nobody gets less than the seq2seq gives."""
    plan = replace(plan, recombines=recombines)
    race, started = raced(plan, score_of_lucky(plan, lambda entry: 0.6))
    assert (race.winner, race.promised) == (SEQ2SEQ, 0.9)
    assert {plan.entry(SEQ2SEQ, seed, plan.epochs) for seed in (0, 1)} <= {*started}
    longest = [
        name for name in plan.contenders if plan.entry(name, 0, plan.epochs) in started and name != SEQ2SEQ
    ]
    assert len(longest) > 1, "contenders that were behind the leader are trained to the end, too"
    assert {entry.epochs for entry in started if entry.final} == {plan.epochs}
    assert "you get a plain seq2seq" in Choice.of(race).reason


def test_a_leader_that_is_right_with_both_seeds_a_little_later_ends_the_race(plan):
    short = -(-plan.epochs // 8)
    race, started = raced(plan, score_of_lucky(plan, lambda entry: 0.6 if entry.epochs == short else 1.0))
    assert (race.winner, race.promised) == (order(plan)[0], 1.0)
    assert {entry.epochs for entry in started if not entry.final} == {short, -(-plan.epochs // 4)}
    assert SEQ2SEQ not in {entry.candidate for entry in started}


@pytest.mark.parametrize("recombines", [False, True])
def test_a_candidate_that_learns_slowly_joins_at_the_end_with_more_epochs(plan, recombines):
    slow = replace(plan.candidates["taught"], name=ANCHORED)
    plan = replace(plan, recombines=recombines, candidates={**plan.candidates, ANCHORED: slow})
    race, started = raced(plan, lambda entry: 0.9 if entry.candidate.startswith(ANCHORED) else 0.5)
    name = race.winner
    assert name.startswith(ANCHORED)
    longest = plan.entry(name, 0, plan.epochs)
    assert {entry for entry in started if entry.candidate == name and not entry.final} == {
        longest,
        replace(longest, seed=1),
    }
    assert longest.epochs > plan.entry("taught+recombined" if recombines else "taught", 0, plan.epochs).epochs
    rows = Choice.of(race).rows
    assert sum(row[0] != name and "given up" not in row[3] for row in rows) >= 2, rows


def test_leaders_that_are_right_with_one_seed_only_take_no_longer_than_planned(plan):
    """Their second seeds are those that finalists have anyway."""
    plan, seconds, before = replace(plan, recombines=True), 0.0, {}
    _, started = raced(plan, lambda entry: 1.0 if entry.seed == 0 and entry.candidate != SEQ2SEQ else 0.6)
    for entry in started:
        cost = plan.pair_seconds * plan.cost(entry)
        seconds += START_SECONDS + cost - before.get(entry.run, 0.0)
        before[entry.run] = cost
    costs = Costs(plan.look, list(plan.candidates.values()), plan.rescores, cores=1)
    assert max(entry.epochs for entry in started) == plan.epochs
    assert seconds / 60 == pytest.approx(costs.minutes(plan.epochs), rel=0.15)


def test_what_an_early_leader_promised_with_both_seeds_is_not_lost(plan):
    """Others gain so much that they go on in its place, and then gain nothing."""
    names = order(plan)
    short = -(-plan.epochs // 8)

    def score(entry):
        if entry.candidate == names[0]:
            return 1.0 if (entry.seed, entry.epochs) == (0, short) else 0.8
        return 0.3 if entry.epochs == short else 0.6

    race, _ = raced(plan, score)
    assert (race.winner, race.promised) == (names[0], 0.8)


def test_candidates_that_are_often_wrong_and_gain_train_on(plan):
    """Not those that are far behind, but always the seq2seq."""
    names, most = order(plan), plan.epochs
    plan = replace(plan, may_take_longer=True, wanted=3 * most)

    def score(entry):
        if entry.candidate == names[0]:
            return min(0.6 * entry.epochs / most, 0.85)
        return 0.5 if entry.candidate == SEQ2SEQ else 0.01

    race, started = raced(plan, score)
    assert (race.winner, race.promised) == (names[0], 0.85)
    assert {entry.candidate for entry in started if entry.epochs > most and not entry.final} == {
        names[0],
        SEQ2SEQ,
    }
    second = [entry for entry in started if entry.candidate == names[0] and entry.seed == 1]
    assert [entry.epochs for entry in second if not entry.final] == [most, 2 * most, 3 * most]
    assert race.final.epochs == 3 * most, "as many on all pairs"
    assert not Choice.of(race).short


@pytest.mark.parametrize(
    ("settings", "score", "times"),
    [
        ({}, lambda epochs, most: 0.2 * epochs / most, 4),
        ({}, lambda epochs, most: 0.5, 1),
        ({}, lambda epochs, most: 0.95 * min(epochs / most, 1), 1),
        ({}, lambda epochs, most: min(0.2 * epochs / most, 0.4), 4),
        ({"may_take_longer": False}, lambda epochs, most: 0.3 * epochs / most, 1),
    ],
    ids=["gains", "gains nothing", "is good", "gains until then", "the user has a limit"],
)
def test_how_long_hard_pairs_are_trained(plan, settings, score, times):
    plan = replace(plan, **{"may_take_longer": True, "wanted": 100 * plan.epochs} | settings)
    names = order(plan)
    _, started = raced(
        plan, lambda entry: score(entry.epochs, plan.epochs) if entry.candidate == names[0] else 0.01
    )
    assert max(entry.epochs for entry in started if entry.candidate != SEQ2SEQ) == times * plan.epochs


def test_only_a_race_without_a_limit_may_take_longer(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a {n}\tb {n}\n" for n in range(60)), "utf-8")
    plans = [plan_race(Request.new(path, minutes=minutes), tmp_path / "m", SILENT) for minutes in (None, 3)]
    assert [plan.may_take_longer for plan in plans] == [True, False]


@pytest.mark.parametrize("share", [0.7, 1.0])
def test_of_candidates_that_are_equally_wrong_the_one_with_the_smallest_loss_wins(plan, share):
    names = order(plan)
    losses = {name: 3.0 - place for place, name in enumerate(names[:3])} | {SEQ2SEQ: 0.0}
    race, _ = raced(plan, lambda entry: share, loss=lambda entry, _: losses.get(entry.candidate, 5.0))
    assert race.winner == names[0 if share == 1.0 else 2]


def test_of_equal_ones_that_with_recombined_pairs_wins_because_it_has_seen_longer_ones(plan):
    race, _ = raced(replace(plan, recombines=True), lambda entry: 1.0)
    assert race.winner == f"{order(plan)[0]}+recombined"


@pytest.mark.parametrize(("loss", "wins"), [(0.03, True), (0.2, False)])
def test_recombined_pairs_are_left_out_only_if_the_winner_is_worse_with_them(tmp_path, loss, wins):
    plan = replace(make_plan(tmp_path), recombines=True)

    def score(entry, seq2seq):
        made = entry.candidate.endswith("+recombined")
        return seq2seq if entry.candidate == SEQ2SEQ else 0.9 - loss * made

    race, _ = raced(plan, lambda entry: score(entry, 0.5))
    assert race.winner.endswith("+recombined") == wins
    assert race.promised == pytest.approx(0.9 - loss * wins)
    assert ("That may be chance" in Choice.of(race).reason) == wins
    again = replace(plan, folder=plan.folder / "again")
    assert not raced(again, lambda entry: score(entry, 0.89))[0].winner.endswith("+recombined")


def test_a_final_model_below_its_promise_is_trained_with_other_seeds(plan):
    race, started = raced(plan, lambda entry: 0.3 if entry.final and entry.seed < 4 else 0.9)
    assert [entry.seed for entry in started if entry.final] == [0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 4, 5]
    assert race.final.seed == 4
    assert not race.below_promise
    race, started = raced(replace(plan, folder=plan.folder / "again"), lambda e: 0.3 if e.final else 0.9)
    assert race.below_promise
    assert "worse than that" in Choice.of(race).reason


def test_seeds_that_are_better_after_a_while_go_on(plan):
    race, started = raced(plan, lambda entry: 0.9 if not entry.final or entry.seed == 3 else 0.8)
    finals = [(entry.seed, entry.epochs) for entry in started if entry.final]
    assert finals[:4] == [(seed, -(-plan.epochs // 4)) for seed in range(4)]
    assert finals[4:] == [(3, plan.epochs), (0, plan.epochs)]
    assert race.final.seed == 3


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_a_grammar_that_makes_the_winner_worse_is_told(plan, loss):
    report = Warnings()
    raced(plan, lambda entry: 0.9, grammar_loss=loss, report=report)
    assert [text for text in report.texts if "try --grammar none" in text] == (
        ["taught is right on 90.0 % of the held-out pairs without the grammar, and on 60.0 % with it; try "
         "--grammar none"] if loss else []
    )  # fmt: skip


def test_candidates_that_fail_lose(plan):
    names = order(plan)
    broken = Failed("it broke")
    race, _ = raced(plan, lambda entry: 0.5 if entry.candidate == names[2] else broken)
    assert race.winner == names[2]
    assert {run.problem for run in Choice.of(race).best_of_each} == {None, "it broke"}


@pytest.mark.parametrize("done", [0, 3, 11])
def test_a_race_that_was_stopped_goes_on_to_the_same_end(tmp_path, done):
    def score(entry):
        return derived_seed(entry.candidate, entry.seed, entry.epochs) % 90 / 100

    (tmp_path / "whole").mkdir(), (tmp_path / "parts").mkdir()
    whole, started = raced(make_plan(tmp_path / "whole"), score)
    plan = make_plan(tmp_path / "parts")
    _, before = raced(plan, score, stop_after=done)
    assert len(before) < len(started)
    race, after = raced(plan, score)
    assert (race.winner, race.final, race.results) == (whole.winner, whole.final, whole.results)
    assert len(after) <= len(started) - done


def test_the_model_moves_into_its_folder_with_its_choice(plan, tmp_path):
    race, _ = raced(plan, lambda entry: 1.0 if entry.candidate == "lstm" else 0.2)
    choice = finish(race, tmp_path / "model")
    assert (tmp_path / "model" / "model.safetensors").read_text() == "final-lstm-0"
    assert (tmp_path / "model" / "checkpoint.safetensors").exists()
    assert not (plan.folder / "runs").exists()
    assert Choice.read(tmp_path / "model") == choice
    assert Config.load(tmp_path / "model" / "config.toml").data.dev == "race/held-out.tsv"
    assert "you get a plain seq2seq" in choice.reason
    card = (tmp_path / "model" / "README.md").read_text()
    assert all(f"| {one.name} | {one.meaning} |" in card for one in plan.candidates.values())


@pytest.mark.parametrize(
    ("winner", "share", "single", "together", "members"),
    [
        ("taught", 0.8, 0.8, 0.8, 2),
        ("taught", 0.8, 0.8, 0.79, 2),
        ("taught", 0.8, 0.8, 0.6, 1),  # together they are worse
        ("taught", 0.8, 1.0, 0.99, 2),  # the held-out pairs are training pairs now
        ("taught", 1.0, 1.0, 1.0, 1),  # one of them is enough
        ("autoregressive", 0.8, 0.8, 0.8, 2),
        ("lstm", 0.8, 0.8, 0.8, 2),
        ("lstm", 1.0, 1.0, 1.0, 1),
    ],
)
def test_two_models_of_hard_pairs_write_together(
    plan, tmp_path, monkeypatch, winner, share, single, together, members
):
    joined = []

    def join(runs, folder, data_folder):
        joined.extend(run.name for run in runs)
        folder.mkdir()
        for file in runs[0].iterdir():
            (folder / file.name).write_text(file.read_text("utf-8"), "utf-8")
        (folder / "model.safetensors").write_text("both")
        return together

    monkeypatch.setattr(finishing, "join", join)

    def score(entry):
        right = single - (entry.seed == 1) / 10 if entry.final else share
        return right if entry.candidate == winner else 0.2

    race, _ = raced(plan, score)
    assert race.winner == winner
    choice = finish(race, tmp_path / "model")
    weights = (tmp_path / "model" / "model.safetensors").read_text()
    assert weights == ("both" if members == 2 else f"final-{winner}-0")
    assert choice.settings.get("model.members", 1) == members
    assert ("write together" in choice.reason) == (members == 2)
    assert choice.kept
    can_be_joined = share < 1.0
    second = 1 if winner == "lstm" else 2  # of four seeds, the second is unlucky
    assert joined == ([f"final-{winner}-0", f"final-{winner}-{second}"] if can_be_joined else [])


@pytest.mark.parametrize(("setting", "members"), [("model.members=1", 1), ("members = 2", 2)])
def test_models_are_not_joined_if_the_user_sets_their_members(tmp_path, monkeypatch, setting, members):
    plan = replace(make_plan(tmp_path, overrides=[setting]), recombines=False)
    monkeypatch.setattr(finishing, "join", lambda *arguments: pytest.fail("joined"))
    race, _ = raced(plan, lambda entry: 0.8 if entry.candidate == "taught" else 0.2)
    finish(race, tmp_path / "model")
    assert Config.load(tmp_path / "model" / "config.toml").model.members == members


@pytest.mark.parametrize(("rescorer", "joins"), [("none", True), ("lstm", False)])
def test_models_that_train_layers_of_a_reader_are_joined_unless_they_have_a_rescorer(
    tmp_path, monkeypatch, rescorer, joins
):
    joined = []
    monkeypatch.setattr(finishing, "join", lambda runs, *arguments: joined.append(runs) or 0.0)
    overrides = "model.reader=x", "model.reader_layers=1", f"model.rescorer={rescorer}"
    plan = make_plan(tmp_path)
    some = allowed(plan.look, overrides)
    plan = replace(plan, candidates=some, recombines=False, overrides=overrides)
    race, _ = raced(plan, lambda entry: 0.8 if entry.candidate == "taught" else 0.2)
    finish(race, tmp_path / "model")
    assert bool(joined) == joins


def test_there_is_no_confidence_if_the_user_wants_none(tmp_path):
    plan = replace(make_plan(tmp_path, overrides=["training.confidence=false"]), recombines=False)
    race, _ = raced(plan, lambda entry: 1.0 if entry.candidate == "taught" else 0.2)
    finish(race, tmp_path / "model")
    assert not (tmp_path / "model" / "confidence.json").exists()


def test_the_confidence_is_that_of_a_run_that_did_not_see_the_held_out_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(finishing, "join", lambda runs, folder, data_folder: 0.0)
    for dev, wanted in ((0, "taught-0"), (9, "final-taught-0")):
        (tmp_path / str(dev)).mkdir()
        plan = make_plan(tmp_path / str(dev))
        plan = replace(plan, held_out=plan.held_out | {"dev": dev}, recombines=False)
        race, started = raced(plan, lambda entry: 0.8 if entry.candidate == "taught" else 0.2)
        assert len({entry.epochs for entry in started if entry.candidate == "taught"}) > 1
        finish(race, tmp_path / str(dev) / "model")
        assert (tmp_path / str(dev) / "model" / "confidence.json").read_text() == wanted


def test_a_race_that_was_stopped_can_be_moved(tmp_path):
    """Runs name the files of their race by its place beside them, so their configurations stay the same."""
    plans = []
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        plans.append(make_plan(tmp_path / name))
    one, other = (plan.config(Entry("taught", 0, 8)) for plan in plans)
    assert (one.data.train, one.data.dev) == ("../../train.tsv", "../../held-out.tsv")
    assert one.hash == other.hash
    for plan in plans:
        splits = load_splits(one, None, plan.folder / "runs" / "taught-0", SILENT)
        assert splits.paths["train"] == plan.folder / "train.tsv"


@pytest.mark.parametrize("recovers", [True, False])
def test_a_candidate_that_collapses_is_tried_with_another_seed(plan, recovers):
    """It goes on with the better of the two, and each run has one more try at most."""
    unlucky = order(plan)[1]

    def score(entry):
        if entry.candidate != unlucky or entry.final:
            return 0.5
        return (0.9 if recovers else 0.01) if entry.seed >= 1000 else 0.02

    def collapsed(entry):
        return entry.candidate == unlucky and (entry.seed < 1000 or not recovers)

    race, started = raced(plan, score, collapsed=collapsed)
    seeds = [entry.seed for entry in started if entry.candidate == unlucky and not entry.final]
    assert (race.winner == unlucky) == recovers
    assert seeds[:2] == [0, 1000]
    assert seeds.count(0) == 1 or not recovers
    assert len(set(started)) == len(started)


def test_a_collapsed_run_that_was_replaced_tells_nothing_about_the_winner(plan, monkeypatch):
    monkeypatch.setattr(finishing, "join", lambda runs, folder, data_folder: 0.0)
    unlucky = order(plan)[0]

    def collapsed(entry):
        return (
            entry.candidate == unlucky and entry.epochs == plan.epochs and entry.seed == 0 and not entry.final
        )

    def score(entry):
        return 0.02 if collapsed(entry) else 0.9 if entry.candidate == unlucky else 0.5

    race, started = raced(plan, score, collapsed=collapsed)
    assert race.winner == unlucky
    assert Entry(unlucky, 1000, plan.epochs) in started
    choice = finish(race, plan.folder.parent)
    assert {row[0]: row[3] for row in choice.rows}[unlucky] == "90.0 %"
    assert (plan.folder.parent / "confidence.json").read_text() != f"{unlucky}-0"


def test_candidates_with_recombined_pairs_have_their_place_in_the_table(tmp_path):
    """Half of the epochs are as many steps for them."""
    plan = replace(make_plan(tmp_path), recombines=True)
    leader = order(plan)[1]
    race, _ = raced(plan, lambda entry: 0.9 if entry.candidate == f"{leader}+recombined" else 0.5)
    rows = Choice.of(race).rows
    assert rows[0][0] == race.winner == f"{leader}+recombined"
    assert int(rows[0][2]) < max(int(row[2]) for row in rows)


def test_candidates_that_were_given_up_come_last_and_are_marked(plan):
    """The seq2seq comes in at the end, where nothing is given up any more."""
    better = order(plan)[1]
    race, _ = raced(plan, lambda entry: 0.3 if entry.candidate in (better, "lstm") else 0.2)
    marks = [row[3].endswith(", given up") for row in Choice.of(race).rows]
    assert marks == sorted(marks)
    assert any(marks)
    whole = {row[0] for row, mark in zip(Choice.of(race).rows, marks, strict=True) if not mark}
    assert {race.winner, "lstm"} <= whole


@pytest.mark.parametrize(
    ("best", "other", "reason"),
    [
        (0.5, 0.4, ""),
        (0.5, 0.5, "At equal shares the mean of the seeds decides"),
        (1.0, 1.0, "the first in the list is taken"),
    ],
)
def test_the_reason_says_what_decides_at_equal_shares(plan, best, other, reason):
    """The second seed of the winner is better than that of its rival."""
    rival, winner = order(plan)[:2]

    def score(entry):
        second = 0.1 * (entry.seed == 1 and best < 1)
        return {winner: best + second, rival: other}.get(entry.candidate, 0.2)

    race, _ = raced(plan, score)
    assert race.winner == (rival if best == 1 else winner)
    found = Choice.of(race).reason
    assert reason in found
    assert ("At equal shares" in found) == reason.startswith("At equal")


def test_a_collapse_that_costs_nothing_is_not_tried_again(plan):
    _, started = raced(plan, lambda entry: 0.5, collapsed=lambda entry: True)
    assert all(entry.seed < 1000 for entry in started)


def test_a_collapse_is_not_tried_again_if_another_candidate_is_right_on_all_pairs(plan):
    leader = order(plan)[2]
    _, started = raced(
        replace(plan, folder=plan.folder / "again"),
        lambda entry: 1.0 if entry.candidate == leader else 0.2,
        collapsed=lambda entry: entry.candidate != leader,
    )
    assert all(entry.seed < 1000 for entry in started)


def test_short_runs_that_gave_little_are_told(tmp_path):
    plan = replace(make_plan(tmp_path), recombines=False)
    assert plan.epochs < plan.wanted
    race, _ = raced(plan, lambda entry: 0.5)
    assert "more --minutes may help" in Choice.of(race).reason


def test_quick_trains_the_first_candidate_once(tmp_path):
    plan = make_plan(tmp_path, quick=True)
    race, started = raced(plan, lambda entry: 0.5)
    assert [(entry.candidate, entry.final) for entry in started] == [("taught", True)]
    choice = Choice.of(race)
    assert choice.promised is None
    card = tmp_path / "README.md"
    card.write_text("# pairs\n")
    choice.write(tmp_path)
    assert card.read_text() == f"# pairs\n\n## How the settings were chosen\n\n{choice.reason}\n"


def test_what_the_user_sets_is_in_every_run_and_equal_candidates_are_one(tmp_path):
    plan = make_plan(tmp_path, overrides=["model.order=fertility", "training.batch_size=5"])
    configs = [plan.config(Entry(name, 0, 8)) for name in plan.candidates]
    assert {config.model.order for config in configs} == {"fertility"}
    assert {config.training.batch_size for config in configs} == {5}
    assert "lstm" not in plan.candidates
    assert len({config.hash for config in configs}) == len(configs)


def test_a_setting_that_fits_no_candidate_is_an_error(plan):
    with pytest.raises(ConfigError, match=r"training\.epoch: unknown key"):
        allowed(plan.look, ["training.epoch=3"])


def test_runs_of_a_race_never_see_test_pairs(tmp_path):
    test = tmp_path / "test.tsv"
    test.write_text("a b\tA B\n")
    plan = make_plan(tmp_path, test=test)
    assert plan.config(Entry("taught", 0, 8)).data.test == "../../made.tsv"
    assert plan.config(Entry("taught", 0, 8, final=True)).data.test == str(test)


@pytest.fixture
def program_plan(tmp_path):
    """Give the plan of a long race for short programs, without recombined pairs."""
    return plan_programs(tmp_path, minutes=20)


def plan_programs(tmp_path, minutes, report=SILENT):
    path = tmp_path / "programs.tsv"
    kinds, things = ("red", "dark", "warm", "cold", "new", "old", "wet", "dry"), "abcdefghijklmnopqrstuvwxy"
    lines = [f"the {a} n{b}\t(find (is {a.upper()}) (has x{b}))\n" for a in kinds for b in things]
    path.write_text("".join(lines), "utf-8")
    return replace(
        plan_race(Request.new(path, minutes=minutes), tmp_path / "model", report), recombines=False
    )


def test_there_is_no_rescorer_if_runs_would_be_too_short(tmp_path, program_plan):
    (tmp_path / "short").mkdir()
    short = plan_programs(tmp_path / "short", minutes=2)
    assert (program_plan.rescores, short.rescores) == (True, False)
    assert short.rescored("words-first") is None
    costs = Costs(short.look, list(short.candidates.values()), False, cores=2)
    assert costs.affordable_epochs(2) == short.epochs
    assert replace(costs, rescores=True).affordable_epochs(2) < short.epochs
    assert costs.minutes(costs.affordable_epochs(5)) == pytest.approx(5, abs=0.3)


def test_the_seq2seq_has_more_epochs_for_short_programs(tmp_path, plan):
    (tmp_path / "short").mkdir()
    programs = plan_programs(tmp_path / "short", minutes=2)
    assert programs.wanted > programs.epochs
    longer = min(2 * programs.epochs, programs.wanted)
    assert programs.entry("lstm", 0, programs.epochs).epochs == longer > programs.epochs
    assert programs.entry("taught", 0, programs.epochs).epochs == programs.epochs
    assert plan.entry("lstm", 0, plan.epochs).epochs == plan.epochs  # these are no programs


def test_the_minutes_that_are_named_are_enough_for_the_rescorer(tmp_path):
    """With more time the race has one, which takes a part of it."""
    said, report = [], Report()
    report.say = said.append
    for folder in ("short", "long"):
        (tmp_path / folder).mkdir()
    short = plan_programs(tmp_path / "short", 3, report)
    (minutes,) = (int(text.split()[-1]) for text in said if "the data would like" in text)
    longer = plan_programs(tmp_path / "long", minutes)
    assert (short.rescores, longer.rescores) == (False, True)
    assert short.epochs < longer.epochs == longer.wanted


def test_the_best_transducer_gets_a_rescorer_if_it_is_not_right_on_all_pairs(program_plan):
    def score(entry):
        return 0.8 if "rescored" in entry.candidate else 0.7 if entry.candidate == "words-first" else 0.5

    race, started = raced(program_plan, score)
    rescored = [entry for entry in started if "rescored" in entry.candidate and not entry.final]
    assert {(entry.candidate, entry.seed) for entry in rescored} == {
        ("words-first+rescored", seed) for seed in (0, 1)
    }
    assert race.winner == "words-first+rescored"
    assert {entry.seed for entry in started if entry.final} == {0, 1}
    final = race.plan.config(next(entry for entry in started if entry.final)).model
    assert (final.rescorer, final.order) == ("lstm", "reordering-fertility")


def test_a_race_of_another_version_is_refused(plan):
    line = {"entry": asdict(Entry("tilted", 0, 2)), "result": {"score": 0.5, "loss": 1.0, "seconds": 1.0}}
    (plan.folder / "results.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    with pytest.raises(FtorError, match="there is no candidate tilted now"):
        Race(plan, SILENT)


def test_a_candidate_has_one_rescorer_at_most(program_plan):
    assert program_plan.rescored("taught+recombined") == "taught+rescored+recombined"
    assert program_plan.rescored("taught+rescored+recombined") is None


def test_pairs_that_are_all_right_need_no_rescorer(program_plan):
    _, started = raced(program_plan, lambda entry: 1.0)
    assert not any("rescored" in entry.candidate for entry in started)


def test_settings_of_the_user_that_exclude_a_rescorer_are_kept(program_plan):
    some = allowed(program_plan.look, ["model.rescorer=none"])
    plan = replace(program_plan, candidates=some, overrides=("model.rescorer=none",))
    _, started = raced(plan, lambda entry: 0.5)
    assert not any("rescored" in entry.candidate for entry in started)


class Noting(LineBoard):
    """Keeps the seconds that a race says are to come after its stage."""

    def __init__(self, race):
        super().__init__(SILENT)
        self.race, self.noted = race, []

    def changed(self, status):
        if status.state == "done":
            self.noted.append((len(self.race.results), self.race.seconds_to_come(None)))


def noted_and_spent(plan, score):
    """Race with runs that take as long as planned. Return what was noted, and the seconds of each run."""
    plan, boards = replace(plan, pair_seconds=0.01), []

    def board(race):
        boards.append(Noting(race))
        return boards[0]

    _, started = raced(plan, score, board=board, seconds=lambda entry: 0.01 * plan.cost(entry))
    seconds, before = [], {}
    for entry in started:
        seconds.append(1.5 + 0.01 * (plan.cost(entry) - before.get(entry.run, 0.0)))
        before[entry.run] = plan.cost(entry)
    done, left = boards[0].noted[-1]
    assert (done, left) == (len(started), 0)
    return boards[0].noted, seconds


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_time_left_counts_all_stages_to_come(plan, share):
    """Candidates stay as good as they are and take as long as planned, so the estimate is exact."""
    names = order(plan)

    def score(entry):
        return share if entry.final else share - 0.01 * names.index(entry.candidate)

    noted, seconds = noted_and_spent(plan, score)
    first = len(names) - 1
    done, left = noted[first - 1]
    assert done == first
    assert left == pytest.approx(sum(seconds[first:]))


def test_the_time_left_counts_the_whole_race_once_the_leader_is_wrong_with_its_second_seed(plan):
    """The seq2seq, for which there are no results, is imagined to be bad, so it is so here."""
    names = order(plan)

    def score(entry):
        if entry.final or (entry.candidate, entry.seed) == (names[0], 1):
            return 0.6
        return 1.0 if entry.candidate == names[0] else 0.5 * (entry.candidate != SEQ2SEQ)

    noted, seconds = noted_and_spent(plan, score)
    both = len(names)  # the contenders, and the leader's second seed
    done, left = noted[both - 1]
    assert done == both
    assert left == pytest.approx(sum(seconds[both:]))
    _, before = noted[both - 2]
    assert before < left


def test_the_time_left_begins_as_planned_and_ignores_what_runs_tell_at_their_start(plan):
    race = Race(plan, SILENT)
    race.extend()
    here = sum(status.expected for status in race.statuses)
    minutes = (here + race.seconds_to_come(None)) / 60 / 2  # two cores
    assert minutes == pytest.approx(2, rel=0.25)
    first, second = race.statuses[:2]
    for status in (first, second):
        status.state, status.share, status.left = "running", 0.01, 9000.0
    race.results[entry_of(first.job)] = Result(0.5, 0.1, seconds=9.0)
    left = race.seconds_to_come(None)
    anew = Race(plan, SILENT)
    anew.extend()
    anew.results.update(race.results)
    assert left == anew.seconds_to_come(None) < 3600


def test_the_time_of_compiling_is_not_that_of_runs_to_come(plan):
    race = Race(plan, SILENT)
    race.extend()
    status = race.statuses[0]
    status.state, status.share, status.left = "running", 0.5, 4.5
    race.seconds_to_come(None)
    race.results[entry_of(status.job)] = Result(0.5, 0.1, seconds=90.0)
    left = race.seconds_to_come(None)
    anew = Race(plan, SILENT)
    anew.extend()
    anew.results[entry_of(status.job)] = Result(0.5, 0.1, seconds=9.0)
    assert left == anew.seconds_to_come(None)
