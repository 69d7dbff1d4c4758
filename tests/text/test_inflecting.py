"""Words that are copied in inflected forms: the rules, what they explain, and models that follow them."""

import sys

import pytest
import torch

import ftor
from ftor.config import Config
from ftor.config.sections import FORMS as NAMES
from ftor.errors import FtorError
from ftor.text.copying import Copying
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.forms import explained
from ftor.text.inflecting import INFLECTIONS, _lemminflect, inflected
from ftor.text.reading import Pair, write_pairs
from ftor.text.vocabularies import Vocabularies
from ftor.tuning.look import look
from support.tiny import run_here, set_arguments


@pytest.fixture
def dictionary():
    pytest.importorskip("lemminflect")


def pairs_of(*texts):
    split = ((source.split(), target.split()) for source, target in texts)
    return [Pair(tuple(s), tuple(t), n, None, " ".join(t)) for n, (s, t) in enumerate(split, 1)]


PASSIVE = pairs_of(
    *((f"they {verb} bob", f"bob is {participle}") for verb, participle in
      [("see", "seen"), ("chooses", "chosen"), ("drove", "driven"), ("hinder", "hindered"), ("said", "said")])
)  # fmt: skip


@pytest.mark.usefixtures("dictionary")
class TestWithTheDictionary:
    @pytest.mark.parametrize(
        ("word", "participle", "gerund"),
        [
            ("cross", "crossed", "crossing"),
            ("Broke", "broken", "breaking"),
            ("said", "said", "saying"),
            ("of", None, None),
            ("1,214", None, None),
            ("mickey", None, None),
        ],
    )
    def test_forms_of_words(self, word, participle, gerund):
        assert (inflected(word, "participle"), inflected(word, "gerund")) == (participle, gerund)

    def test_what_rules_explain_is_told_but_never_set(self):
        (participle,) = explained(PASSIVE)
        assert (participle.rule, participle.times, participle.follows) == ("participle", 4, False)
        assert ("drove", "driven") in participle.examples
        found = look(PASSIVE)
        assert "data.copy_forms" not in found.settings
        (finding,) = (finding for finding in found.findings if finding.kind == "forms")
        assert "participle 4 times (" in finding.text
        assert finding.advice == (
            "Copies as participle are only set by hand, in data.copy_forms: compare on dev."
        )

    def test_an_inflected_form_is_a_kind_of_copy(self):
        copying = Copying(forms=("participle", "snake", "gerund"))
        assert copying.kinds == 6
        assert [copying.words_of(kind) for kind in range(6)] == [1, 2, 3, 4, 1, 1]
        assert copying.written(("to", "see")) == [
            *("to", "to_see", None, None, None, None),
            *("see", None, None, None, "seen", "seeing"),
        ]
        assert copying.keys(("to", "see", "said")) == {
            **{"to": 0, "to_see": 1, "to_see_said": 2, "see": 0, "see_said": 1, "seen": 4, "seeing": 5},
            **{"said": 0, "saying": 5},
        }, "a form that is the word itself is a plain copy"

    def test_training_takes_the_copy_of_its_kind(self):
        copying = Copying(forms=("participle",))
        vocabularies = Vocabularies.of(PASSIVE, copying)
        assert vocabularies.target.tokens == ["is"]
        assert vocabularies.target_classes(PASSIVE[0].source, PASSIVE[0].target) == [0, 2, 1]
        source = ("ann", "broke", "it")
        choices = vocabularies.choices(("it", "is", "broken"), source)
        assert choices == [len(vocabularies.target) + 2 * 3, 2, len(vocabularies.target) + 2 * 2 + 1]
        assert vocabularies.output(choices, ("@start@", *source)) == ("it", "is", "broken")
        assert vocabularies.foreign(source, ("it", "is", "broken")) == ("ann",), "the verb was read"
        batch = EncodedPairs(PASSIVE, vocabularies).batch(torch.arange(len(PASSIVE)))
        assert batch.copy_classes == 2
        assert [row.nonzero().flatten().tolist() for row in batch.copyable[:, :, 2]] == [[2]] * 5
        assert not batch.copyable[:, :, 1].any(), "no copy"

    @pytest.mark.parametrize("decoder", ["independent", "autoregressive"])
    def test_a_trained_model_writes_forms_of_new_words(self, tmp_path, decoder):
        write_pairs([(" ".join(p.source), " ".join(p.target)) for p in PASSIVE], tmp_path / "a.tsv")
        settings = {"model.copying": True, "data.copy_forms": "participle", "model.decoder": decoder}
        finished = run_here(
            *("train", "transducer", "--train", tmp_path / "a.tsv", "--dev", tmp_path / "a.tsv"),
            *("--out", tmp_path / "run", *set_arguments(settings)),
        )
        assert finished.code == 0, finished.err
        model = ftor.load(tmp_path / "run")
        scores = model.score(["they steal bob"] * 2, ["bob is stolen", "bob is stealing"])
        assert scores[0].reason is None
        assert "'stealing' is not in the vocabulary" in scores[1].reason


def test_the_rules_are_those_of_the_configuration():
    assert set(INFLECTIONS) < set(NAMES)
    for name in ("style-verb-beyond", "style-passive-beyond"):
        assert set(Config.load(name).data.copy_forms.split()) < set(INFLECTIONS), "each has one of them"


def test_without_the_dictionary(monkeypatch):
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    _lemminflect.cache_clear()
    with pytest.raises(FtorError, match=r"data.copy_forms, .*: lemminflect is not .*'ftor\[forms\]'"):
        inflected("unheard", "gerund")
    monkeypatch.setattr("ftor.text.forms.can_inflect", lambda: False)
    assert explained(PASSIVE) == []
