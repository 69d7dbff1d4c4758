"""Model folders: what they need, and what is said when they are damaged."""

import re
import shutil

import pytest

import ftor
from ftor.config import Config, ConfigError
from ftor.errors import FtorError
from ftor.model.model import Model
from ftor.model.tensors import CheckpointError
from ftor.text.reading import Pair
from support import tiny

SENTENCES = ["a b c", "k", "d c b a e f", "a a", "g h i j k a b c", "b"]


@pytest.fixture
def damaged(trained, tmp_path):
    """Give a copy of the model's folder, to damage."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.toml", "vocab.json", "model.safetensors"):
        shutil.copy(trained / name, folder)
    return folder


def outputs(predictions):
    return [prediction.tokens for prediction in predictions]


class TestLoading:
    def test_a_model_needs_only_three_files(self, damaged, model):
        assert outputs(ftor.load(str(damaged)).predict(SENTENCES)) == outputs(model.predict(SENTENCES))

    def test_a_folder_from_before_there_were_baselines_loads(self, damaged, model):
        path = damaged / "config.toml"
        lines = path.read_text().splitlines()
        later = ("architecture =", "schedule =", "warmup_steps =", "emphasis =", "aligner =")
        assert sum(line.startswith(later) for line in lines) == 5
        path.write_text("\n".join(line for line in lines if not line.startswith(later)))
        assert outputs(ftor.load(damaged).predict(SENTENCES)) == outputs(model.predict(SENTENCES))

    def test_a_model_without_its_grammar_is_refused(self, run):
        folder = run("geo", decoding__grammar="geo")
        (folder / "grammar.cfg").unlink()
        with pytest.raises(FtorError, match=r"grammar.cfg: No such file"):
            ftor.load(folder)


class TestDamage:
    def test_no_folder(self, tmp_path):
        with pytest.raises(CheckpointError, match=r"none: not a model folder: it does not exist"):
            ftor.load(tmp_path / "none")

    def test_a_race_that_was_stopped(self, tmp_path):
        (tmp_path / "mine" / "race").mkdir(parents=True)
        with pytest.raises(
            CheckpointError, match=r"its race was stopped; to resume: ftor train --resume .*mine"
        ):
            ftor.load(tmp_path / "mine")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (None, "No such file"),
            ("{", "JSONDecodeError"),
            ('{"source": ["a"]}', "'target'"),
            ("[]", "TypeError"),
            ('{"source": null, "target": []}', "TypeError"),
            ('{"source": ["a", "a"], "target": []}', "one occurs twice"),
        ],
        ids=["missing", "torn", "half", "list", "null", "twice"],
    )
    def test_vocabulary(self, damaged, content, message):
        if content is None:
            (damaged / "vocab.json").unlink()
        else:
            (damaged / "vocab.json").write_text(content)
        with pytest.raises(CheckpointError, match=rf"vocab.json: not two lists of tokens: .*{message}"):
            ftor.load(damaged)

    def test_weights_are_torn(self, damaged):
        path = damaged / "model.safetensors"
        path.write_bytes(path.read_bytes()[:1000])
        with pytest.raises(CheckpointError, match=r"model.safetensors: damaged file"):
            ftor.load(damaged)

    def test_weights_are_missing(self, damaged):
        (damaged / "model.safetensors").unlink()
        with pytest.raises(CheckpointError, match=r"model.safetensors: no such file"):
            ftor.load(damaged)

    def test_a_run_without_a_model_yet_says_how_to_go_on(self, damaged):
        message = rf"{damaged}: its training has not got to a model yet; .*`ftor train --resume {damaged}`"
        (damaged / "checkpoint.safetensors").touch()
        (damaged / "model.safetensors").unlink()
        with pytest.raises(CheckpointError, match=message):
            ftor.load(damaged)
        for name in ("checkpoint.safetensors", "vocab.json"):  # it was stopped at once
            (damaged / name).unlink()
        with pytest.raises(CheckpointError, match=message):
            ftor.load(damaged)

    def test_weights_are_those_of_another_model(self, damaged):
        text = (damaged / "config.toml").read_text()
        (damaged / "config.toml").write_text(re.sub(r"width = 16", "width = 18", text, count=1))
        with pytest.raises(CheckpointError, match=r"model.safetensors: weights of another model"):
            ftor.load(damaged)

    @pytest.mark.parametrize(
        "width", ["18", "1000000000000", "9223372036854775807", "10000000000000000000000"]
    )
    def test_one_line_says_that_the_width_is_wrong(self, damaged, width):
        text = (damaged / "config.toml").read_text()
        (damaged / "config.toml").write_text(re.sub(r"width = 16", f"width = {width}", text, count=1))
        finished = tiny.run_here("predict", damaged, "a b")
        assert (finished.code in (1, 2), finished.out) == (True, "")
        assert re.fullmatch(r"error: \S+/(config.toml|model.safetensors): .*\n", finished.err), finished.err

    @pytest.mark.parametrize("name", ["config.toml", "vocab.json", "model.safetensors"])
    @pytest.mark.parametrize(
        "content", [None, b"", b"\xff\x00\xfe", b"[" * 100_000, b"{}", b"[[1]]", b"null"]
    )
    def test_one_line_names_the_file(self, damaged, name, content):
        (damaged / name).unlink()
        if content is not None:
            (damaged / name).write_bytes(content)
        if (name, content) == ("config.toml", b""):
            return  # all settings have defaults
        finished = tiny.run_here("predict", damaged, "a b")
        assert finished.code in (1, 2)
        assert finished.out == ""
        assert finished.err.startswith("error: ")
        assert finished.err.count("\n") == 1, finished.err
        assert name in finished.err

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"notation": 3}', b"[" * 100_000])
    def test_programs(self, damaged, content):
        (damaged / "programs.json").write_bytes(content)
        finished = tiny.run_here("predict", damaged, "a b")
        assert (finished.code, finished.out) == (1, "")
        assert re.fullmatch(r"error: \S+/programs.json: not a description of programs: .*\n", finished.err)

    def test_configuration(self, damaged):
        (damaged / "config.toml").write_text("[model]\nwitdh = 3")
        with pytest.raises(
            ConfigError, match=r"config.toml: model.witdh: unknown key \(did you mean model.width\?\)"
        ):
            ftor.load(damaged)


class TestSaving:
    def test_what_is_saved_is_loaded(self, trained, model, tmp_path):
        model.save(str(tmp_path / "new" / "copy"))
        folder = tmp_path / "new" / "copy"
        for name in ("config.toml", "vocab.json", "metrics.json", "README.md"):
            assert (folder / name).read_bytes() == (trained / name).read_bytes()
        assert not list(folder.glob("checkpoint*"))
        again = ftor.load(folder)
        assert again.folder == folder
        found, wanted = again.predict(SENTENCES), model.predict(SENTENCES)
        assert outputs(found) == outputs(wanted)
        assert [one.score for one in found] == [one.score for one in wanted]

    def test_what_a_race_chose_is_part_of_it(self, trained, tmp_path):
        shutil.copytree(trained, tmp_path / "raced")
        (tmp_path / "raced" / "choice.json").write_text("{}")
        ftor.load(tmp_path / "raced").save(tmp_path / "copy")
        assert (tmp_path / "copy" / "choice.json").read_text() == "{}"

    def test_the_grammar_is_part_of_it(self, run, tmp_path):
        (tmp_path / "my.cfg").write_text("S -> 'k' | 'k' S")
        model = ftor.load(run("run", decoding__grammar=str(tmp_path / "my.cfg"), training__epochs=1))
        model.save(tmp_path / "copy")
        (tmp_path / "my.cfg").unlink()
        assert ftor.load(tmp_path / "copy").grammar.text == model.grammar.text

    def test_a_model_can_be_saved_where_it_is(self, damaged):
        before = {path.name: path.read_bytes() for path in damaged.iterdir()}
        ftor.load(damaged).save(damaged)
        assert {path.name: path.read_bytes() for path in damaged.iterdir()} == before

    def test_a_model_that_was_not_loaded_has_no_metrics(self, untrained, tmp_path):
        untrained.save(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {
            "config.toml",
            "vocab.json",
            "model.safetensors",
        }
        assert ftor.load(tmp_path).predict(["a b"])[0].tokens == untrained.predict(["a b"])[0].tokens

    @pytest.fixture
    def untrained(self):
        """Give an untrained model."""
        overrides = [f"{key}={value}" for key, value in tiny.SETTINGS.items()]
        return Model.new(Config.load("transducer", overrides), [Pair(("a", "b"), ("b", "a"), 1)])
