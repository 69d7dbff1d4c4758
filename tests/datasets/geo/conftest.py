"""A data folder with the facts of a small country of our own making."""

import pytest

from ftor.datasets.geo import facts
from support import tiny_geo


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_geo.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def known(folder):
    return facts.find(folder)
