"""Several answers to one sentence, their confidence, and many threads that ask at once."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import ftor
from ftor.datasets.mirror import mirror
from ftor.errors import FtorError
from ftor.model.confidence import CONFIDENCE_FILE, SEARCHED
from ftor.text.reading import Pair

SENTENCES = ["a b c", "k", "d c b a e f", "a a", "g h i j k a b c", "b"]


def dev_pairs():
    some = mirror(30, range(2, 5), seed=5)
    return [Pair(tuple(s.split()), tuple(t.split()), n, None, t) for n, (s, t) in enumerate(some, 1)]


@pytest.fixture
def calibrated(trained):
    model = ftor.load(trained)
    model.calibrate(dev_pairs())
    return model


class TestAlternatives:
    @pytest.mark.parametrize("n_best", [2, 4, 9])
    @pytest.mark.parametrize("lengths", [None, 3])
    def test_are_different_and_do_not_change_the_answer(self, model, n_best, lengths):
        answers = model.predict(SENTENCES, structure=False, lengths=lengths)
        found = model.predict(SENTENCES, structure=False, n_best=n_best, lengths=lengths)
        for answer, one in zip(answers, found, strict=True):
            assert (one.tokens, one.score) == (answer.tokens, pytest.approx(answer.score))
            assert len({one.text, *(other.text for other in one.alternatives)}) == n_best
            assert all(other.text == " ".join(other.tokens) for other in one.alternatives)
            scores = [one.score, *(other.score for other in one.alternatives)]
            assert scores == sorted(scores, reverse=True)
            shares = [one.share, *(other.share for other in one.alternatives)]
            assert sum(shares) <= 1 + 1e-9
            if n_best >= SEARCHED:
                assert sum(shares) == pytest.approx(1)
                total = math.fsum(math.exp(score) for score in scores)
                assert shares == pytest.approx([math.exp(score) / total for score in scores], abs=1e-5)
            assert answer.alternatives == ()
            assert answer.share is None

    def test_have_other_lengths_if_more_are_tried(self, model):
        (one,) = model.predict(["k"], n_best=100, lengths=8)
        assert len({len(other.tokens) for other in one.alternatives}) > 1

    def test_of_the_same_text_are_one(self, model, monkeypatch):
        monkeypatch.setattr(type(model), "_text", lambda self, tokens: f"{len(tokens)} {tokens[0]}")
        (one,) = model.predict(["a b c"], n_best=4)
        texts = [model._text(one.tokens), *(other.text for other in one.alternatives)]
        assert len(texts) == len(set(texts)) > 1
        (many,) = model.predict(["a b c"], n_best=4 * 16)
        kept = {}
        for other in many.alternatives:
            kept.setdefault(other.text, other)
        assert texts[1:] == list(kept)[:3]

    def test_fewer_than_one_is_refused(self, model):
        with pytest.raises(ValueError, match="n_best: expected at least 1, found 0"):
            model.predict(["a"], n_best=0)


class TestConfidence:
    def test_there_is_none_without_a_calibration(self, model):
        (one,) = model.predict(["a b"], n_best=3)
        assert (one.confidence, one.alternatives[0].confidence) == (None, None)
        with pytest.raises(FtorError, match="not calibrated"):
            model.predict(["a"], min_confidence=0.5)

    def test_is_the_same_however_many_alternatives_are_asked_for(self, calibrated):
        confidences = [
            [one.confidence for one in calibrated.predict(SENTENCES, structure=False, n_best=n)]
            for n in (1, 3, 8)
        ]
        assert all(0 < value < 1 for value in confidences[0])
        assert confidences[1] == pytest.approx(confidences[0])
        assert confidences[2] == pytest.approx(confidences[0])
        plain = calibrated.predict(SENTENCES, confidence=False)
        assert all(one.confidence is None and one.alternatives == () for one in plain)

    def test_below_the_least_the_model_abstains(self, calibrated):
        confidences = sorted(one.confidence for one in calibrated.predict(SENTENCES))
        least = (confidences[2] + confidences[3]) / 2
        found = calibrated.predict(SENTENCES, min_confidence=least, n_best=2)
        assert sum(one.abstained for one in found) == 3
        for one in found:
            record = one.record("x")
            assert (record["prediction"] is None) == one.abstained == (one.confidence < least)
            assert len(record["alternatives"]) == 1 + one.abstained

    def test_is_saved_and_loaded(self, calibrated, tmp_path):
        calibrated.save(tmp_path / "again")
        again = ftor.load(tmp_path / "again")
        assert again.calibration == calibrated.calibration
        wanted = [one.confidence for one in calibrated.predict(SENTENCES)]
        assert [one.confidence for one in again.predict(SENTENCES)] == wanted

    def test_too_few_pairs_are_refused(self, model):
        with pytest.raises(FtorError, match="calibration: expected at least 10 pairs, found 9"):
            ftor.load(model.folder).calibrate(dev_pairs()[:9])

    def test_evaluation_says_how_far_it_can_be_trusted(self, model, calibrated):
        assert model.examine(dev_pairs()).reliability is None
        found = calibrated.examine(dev_pairs())
        assert sum(one.count for one in found.reliability.bins) == 30
        assert found.reliability.risks[-1] == pytest.approx(1 - found.metrics.accuracy)

    def test_training_fits_it_on_dev_pairs(self, data, tmp_path):
        from ftor.text.reading import write_pairs
        from support.tiny import run_here, train_arguments

        for name in ("train", "test"):
            (tmp_path / f"{name}.tsv").write_bytes((data / f"{name}.tsv").read_bytes())
        write_pairs(mirror(12, range(2, 5), seed=2), tmp_path / "dev.tsv")
        assert run_here(*train_arguments(tmp_path, tmp_path / "run")).code == 0
        values = json.loads((tmp_path / "run" / CONFIDENCE_FILE).read_text())
        assert (values["pairs"], values["judged_by"]) == (12, "exact_match")
        assert ftor.load(tmp_path / "run").predict(["a b"])[0].confidence is not None


class TestThreads:
    THREADS = 8

    def together(self, ask, jobs):
        """The results of all jobs, from threads that all start at the same moment."""
        gate = Barrier(self.THREADS)

        def work(_):
            gate.wait()
            return [ask(job) for job in jobs]

        with ThreadPoolExecutor(self.THREADS) as pool:
            return list(pool.map(work, range(self.THREADS)))

    def test_give_the_same_as_one(self, calibrated):
        def ask(sentence):
            (one,) = calibrated.predict([sentence], n_best=3)
            (score,) = calibrated.score([sentence], [one.tokens])
            return one.record(sentence, alignment=True, tree=True), score.score

        wanted = [ask(sentence) for sentence in SENTENCES]
        assert self.together(ask, SENTENCES) == [wanted] * self.THREADS

    def test_leave_a_network_in_training_as_it_was(self, trained):
        model = ftor.load(trained)

        def ask(sentence):
            return model.predict([sentence], structure=False)[0].score

        wanted = [ask(sentence) for sentence in SENTENCES]
        model.network.train()
        assert self.together(ask, SENTENCES) == [wanted] * self.THREADS
        assert model.network.training

    def test_may_all_bring_new_words(self, run, data, tmp_path):
        path = tmp_path / "vectors.txt"
        words = [*"abcdefghijk", *(f"w{number}" for number in range(40))]
        path.write_text(
            "".join(f"{w} {' '.join(str((hash(w) + i) % 7 / 7) for i in range(5))}\n" for w in words)
        )
        folder = run("vectors", data__vectors=str(path), training__epochs=1)
        sentences = [f"a w{number} w{39 - number} b" for number in range(40)]
        alone = ftor.load(folder)
        wanted = [one.score for one in alone.predict(sentences, batch_size=1, structure=False)]
        model = ftor.load(folder)
        found = self.together(lambda s: model.predict([s], structure=False)[0].score, sentences)
        assert all(some == pytest.approx(wanted, abs=1e-5) for some in found)
        source = model.vocabularies.source.tokens
        assert len(source) == len(set(source))
