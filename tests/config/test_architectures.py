"""The `[model]` sections: how one is chosen, and what each says about its network."""

import pytest

from ftor.config import Config, ConfigError
from ftor.config.architectures import ARCHITECTURES, TransducerConfig
from ftor.config.complaints import section_keys

BASELINES = [name for name in ARCHITECTURES if name != "transducer"]


def load(architecture):
    """Only pretrained weights have no default."""
    needed = ["model.pretrained=some-weights"] if architecture == "pretrained" else []
    return Config.load("transducer", [f"model.architecture={architecture}", *needed])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_architecture_is_chosen_by_its_name(architecture):
    assert load(architecture).model.architecture == architecture


def test_a_missing_value_is_named():
    with pytest.raises(ConfigError, match=r"model\.pretrained: expected a value, found none"):
        Config.load("transducer", ["model.architecture=pretrained"])


def test_architectures_differ_in_their_hashes():
    hashes = {load(architecture).hash for architecture in ARCHITECTURES}
    assert len(hashes) == len(ARCHITECTURES)
    assert Config().hash in hashes


@pytest.mark.parametrize(
    ("values", "recorded"),
    [({}, "44136fa355b3"), ({"model": {"width": 128}, "training": {"epochs": 7}}, "e7fc5082f954")],
)
def test_the_default_architecture_is_not_part_of_the_hash(values, recorded):
    assert Config.check(values, "here").hash == recorded


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_unused_keys_are_keys_of_other_sections(architecture):
    for path in ARCHITECTURES[architecture].unused_keys:
        section, key = path.split(".")
        assert section != "model"
        assert key in section_keys(architecture)[section]


@pytest.mark.parametrize(
    ("order", "batch_by", "reordered"),
    [
        ("fertility-reordering", "target", 7),
        ("reordering-fertility", "source", 3),
        ("fertility", "target", 0),
    ],
)
def test_transducers_are_batched_by_the_side_that_they_reorder(order, batch_by, reordered):
    model = TransducerConfig(order=order)
    assert (model.batch_by, model.reordered(source=3, target=7)) == (batch_by, reordered)


def test_fertilities_limit_the_targets_of_transducers():
    assert TransducerConfig(max_fertility=3).longest_target(5) == 15


def test_only_independent_decoders_accept_a_grammar():
    assert TransducerConfig(decoder="independent").accepts_grammar
    assert not TransducerConfig(decoder="autoregressive").accepts_grammar


@pytest.mark.parametrize("architecture", BASELINES)
def test_baselines_have_no_structure(architecture):
    model = load(architecture).model
    assert not model.structured
    assert not model.copies
    assert model.longest_target(5) is None
    assert model.reordered(source=3, target=7) == 0
    assert model.accepts_grammar


def test_a_grammar_widens_the_beam_and_makes_batches_smaller():
    model = Config.load("transducer", ["model.architecture=lstm", "model.beam=5", "grammar_beam=50"]).model
    assert (model.beam_size(grammar=False), model.beam_size(grammar=True)) == (5, 50)
    assert [model.prediction_batch_size(64, grammar) for grammar in (False, True)] == [64, 6]
    assert model.prediction_batch_size(3, grammar=True) == 1
    assert TransducerConfig().prediction_batch_size(64, grammar=True) == 64


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_description_begins_the_model_card(architecture):
    description = load(architecture).model.description
    assert description.startswith(
        "A sequence transducer, " if architecture == "transducer" else "A baseline, "
    )
