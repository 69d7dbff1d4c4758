"""The sections of data, training and decoding."""

import pytest
from pydantic import ValidationError

from ftor.config import DataConfig, DecodingConfig, TrainingConfig


@pytest.mark.parametrize("section", [DataConfig, TrainingConfig, DecodingConfig])
def test_every_key_has_a_default(section):
    assert section() == section.model_validate({})


def test_sections_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        TrainingConfig().epochs = 3


@pytest.mark.parametrize(("weight", "epochs"), [(0.0, 0), (1.0, 2)])
def test_alignment_needs_a_weight_and_epochs(weight, epochs):
    section = TrainingConfig(alignment_weight=weight, alignment_epochs=epochs)
    assert section.alignment_epochs == epochs


@pytest.mark.parametrize(("weight", "epochs"), [(0.0, 2), (1.0, 0)])
def test_one_of_them_is_not_enough(weight, epochs):
    with pytest.raises(ValidationError, match="expected both 0 or both above 0"):
        TrainingConfig(alignment_weight=weight, alignment_epochs=epochs)


def test_arities_are_read():
    assert DataConfig(programs="prefix", arities="and:2 a:b:1").arity_of == {"and": 2, "a:b": 1}
    assert DataConfig().arity_of is None


@pytest.mark.parametrize(
    ("programs", "arities", "problem"),
    [
        ("prefix", "and:2 not", "expected symbols with their numbers of arguments, .* found 'not'"),
        ("auto", "and:two", "found 'and:two'"),
        ("auto", "and:2 and:1", "expected each symbol once, found 'and' twice"),
        ("json", "and:2", 'expected programs = "prefix" or "auto", found "json"'),
    ],
)
def test_bad_arities_are_refused(programs, arities, problem):
    with pytest.raises(ValidationError, match=problem):
        DataConfig(programs=programs, arities=arities)
