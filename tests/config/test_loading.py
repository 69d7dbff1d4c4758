"""Configurations read from files, with bases and overrides, written back, and their hashes."""

import re

import pytest

from ftor.config import Config, ConfigError, shipped


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
            ConfigError, match=rf"{name}: no such experiment \(did you mean mirror\?\); expected one of"
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
        with pytest.raises(
            ConfigError, match=rf"mine.toml: base: the files are based on each other: {path} → {path}"
        ):
            Config.load(path)

    def test_bases_that_name_each_other(self, file):
        file('base = "mine.toml"', "other.toml")
        with pytest.raises(
            ConfigError,
            match=r"other.toml: base: the files are based on each other: .*mine.* → .*other.* → .*mine",
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
