"""Several models that answer together: by their mean, by the scores of others, or by mean weights."""

import json
import math
import shutil

import pytest
import torch

import ftor
from ftor.config import Config
from ftor.datasets.mirror import mirror
from ftor.errors import FtorError
from ftor.model.committee import SHARES, UNWRITABLE, Committee
from ftor.model.folder import COMMITTEE_FILE, is_model
from ftor.model.tensors import CheckpointError, load_tensors
from ftor.text.reading import write_pairs
from ftor.training.joining import join
from support import tiny
from support.tiny import run_here

SENTENCES = ["a b c", "k", "d c b a e f", "a a"]
LSTM = {"model.architecture": "lstm", "model.width": 8, "model.hidden": 6, "model.max_steps": 12}


def trained_with(data, once, name, settings):
    def train(folder):
        finished = run_here(*tiny.train_arguments(data, folder / "run", settings))
        assert finished.code == 0, finished.err

    return once(f"committee-{name}", train) / "run"


@pytest.fixture(scope="session")
def second(data, once):
    """Give another seed of the run `trained`. Read only."""
    return trained_with(data, once, "second", {"training.seed": 1})


@pytest.fixture(scope="session")
def lstm(data, once):
    """Give the folder of an LSTM on the same pairs. Read only."""
    return trained_with(data, once, "lstm", LSTM)


@pytest.fixture(scope="session")
def pairs(once):
    """Give a file of pairs. Read only."""
    return once("committee-pairs", lambda f: write_pairs(mirror(30, range(2, 4), seed=9), f / "dev.tsv")) / (
        "dev.tsv"
    )


def answers(model, **options):
    found = model.predict(SENTENCES, structure=False, **options)
    return [[(one.text, one.score), *((o.text, o.score) for o in one.alternatives)] for one in found]


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert [text for text, _ in one] == [text for text, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-4)


@pytest.mark.parametrize("how", ["log", "arithmetic", "soup"])
def test_a_model_with_itself_is_the_model(trained, how):
    model = ftor.load([trained, trained], committee=how)
    same(answers(model, n_best=4), answers(ftor.load(trained), n_best=4, confidence=False))


def test_the_mean_is_that_of_the_configuration_unless_it_is_given(trained, second, tmp_path):
    assert ftor.load([trained, second]).mean == "log"
    shutil.copytree(trained, tmp_path / "own")
    config = Config.load(trained / "config.toml", ["decoding.committee=arithmetic"])
    (tmp_path / "own" / "config.toml").write_text(config.to_toml())
    assert ftor.load([tmp_path / "own", second]).mean == "arithmetic"
    assert ftor.load([tmp_path / "own", second], committee="log").mean == "log"
    assert ftor.load([second, tmp_path / "own"]).mean == "log", "the first leads"


def test_transducers_are_averaged_before_the_search(trained, second):
    one, other = ftor.load(trained), ftor.load(second)
    both = ftor.load([trained, second])
    assert (len(both.network.members), both.scorers) == (2, ())
    for prediction in both.predict(SENTENCES, n_best=5):
        for found in (prediction, *prediction.alternatives):
            source = " ".join(prediction.source[1:])
            scores = [model.score([source], [found.text])[0].score for model in (one, other)]
            assert found.score == pytest.approx(sum(scores) / 2, abs=1e-3)
        assert prediction.structure.alignment.shape == (len(prediction.source), prediction.length)


def test_models_of_different_tasks_do_not_answer_together(trained, tmp_path):
    for name in ("train", "dev", "test"):
        write_pairs(
            [("turn on the fan", "Fan On"), ("turn off the fan", "Fan Off")], tmp_path / f"{name}.tsv"
        )
    finished = run_here(*tiny.train_arguments(tmp_path, tmp_path / "run", {"training.epochs": 1}))
    assert finished.code == 0, finished.err
    with pytest.raises(FtorError, match=r"run writes 0 of the \d+ words that .*expected models of one task"):
        ftor.load([trained, tmp_path / "run"])
    assert run_here("predict", trained, tmp_path / "run", "a b").code == 1


class TestScorers:
    @pytest.mark.parametrize("weight", [0.3, 0.9])
    def test_the_weighted_mean_of_scores_chooses(self, trained, second, lstm, weight):
        model = ftor.load([lstm, trained, second])
        assert model.weights == pytest.approx((2 / 3, 1 / 3))
        model.weights = (1 - weight, weight)
        leaders, scorer = ftor.load([trained, second]), ftor.load(lstm)
        for sentence, found in zip(SENTENCES, answers(model, n_best=20), strict=True):
            (candidates,) = leaders.predict([sentence], n_best=20)
            texts = [candidates.text, *(one.text for one in candidates.alternatives)]
            scores = [candidates.score, *(one.score for one in candidates.alternatives)]
            others = [one.score for one in scorer.score([sentence] * len(texts), texts)]
            totals = {
                text: (1 - weight) * own + weight * max(its, UNWRITABLE)
                for text, own, its in zip(texts, scores, others, strict=True)
            }
            wanted = sorted(totals, key=lambda text: -totals[text])
            assert [text for text, _ in found] == wanted
            assert [s for _, s in found] == pytest.approx([totals[text] for text in wanted], abs=1e-4)

    def test_a_model_of_two_members_counts_as_two(self, trained, second, lstm, tmp_path):
        join([trained, second], tmp_path / "joined")
        assert ftor.load([tmp_path / "joined", lstm]).weights == pytest.approx((2 / 3, 1 / 3))

    def test_weights_are_those_with_the_most_right_answers(self, trained, lstm, pairs):
        model = ftor.load([trained, lstm])
        model.fit_weights(pairs)
        chosen = model.weights
        assert sum(chosen) == pytest.approx(1)
        best = model.evaluate(pairs).exact_match
        for share in SHARES[::4]:
            model.weights = (1 - share, share)
            assert model.evaluate(pairs).exact_match <= best + 1e-9


def test_a_folder_of_a_committee(trained, second, lstm, pairs, tmp_path):
    finished = run_here("calibrate", trained, second, lstm, pairs, "--out", tmp_path / "all")
    assert finished.code == 0, finished.err
    assert "calibrated: " in finished.out
    model = ftor.load(tmp_path / "all")
    assert isinstance(model, Committee)
    assert is_model(str(tmp_path / "all"))
    again = ftor.load([trained, second, lstm])
    again.calibrate(pairs)
    assert model.weights == pytest.approx(again.weights)
    same(answers(model), answers(again))
    (one,) = model.predict(["a b"], min_confidence=0.0)
    assert one.confidence == pytest.approx(again.predict(["a b"])[0].confidence, abs=1e-4)
    before = (tmp_path / "all" / COMMITTEE_FILE).read_text()
    assert run_here("calibrate", tmp_path / "all", pairs).code == 0
    assert (tmp_path / "all" / COMMITTEE_FILE).read_text() == before
    assert run_here("evaluate", tmp_path / "all", pairs).code == 0
    description = json.loads(before) | {"weights": [0.5, 0.25, 0.25]}
    (tmp_path / "all" / COMMITTEE_FILE).write_text(json.dumps(description))
    with pytest.raises(FtorError, match=r"committee.json: expected 2 weights, found 3, .* ftor calibrate"):
        ftor.load(tmp_path / "all")
    (tmp_path / "all" / COMMITTEE_FILE).write_text("{}")
    with pytest.raises(CheckpointError, match=r"committee.json: not a committee"):
        ftor.load(tmp_path / "all")


def test_commands_tell_models_from_sentences(trained, second, pairs, tmp_path):
    finished = run_here("predict", trained, second, "a b c", "k", "--n-best", 2)
    assert finished.code == 0, finished.err
    lines = [json.loads(line) for line in finished.out.splitlines()]
    assert [line["source"] for line in lines] == ["a b c", "k"]
    (wanted,) = ftor.load([trained, second]).predict(["a b c"])
    assert lines[0]["score"] == pytest.approx(wanted.score, abs=1e-4)
    alone = json.loads(run_here("predict", trained, "a b c").out)
    assert lines[0]["score"] != pytest.approx(alone["score"], abs=1e-4)
    finished = run_here("evaluate", trained, second, pairs, "--json")
    assert json.loads(finished.out)["count"] == 30
    finished = run_here("evaluate", trained, second, pairs, "--ledger", tmp_path / "l.jsonl")
    assert (finished.code, "not of committees" in finished.err) == (1, True)
    assert run_here("calibrate", trained, second, pairs).code == 2


def test_soup_has_the_mean_weights(trained, second, tmp_path):
    soup = ftor.load([trained, second], committee="soup")
    soup.save(tmp_path / "soup")
    weights, *others = (
        load_tensors(f / "model.safetensors")[0] for f in (tmp_path / "soup", trained, second)
    )
    for name, tensor in weights.items():
        assert torch.allclose(tensor, (others[0][name] + others[1][name]) / 2, atol=1e-6)


def test_lstms_alone_are_averaged_token_by_token(data, once, lstm, tmp_path):
    other = trained_with(data, once, "lstms", LSTM | {"model.members": 2, "training.seed": 1})
    model = ftor.load([lstm, other])
    assert (len(model.network.lstms), model.scorers) == (3, ())
    alone = ftor.load(lstm).score(["a b"], ["a b"])[0], ftor.load(other).score(["a b"], ["a b"])[0]
    (both,) = model.score(["a b"], ["a b"])
    for mean, first, second in zip(both.token_scores, *(one.token_scores for one in alone), strict=True):
        p = (math.exp(first) + 2 * math.exp(second)) / 3  # the second is the mean of two
        assert math.exp(mean) == pytest.approx(p, abs=1e-6)
    model.save(tmp_path / "all")
    assert ftor.load(tmp_path / "all").predict(["a b"])[0].score == model.predict(["a b"])[0].score
    same(answers(ftor.load([lstm, lstm])), answers(ftor.load(lstm), confidence=False))


def test_autoregressive_models_are_averaged_token_by_token(trained, run):
    autoregressive = run("ar", model__decoder="autoregressive")
    same(answers(ftor.load([autoregressive] * 2)), answers(ftor.load(autoregressive), confidence=False))
    mixed = ftor.load([autoregressive, trained])  # it scores what the independent one writes
    assert [type(one.network) for one in mixed.scorers] == [type(ftor.load(autoregressive).network)]


def test_what_cannot_be_a_committee(trained, second, lstm, run):
    with pytest.raises(FtorError, match=r"soup: .*run has other words or sizes than"):
        ftor.load([trained, lstm], committee="soup")
    with pytest.raises(FtorError, match="an empty list"):
        ftor.load([])
    with pytest.raises(FtorError, match="a committee cannot be sent"):
        ftor.load([trained, second]).push_to_hub("ann/both")


def test_new_words_get_vectors_in_every_member(data, tmp_path):
    lines = [
        f"{letter} {' '.join(str((ord(letter) * 7 + n) % 5) for n in range(6))}\n" for letter in "abcdez"
    ]
    (tmp_path / "letters.txt").write_text("".join(lines))
    folders = []
    for seed in (0, 1):
        folders.append(tmp_path / f"run-{seed}")
        settings = {"data.vectors": "letters.txt", "training.seed": seed}
        finished = run_here(*tiny.train_arguments(data, folders[-1], settings), "--data-dir", tmp_path)
        assert finished.code == 0, finished.err
    model = ftor.load(folders, data_folder=tmp_path)
    (found,) = model.predict(["a z"], structure=False)
    scores = [ftor.load(f, data_folder=tmp_path).score(["a z"], [found.text])[0].score for f in folders]
    assert found.score == pytest.approx(sum(scores) / 2, abs=1e-3)
    model.forget_words()
    assert model.predict(["a z"], structure=False)[0].score == pytest.approx(found.score, abs=1e-5)
