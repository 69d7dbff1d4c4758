"""Log-probabilities of given targets: those of predictions, and why some are −∞."""

import json
import math
from dataclasses import replace

import pytest

import ftor
from ftor.grammar import Grammar
from ftor.model.model import Model

SENTENCES = ["a b c", "k", "d c b a e f", "never a"]


def assert_consistent(model: Model, **options) -> None:
    predictions = model.predict(SENTENCES, n_best=3, structure=False, **options)
    options.pop("lengths", None)
    for found in (0, 1):
        # A model that only copies has one output of each length for a sentence of one word.
        some = [(one, *one.alternatives)[min(found, len(one.alternatives))] for one in predictions]
        tokens, wanted = [one.tokens for one in some], [one.score for one in some]
        scores = model.score(SENTENCES, tokens, **options)
        assert [one.score for one in scores] == pytest.approx(wanted, abs=1e-4)
        for one, output in zip(scores, tokens, strict=True):
            assert one.tokens == output
            assert len(one.token_scores) == len(output)
            rest = (one.length_score or 0) + (one.end_score or 0)
            assert sum(one.token_scores) + rest == pytest.approx(one.score)
            assert one.reason is None


def test_scores_are_those_of_predictions(model):
    assert_consistent(model)
    assert_consistent(model, lengths=3)
    assert_consistent(model, grammar=Grammar.parse("S -> 'a' | 'a' S | 'b' S | 'k' S"), lengths=4)


@pytest.mark.parametrize(
    "settings",
    [
        {"model__copying": True},
        {"model__decoder": "autoregressive"},
        {"model__decoder": "autoregressive", "model__copying": True},
        {"model__order": "reordering-fertility"},
        {"model__rescorer": "lstm", "model__rescorer_hidden": 8},
    ],
    ids=lambda settings: "-".join(str(value) for value in settings.values()),
)
def test_scores_of_other_transducers(run, settings):
    assert_consistent(ftor.load(run("other", training__epochs=1, **settings)))


def test_a_text_is_as_good_as_its_tokens(model):
    tokens = ("a", "b", "b", "a")
    assert model.score(["a b"], ["a b  b a "]) == model.score([["a", "b"]], [tokens])


def test_what_can_never_be_written_says_why(model):
    long = " ".join("a" * 20)
    scores = model.score(["a b", "a", "a b", "a"], ["a zebra", long, "a", ""])
    assert [one.score for one in scores[:2]] == [-math.inf] * 2
    assert scores[0].reason == "'zebra' is not in the vocabulary of outputs"
    assert scores[1].reason == "20 tokens are too many: the fertilities of this sentence reach 8 at most"
    assert math.isfinite(scores[2].score)
    assert scores[3].reason == "it is empty"
    (outside,) = model.score(["a b"], ["a b"], grammar=Grammar.parse("S -> 'a' | 'a' S"))
    assert (outside.score, outside.reason) == (-math.inf, "the grammar does not derive it")


def test_words_of_the_sentence_can_be_copied(run):
    model = ftor.load(run("copying", model__copying=True, training__epochs=1))
    copied, not_copied = model.score(["a zebra", "a b"], ["zebra zebra", "zebra"])
    assert math.isfinite(copied.score)
    assert "'zebra' is not in the vocabulary of outputs and is no word of the sentence" in not_copied.reason


def test_a_long_target_costs_only_itself(model, monkeypatch):
    monkeypatch.setattr("ftor.networks.decoding.LONGEST", 5)
    monkeypatch.setattr("ftor.networks.decoding.SPLITS_AT_ONCE", 1)
    scores = model.score(["a b c", "a b c"], ["a a a a a a", "a a"])
    assert scores[0].reason == "an output of 6 tokens is too long: at most 5 can be reordered"
    assert math.isfinite(scores[1].score)


def test_batches_do_not_matter(model):
    sources, targets = ["a b", "c", "a b c d"], ["a b b a", "c", "a"]
    together = model.score(sources, targets)
    apart = model.score(sources, targets, batch_size=1)
    assert [one.score for one in together] == pytest.approx([one.score for one in apart], abs=1e-5)
    with pytest.raises(ValueError, match="targets: expected 1, one for each source, found 2"):
        model.score(["a"], ["a", "b"])


def test_records_are_json(model):
    possible, impossible = model.score(["a", "a"], ["a a", "zebra"])
    record = json.loads(json.dumps(possible.record("a", "a a"), allow_nan=False))
    assert list(record) == ["source", "target", "score", "tokens", "token_scores", "length_score"]
    assert sum(record["token_scores"]) + record["length_score"] == pytest.approx(record["score"])
    assert impossible.record("a", "zebra") == {
        "source": "a", "target": "zebra", "score": None, "reason": impossible.reason,
    }  # fmt: skip
    assert replace(possible, end_score=-1.0).record("a", "a a")["end_score"] == -1.0
