"""Configurations: every shipped one loads, and whatever is wrong with one is said before anything runs."""

import re

import pytest

from ftor.config import Config, ConfigError, shipped


@pytest.fixture
def file(tmp_path):
    """Write a TOML file; returns its path."""

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


class TestShipped:
    @pytest.mark.parametrize("name", shipped())
    def test_loads_under_its_own_name(self, name):
        assert Config.load(name).name == name

    @pytest.mark.parametrize("name", shipped())
    def test_says_what_it_is_first(self, name):
        assert len(shipped()[name]) > 20

    def test_bases_are_inherited_through_two_files(self):
        config = Config.load("mirror-xyz-ar-rf")
        assert config.data.task == "mirror-xyz"
        assert (config.model.order, config.model.decoder) == ("reordering-fertility", "autoregressive")
        assert config.model.width == Config.load("mirror").model.width

    def test_the_names_for_ones_own_data_are_free(self):
        assert Config.load("transducer") == Config()


class TestToToml:
    @pytest.mark.parametrize("name", shipped())
    def test_is_read_back(self, name, file):
        config = Config.load(name)
        assert Config.load(file(config.to_toml())) == config

    @pytest.mark.parametrize("text", ["a b", 'q"uo\\te', "ünï", "😀", "tab\t", "\x01\x7f", "line\nbreak"])
    def test_any_string_is_read_back(self, text, file):
        config = Config.check(
            {"name": text, "data": {"train": text}, "training": {"trackers": [text]}}, "here"
        )
        assert Config.load(file(config.to_toml())) == config

    @pytest.mark.parametrize("rate", [1e30, 1e-30, 3])
    def test_any_number_is_read_back(self, rate, file):
        config = Config.check({"training": {"learning_rate": rate}}, "here")
        assert Config.load(file(config.to_toml())) == config


class TestOverrides:
    @pytest.mark.parametrize(
        ("override", "found"),
        [
            ("training.epochs=3", lambda config: config.training.epochs == 3),
            ("epochs=3", lambda config: config.training.epochs == 3),
            ("training.learning_rate = 1e-2", lambda config: config.training.learning_rate == 0.01),
            ("model.copying=true", lambda config: config.model.copying is True),
            ("model.order=fertility", lambda config: config.model.order == "fertility"),
            ('model.order="fertility"', lambda config: config.model.order == "fertility"),
            ("data.train=my data/a=b.tsv", lambda config: config.data.train == "my data/a=b.tsv"),
            ('training.trackers=["tensorboard"]', lambda config: config.training.trackers == ["tensorboard"]),
            ("name=mine", lambda config: config.name == "mine"),
        ],
    )
    def test_are_toml_or_plain_text(self, override, found):
        assert found(Config.load("mirror", [override]))

    def test_the_last_one_counts(self):
        assert Config.load("mirror", ["epochs=3", "training.epochs=4"]).training.epochs == 4

    @pytest.mark.parametrize(
        ("override", "message"),
        [
            ("training.epochs", "--set training.epochs: expected key=value, for example training.epochs=3"),
            ("epoch=3", r"--set epoch: unknown key \(did you mean training.epochs\?\)"),
            ("training.epoch=3", r"mirror: training.epoch: unknown key \(did you mean training.epochs\?\)"),
            ("model.epochs=3", r"model.epochs: unknown key \(did you mean training.epochs\?\)"),
            ("modle.width=4", r"modle: unknown key \(did you mean model\?\)"),
            ("name.width=4", "--set name.width: name is not a section"),
        ],
    )
    def test_unknown_keys_are_refused_with_the_nearest(self, override, message):
        with pytest.raises(ConfigError, match=message):
            Config.load("mirror", [override])

    @pytest.mark.parametrize(
        ("override", "message"),
        [
            ("training.epochs=many", "mirror: training.epochs: expected a valid integer, found 'many'"),
            ("training.epochs=1.5", r"training.epochs: expected a valid integer, found 1.5"),
            ('training.epochs="3"', r"training.epochs: expected a valid integer, found '3'"),
            ("training.epochs=0", r"training.epochs: expected greater than or equal to 1, found 0"),
            ("model.width=7", r"model.width: expected a multiple of 2, found 7"),
            ("model.dropout=1", r"model.dropout: expected less than 1, found 1"),
            ("model.copying=1", r"model.copying: expected true or false, found 1"),
            ("model.order=backwards", r"model.order: expected 'fertility-reordering', .*found 'backwards'"),
            ("training.learning_rate=inf", r"training.learning_rate: expected a finite number, found inf"),
            ("training.learning_rate=nan", r"training.learning_rate: expected a finite number, found nan"),
            ("training.seed=-1", r"training.seed: expected greater than or equal to 0, found -1"),
            (
                "training.alignment_epochs=2",
                r"training: alignment_weight and alignment_epochs: expected both",
            ),
        ],
    )
    def test_ill_typed_values_are_refused(self, override, message):
        with pytest.raises(ConfigError, match=message):
            Config.load("mirror", [override])

    def test_all_problems_are_told_at_once(self):
        with pytest.raises(ConfigError) as error:
            Config.load("mirror", ["training.epochs=0", "model.widht=4"])
        assert len(str(error.value).splitlines()) == 2


class TestArchitectures:
    @pytest.mark.parametrize("architecture", ["transducer", "lstm", "transformer", "bart"])
    def test_are_chosen_by_name(self, architecture):
        config = Config.load("transducer", [f"model.architecture={architecture}"])
        assert config.model.architecture == architecture

    @pytest.mark.parametrize(
        ("overrides", "message"),
        [
            (
                ["model.architecture=ltsm"],
                'architecture: expected one of "transducer", "lstm", "transformer", "bart", found "ltsm"',
            ),
            (["model.architecture=3"], 'model.architecture: expected one of .*, found "3"'),
            (
                ["model.architecture=lstm", "model.max_fertility=3"],
                'transducer: model.max_fertility: unknown key of architecture "lstm"',
            ),
            (
                ["model.architecture=lstm", "model.hiden=3"],
                r'model.hiden: unknown key of architecture "lstm" \(did you mean model.hidden\?\)',
            ),
            (["model.heads=3"], r"model.heads: unknown key"),
            (["heads=3"], r"--set heads: unknown key"),
            (["model.architecture=lstm", "hidden=0"], r"model.hidden: expected greater than .* 1, found 0"),
            (
                ["model.architecture=transformer", "model.heads=3"],
                "model: width: expected a multiple of heads, 3, found 256",
            ),
            (
                ["model.architecture=lstm", "decoding.lengths=5"],
                'decoding.lengths: architecture "lstm" does not use this key, found 5',
            ),
            (
                ["model.architecture=lstm", "training.length_weight=1.0"],
                'training.length_weight: architecture "lstm" does not use this key, found 1.0',
            ),
            (
                ["model.architecture=transformer", "data.vectors=glove.txt"],
                'data.vectors: architecture "transformer" does not use this key',
            ),
            (
                ["model.architecture=bart", "training.word_dropout=0.1"],
                'training.word_dropout: architecture "bart" does not use this key',
            ),
        ],
    )
    def test_have_keys_of_their_own(self, overrides, message):
        with pytest.raises(ConfigError, match=message):
            Config.load("transducer", overrides)

    def test_differ_in_their_hashes(self):
        hashes = {
            Config.load("transducer", [f"model.architecture={architecture}"]).hash
            for architecture in ("transducer", "lstm", "transformer", "bart")
        }
        assert len(hashes) == 4
        assert Config().hash in hashes

    @pytest.mark.parametrize(
        ("values", "recorded"),
        [({}, "44136fa355b3"), ({"model": {"width": 128}, "training": {"epochs": 7}}, "e7fc5082f954")],
    )
    def test_hashes_are_those_from_before_there_were_several(self, values, recorded):
        assert Config.check(values, "here").hash == recorded


class TestFiles:
    def test_take_their_name_from_the_file(self, file):
        assert Config.load(file("", "mine.toml")).name == "mine"

    def test_a_base_next_to_the_file_is_found_from_anywhere(self, file):
        file("[model]\nwidth = 8\ndropout = 0.5", "base.toml")
        path = file('base = "base.toml"\n[model]\nwidth = 6')
        config = Config.load(path)
        assert (config.name, config.model.width, config.model.dropout) == ("mine", 6, 0.5)

    @pytest.mark.parametrize("name", ["mirorr", "mirror-"])
    def test_an_unknown_name_gets_the_nearest(self, name):
        with pytest.raises(
            ConfigError, match=rf"{name}: no such experiment \(did you mean mirror\?\); expected atis-"
        ):
            Config.load(name)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(ConfigError, match=r"none.toml: No such file or directory"):
            Config.load(tmp_path / "none.toml")

    def test_a_folder(self, tmp_path):
        (tmp_path / "folder.toml").mkdir()
        with pytest.raises(ConfigError, match=r"folder.toml: Is a directory"):
            Config.load(tmp_path / "folder.toml")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("epochs 3", r"mine.toml: .*line 1"),
            (b"name = '\xff'", r"mine.toml: not UTF-8 text"),
            (
                "[training]\nepoch = 3",
                r"mine.toml: training.epoch: unknown key \(did you mean training.epochs\?\)",
            ),
            ("epochs = 3", r"mine.toml: epochs: unknown key \(did you mean training.epochs\?\)"),
            ("model = 3", r"mine.toml: model: expected .*found 3"),
            ('base = "mirorr"', r"mirorr: no such experiment"),
            ('base = "none.toml"', r"none.toml: No such file"),
            ("base = 3", r"mine.toml: base: expected the name of an experiment or a file, found 3"),
        ],
    )
    def test_what_is_wrong_is_named(self, file, content, message):
        with pytest.raises(ConfigError, match=message):
            Config.load(file(content))

    def test_a_base_that_names_itself(self, file):
        path = file('base = "mine.toml"')
        with pytest.raises(ConfigError, match=rf"mine.toml: base: expected no circle, found {path} → {path}"):
            Config.load(path)

    def test_bases_that_name_each_other(self, file):
        file('base = "mine.toml"', "other.toml")
        with pytest.raises(
            ConfigError, match=r"other.toml: base: expected no circle, found .*mine.* → .*other.* → .*mine"
        ):
            Config.load(file('base = "other.toml"'))


class TestWithOverrides:
    def test_it_is_as_if_loaded_with_them(self):
        overrides = ["training.epochs=3", "width=64", "name=mine"]
        assert Config.load("geo-iid").with_overrides(overrides) == Config.load("geo-iid", overrides)

    def test_without_any_nothing_changes(self):
        config = Config.load("mirror-lstm")
        assert config.with_overrides([]) == config

    def test_an_unknown_key_is_named(self):
        with pytest.raises(ConfigError, match=r"training.epoch: unknown key \(did you mean training.epochs"):
            Config().with_overrides(["training.epoch=3"])


class TestHash:
    def test_does_not_change_with_the_seed_or_what_changes_no_result(self):
        free = [
            "training.seed=5",
            'training.trackers=["tensorboard"]',
            "training.checkpoint_minutes=1.0",
            "name=x",
        ]
        assert Config.load("mirror", free).hash == Config.load("mirror").hash

    @pytest.mark.parametrize(
        "override", ["training.epochs=8", "model.width=64", "data.dev=x.tsv", "model.copying=true"]
    )
    def test_changes_with_everything_else(self, override):
        assert Config.load("mirror", [override]).hash != Config.load("mirror").hash

    def test_is_twelve_digits(self):
        assert re.fullmatch(r"[0-9a-f]{12}", Config().hash)
