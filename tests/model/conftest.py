"""Fixtures of the tests of models."""

from pathlib import Path

import pytest

import ftor
from ftor.model.model import Model


@pytest.fixture(scope="session")
def model(trained: Path) -> Model:
    """Give the model of the finished run. Do not change it."""
    return ftor.load(trained)
