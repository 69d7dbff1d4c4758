"""Style transfer from end to end: a toy task in which the word to emphasise moves to the end."""

import json
import random
import re
import sys

import pytest

import ftor
from ftor.config import Config
from ftor.files import read_json_lines
from ftor.text.reading import DataError
from support.tiny import log, metrics, run_here, train_arguments

pytest.importorskip("pycocoevalcap")

SETTINGS = {
    "data.task": "style",
    "data.emphasis": True,
    "data.start_token": False,
    "model.copying": True,
    "model.width": 32,
    "model.scorer_hidden": 128,
    "training.learning_rate": 0.01,
    "training.batch_size": 16,
    "training.select_by": "BLEU-3",
}


def pair(generator):
    words = generator.sample("abcdefgh", generator.randint(3, 5))
    word = generator.choice(words)
    return f"{' '.join(words)} ; {word}\t{' '.join([w for w in words if w != word] + [word])}\n"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Give a folder with pairs of the toy task."""
    folder, generator = tmp_path_factory.mktemp("toy"), random.Random(0)
    for split, size in {"train": 200, "dev": 30, "test": 30}.items():
        (folder / f"{split}.tsv").write_text("".join(pair(generator) for _ in range(size)))
    return folder


@pytest.fixture(scope="module", autouse=True)
def _without_java():
    """METEOR has tests of its own, and takes long."""
    from ftor.datasets import style

    style.java_problem.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.which", lambda name: None)
        style.java_problem()
    yield
    style.java_problem.cache_clear()


@pytest.fixture(scope="module")
def learned(toy):
    """Give a finished run on the toy task, and what it said."""
    finished = run_here(*train_arguments(toy, toy / "run", SETTINGS | {"training.epochs": 3}))
    assert finished.code == 0, finished.err
    return toy / "run", finished


class TestTraining:
    def test_the_word_to_emphasise_decides(self, learned):
        folder, _ = learned
        found = metrics(folder)
        assert found["test"]["exact_match"] > 0.9
        assert found["test"]["scores"]["BLEU-4"] > 0.9
        model = ftor.load(folder)
        outputs = [p.text for p in model.predict([f"a b c d ; {word}" for word in "abcd"])]
        assert outputs == ["b c d a", "a c d b", "a b d c", "a b c d"]

    def test_scores_are_recorded_and_shown_everywhere(self, learned):
        folder, finished = learned
        names = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr"]
        assert list(metrics(folder)["dev"]["scores"]) == names
        assert all(f"dev_{name}" in line for name in names for line in log(folder))
        assert all(re.search(rf"│ {name} +│ +[\d.]+ │", finished.out) for name in names)
        assert len(re.findall(r"dev BLEU-3 [\d.]+ %", finished.err)) == 3
        assert "| BLEU-4 |" in (folder / "README.md").read_text()

    def test_a_missing_java_is_told_once(self, learned):
        _, finished = learned
        assert finished.err.count("warning: METEOR is left out: java is not installed") == 1

    def test_the_best_epoch_is_the_one_with_the_best_bleu_3(self, learned):
        folder, _ = learned
        values = [line["dev_BLEU-3"] for line in log(folder)]
        assert values[metrics(folder)["best_epoch"] - 1] == max(values)

    def test_a_source_without_a_word_is_named_and_nothing_is_trained(self, toy, tmp_path):
        for split in ("train", "dev", "test"):
            (tmp_path / f"{split}.tsv").write_text((toy / f"{split}.tsv").read_text() + "a b c\ta b c\n")
        finished = run_here(*train_arguments(tmp_path, tmp_path / "run", SETTINGS))
        assert finished.code == 1
        for split, line in {"train": 201, "dev": 31, "test": 31}.items():
            assert f"{split}.tsv:{line}: no ';' before the word to emphasise" in finished.err
        assert not (tmp_path / "run").exists()

    def test_scores_that_the_task_lacks_select_nothing(self, toy, tmp_path):
        settings = SETTINGS | {"data.task": "pairs"}
        finished = run_here(*train_arguments(toy, tmp_path / "run", settings))
        assert finished.code == 2
        assert "training.select_by: BLEU-3 needs data.task = \"style\"; it is 'pairs'" in finished.err
        assert not (tmp_path / "run").exists()

    def test_without_the_library_nothing_is_trained(self, toy, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
        finished = run_here(*train_arguments(toy, tmp_path / "run", SETTINGS))
        assert finished.code == 1
        assert "pip install 'ftor[style]'" in finished.err
        assert not (tmp_path / "run").exists()


class TestPredicting:
    @pytest.mark.parametrize("batch_size", [1, 3])
    def test_the_batch_does_not_matter(self, learned, batch_size):
        model = ftor.load(learned[0])
        sentences = ["a b c ; b", "d e f g h ; d", "a b c ; c", "h g f e ; g"]
        for one, other in zip(
            model.predict(sentences, batch_size=batch_size), model.predict(sentences), strict=True
        ):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.structure.alignment == pytest.approx(other.structure.alignment, abs=1e-4)

    def test_tokens_come_with_their_word(self, learned):
        model = ftor.load(learned[0])
        (one,), (other,) = model.predict([["a", "b", "c"]], emphasis=["b"]), model.predict(["a b c ; b"])
        assert (one.source, one.tokens) == (other.source, other.tokens) == (("a", "b", "c"), ("a", "c", "b"))
        with pytest.raises(DataError, match="number 1: no word to emphasise"):
            model.predict([["a", "b", "c"]])

    def test_needs_no_library(self, learned, monkeypatch):
        monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
        finished = run_here("predict", learned[0], "a b c ; a")
        assert json.loads(finished.out)["prediction"] == "b c a"
        assert json.loads(finished.out)["source"] == "a b c ; a"

    def test_bad_lines_are_named(self, learned, tmp_path):
        (tmp_path / "a.txt").write_text("a b ; a\na b\na ; b ; c\na b ; c\n")
        finished = run_here("predict", learned[0], "--input", tmp_path / "a.txt")
        assert ["error" in json.loads(line) for line in finished.out.splitlines()] == [
            False,
            True,
            True,
            True,
        ]
        assert finished.err.splitlines() == [
            f"warning: {tmp_path / 'a.txt'}:2: no ';' before the word to emphasise",
            f"warning: {tmp_path / 'a.txt'}:3: expected one ';', found 2",
            f"warning: {tmp_path / 'a.txt'}:4: the word to emphasise is not in the sentence: 'c'",
            "warning: 3 of 4 lines have no output",
        ]
        finished = run_here("predict", learned[0], "a b")
        assert finished.err == "error: 'a b': no ';' before the word to emphasise\n"

    def test_explain_reads_the_same(self, learned):
        finished = run_here("explain", learned[0], "a b c ; a")
        assert finished.code == 0
        assert "b c a" in finished.out
        finished = run_here("explain", learned[0], "a b c ; d")
        assert finished.code == 1
        assert "the word to emphasise is not in the sentence: 'd'" in finished.err

    def test_evaluation_is_that_of_the_run(self, learned, toy):
        finished = run_here("evaluate", learned[0], toy / "test.tsv", "--json")
        found = json.loads(finished.out)
        assert 0 <= found.pop("reliability")["error"] <= 1
        assert found == metrics(learned[0])["test"]
        assert finished.err.count("METEOR is left out") == 1


class TestTrivial:
    def test_is_judged_and_recorded(self, toy, tmp_path):
        experiment = tmp_path / "mine.toml"
        experiment.write_text('[data]\ntask = "style"\nemphasis = true\ntest = "test.tsv"\n')
        ledger = tmp_path / "ledger.jsonl"
        finished = run_here("data", "trivial", experiment, "--data-dir", toy, "--ledger", ledger)
        assert finished.code == 0, finished.err
        records = read_json_lines(ledger)
        assert [r["experiment"] for r in records] == ["copy the input", "copy all but the last word"]
        assert {r["file"] for r in records} == {"test.tsv"}
        assert records[0]["metrics"]["scores"]["BLEU-1"] == pytest.approx(1)
        assert "copy all but the last word:" in finished.out

    def test_a_split_that_is_not_there(self):
        finished = run_here("data", "trivial", "transducer", "--split", "dev")
        assert finished.code == 2
        assert "transducer has no dev pairs" in " ".join(finished.err.split())


def test_experiments_are_those_of_the_paper():
    passive, adjective, verb = (Config.load(f"style-{name}") for name in ("passive", "adjective", "verb"))
    assert (passive.data.emphasis, adjective.data.emphasis, verb.data.emphasis) == (False, True, True)
    for config in (passive, adjective, verb):
        assert config.model.copying
        assert (config.model.max_fertility, config.model.decoder_hidden) == (3, 200)
        assert (config.data.no_copy, config.data.copy_vocabulary, config.data.copy_case) == (
            [],
            "open",
            "same",
        )
        assert not config.data.start_token
        assert config.training.length_weight == pytest.approx(0.02 * config.training.batch_size)
        assert (config.training.epochs, config.training.select_by) == (60, "BLEU-3")
