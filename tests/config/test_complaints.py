"""What is wrong with a configuration: one line for each problem, with the nearest valid key."""

import pytest

from ftor.config import Config, ConfigError


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epochs", "--set training.epochs: expected key=value, for example training.epochs=3"),
        ("epoch=3", r"--set epoch: unknown key \(did you mean training.epochs\?\)"),
        ("training.epoch=3", r"mirror: training.epoch: unknown key \(did you mean training.epochs\?\)"),
        ("model.epochs=3", r"model.epochs: unknown key \(did you mean training.epochs\?\)"),
        ("modle.width=4", r"modle: unknown key \(did you mean model\?\)"),
        ("name.width=4", "--set name.width: name is not a section"),
        ("model.hidden=2", 'model.hidden: unknown key of architecture "transducer"; it belongs to "lstm"'),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest(override, message):
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
def test_ill_typed_values_are_refused(override, message):
    with pytest.raises(ConfigError, match=message):
        Config.load("mirror", [override])


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as error:
        Config.load("mirror", ["training.epochs=0", "model.widht=4"])
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["model.architecture=ltsm"],
            'architecture: expected one of "transducer", "lstm", "transformer", "bart", "pretrained", '
            'found "ltsm"',
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
def test_architectures_have_their_own_keys(overrides, message):
    with pytest.raises(ConfigError, match=message):
        Config.load("transducer", overrides)
