"""Spaces: the published ones have the authors' bounds, and one's own are checked before anything runs."""

import re

import pytest

from ftor.config import Config, ConfigError, shipped
from ftor.tuning.plan import make_plan, tuned_on
from ftor.tuning.space import Choices, Range, paper_space, read_space

TEMPERATURES = Choices([1.0, 2.0, 3.0, 4.0, 5.0])
GEO = {
    "training.alignment_epochs": Range(3, 10),
    "training.length_weight": Range(0.001 * 32, 0.1 * 32, log=True),
    "training.alignment_threshold": Range(0.51, 0.9),
    "training.alignment_weight": Range(0.1 * 32, 1.0 * 32),
    "model.decoder_hidden": Choices([128, 200, 256, 300]),
    "model.temperature": TEMPERATURES,
}
ATIS = {
    "training.alignment_epochs": Range(5, 10),
    "training.length_weight": Range(0.01 * 32, 1.0 * 32, log=True),
    "training.alignment_threshold": Range(0.51, 0.85),
    "training.alignment_weight": Range(0.1 * 32, 1.0 * 32),
    "model.decoder_hidden": Choices([200, 256, 300, 400]),
    "model.temperature": TEMPERATURES,
}
OKAPI = {
    "training.alignment_epochs": Range(5, 10),
    "training.alignment_threshold": Range(0.51, 0.85),
    "training.alignment_weight": Range(0.1 * 32, 1.0 * 32),
}
LSTM = {
    "model.recurrent_dropout": Range(0.0, 0.6),
    "model.layer_dropout": Range(0.0, 0.6),
    "model.hidden": Choices([150, 200, 300, 400]),
    "model.encoder_layers": Range(1, 3),
    "model.decoder_layers": Range(1, 3),
    "training.batch_size": Choices([32, 64]),
}
TRANSFORMER = {
    "model.dropout": Range(0.0, 0.6),
    "model.heads": Range(4, 12),
    "model.width": Range(16, 64, step=2, times="model.heads"),
    "model.layers": Range(3, 10),
    "model.hidden": Choices([256, 512, 1024, 2048]),
    "training.batch_size": Choices([32, 64, 128]),
    "training.learning_rate": Range(1e-5, 1e-3, log=True),
}


@pytest.mark.parametrize(
    ("experiment", "expected"),
    [
        ("geo-template-rf", GEO),
        ("geo-template", GEO),
        ("atis-length", ATIS),
        ("okapi-email", OKAPI),
        ("mirror-lstm", LSTM),
        ("atis-length-lstm", LSTM),
        ("mirror-transformer", TRANSFORMER),
    ],
)
def test_published_spaces_have_the_authors_bounds(experiment, expected):
    config = Config.load(experiment)
    if "training.length_weight" in expected:
        assert config.training.batch_size == 32  # which the released bounds are summed over
    assert dict(paper_space(config).keys) == expected


def test_every_experiment_has_a_space_that_it_can_have_or_none():
    without = {name for name in shipped() if paper_space(Config.load(name)) is None}
    for name in shipped().keys() - without:
        paper_space(Config.load(name)).check(Config.load(name))
    transducers = {
        name for name in shipped() if name.startswith("mirror") and not re.search("lstm|transf", name)
    }
    words = ("bart", "marian", "style", "scan", "cogs")
    others = {name for name in shipped() if any(word in name for word in words)}
    unpublished = {name for name in shipped() if name.startswith(("geo", "okapi")) and name.endswith("-lstm")}
    assert without == transducers | others | unpublished | {"transducer", "programs", "programs-lstm"}


@pytest.mark.parametrize(
    ("experiment", "other"),
    [
        ("geo-iid-rf", "geo-template-rf"),
        ("geo-length", "geo-template"),
        ("geo-template-ar", "geo-template-ar"),
        ("atis-iid", "atis-length"),
        ("atis-iid-transformer", "atis-length-transformer"),
        ("mirror-xyz-lstm", "mirror-lstm"),
        ("okapi-calendar", "okapi-calendar"),
        ("my/geo-iid.toml", "my/geo-iid.toml"),
    ],
)
def test_tuned_on_what_is_out_of_distribution(experiment, other):
    assert tuned_on(experiment) == other


def test_trials_know_no_test_pairs():
    plan = make_plan("geo-iid-rf", epochs=3, on_itself=True)
    assert (plan.on, plan.config.data.train, plan.config.data.test) == (
        "geo-iid-rf",
        "geo/iid_train.tsv",
        None,
    )
    assert plan.config.training.epochs == 3
    assert make_plan("geo-iid-rf").config.data.train == "geo/template_train.tsv"


def test_heads_share_the_width():
    plan = make_plan("mirror-transformer")
    assert plan.space.drawn(plan.config).keys() >= {"model.heads", "model.dropout"}
    assert "model.width" not in plan.space.drawn(plan.config)  # the released has wider heads than the space
    values = plan.values({"model.heads": 7, "model.width": 18})
    assert plan.config_for(values, 0).model.width == 126


OWN = """
"training.length_weight" = { low = 0.01, high = 1.0, log = true }
model.decoder_hidden = { choices = [128, 200] }
[training]
alignment_epochs = { low = 3, high = 10 }
"""


def test_own_space(tmp_path):
    file = tmp_path / "space.toml"
    file.write_text(OWN.replace('"', "'"))
    assert dict(read_space(file).keys) == {
        "training.length_weight": Range(0.01, 1.0, log=True),
        "model.decoder_hidden": Choices([128, 200]),
        "training.alignment_epochs": Range(3, 10),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("'training.lenght_weight' = { low = 1, high = 2 }", "did you mean training.length_weight"),
        ("'training.length_weight' = { low = 1, hihg = 2 }", "high: missing"),
        ("'training.length_weight' = { low = 1, high = 2, lgo = true }", "lgo: unknown key"),
        ("'training.length_weight' = 1", "expected { low, high } or { choices }, found 1"),
        ("'training.length_weight' = { low = 2, high = 1 }", "expected low ≤ high, found 2 and 1"),
        ("'training.length_weight' = { low = 0, high = 1, log = true }", "log: expected low above 0"),
        ("'training.length_weight' = { low = 'a', high = 1 }", "low: expected a valid number, found 'a'"),
        ("'training.alignment_threshold' = { low = 0.5, high = 1.5 }", "less than or equal to 1, found 1.5"),
        ("'model.width' = { choices = [] }", "choices: List should have at least 1 item"),
        ("'model.width' = { low = 2.5, high = 8.0 }", "model.width: expected a valid integer"),
        (
            "'model.width' = { low = 2, high = 8, step = 0.5 }",
            "step: expected an integer, as the ends are",
        ),
        ("'model.width' = { low = 2, high = 8, step = 1.5 }", "as the ends are, found 1.5"),
        (
            "'model.decoder_hidden' = { choices = [128, -5, 200] }",
            "model.decoder_hidden: expected greater than or equal to 1, found -5",
        ),
        (
            "'model.order' = { choices = ['fertility', 'order', 'fertility'] }",
            "model.order: expected 'fertility-",
        ),
        (
            "'training.seed' = { low = 1, high = 8 }",
            "training.seed: this key must be the same in all trials",
        ),
        ("'width' = { low = 2, high = 8 }", "width: unknown key (did you mean model.width?)"),
        ("'model.width' = { low = 2, high = 8, times = 'model.head' }", "times: model.head: unknown key"),
        (
            "'model.width' = { low = 2, high = 8, times = 'training.warmup_steps' }",
            "times: expected a key with a number other than 0, found training.warmup_steps = 0",
        ),
        (
            "'model.width' = { low = 2, high = 8, times = 'data.start_token' }",
            "a number other than 0, found data.start_token = True",
        ),
        (
            "'model.width' = { low = 2, high = 8, times = 'model.width' }",
            "times: expected a key without times, found model.width",
        ),
        ("", "no keys"),
        ("a", "Expected '='"),
    ],
)
def test_wrong_spaces_are_refused(tmp_path, text, message):
    file = tmp_path / "space.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)) as error:
        make_plan("transducer", file)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize(
    "text",
    [
        "'model.heads' = { choices = [4, 6, 8] }\n'model.width' = { choices = [128, 384, 512] }",
        "'model.width' = { low = 16, high = 64, step = 2.0, times = 'model.heads' }",
        "'training.word_dropout' = { low = 0, high = 0.5, step = 0.25 }",
    ],
)
def test_what_some_trials_can_have_is_allowed(tmp_path, text):
    file = tmp_path / "space.toml"
    file.write_text(text)
    plan = make_plan("mirror-transformer", file)
    assert plan.space.drawn(plan.config).keys() <= plan.space.keys.keys()


def test_bounds_of_which_one_is_whole_hold_fractions():
    assert 0.5 in Range(0, 1.5)
    assert 0.5 not in Range(0, 2)
    assert True not in Range(0, 2)


@pytest.mark.parametrize("experiment", ["mirror", "style-passive", "transducer", "atis-iid-bart"])
def test_experiments_without_a_space_say_so(experiment):
    with pytest.raises(ConfigError, match=r"the paper has no search space for this experiment.*--space"):
        make_plan(experiment)
