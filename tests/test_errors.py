"""Hints for misspelled names."""

import pytest

from ftor.errors import nearest


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mirorr", "mirror"), ("mirror-", "mirror"), ("geo_iid", "geo-iid"), ("atis", None)],
)
def test_the_nearest_name_is_one_that_is_similar(name, expected):
    assert nearest(name, ["mirror", "geo-iid", "mirror-xyz"]) == expected


def test_of_no_names_there_is_no_nearest():
    assert nearest("name", []) is None
