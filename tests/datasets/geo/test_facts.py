"""The reader of facts: every field, errors that name the line, and no other error whatever the file holds."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftor.datasets import judges
from ftor.datasets.geo import answer, facts
from ftor.datasets.geo.facts import City, Extremes, State, Stretch
from ftor.text.reading import DataError
from support import tiny_geo


def test_every_field(tmp_path):
    known = facts.find(tiny_geo.write(tmp_path))
    assert known.states[1] == State("north brook", "nb", "mill", 2e6, 100.0, ("mill", "ash", "oak", "yew"))
    assert known.states[2].population == 600
    assert isinstance(known.states[2].population, int)
    assert known.cities[1] == City("mill", "av", "avalon", 100000)
    assert known.rivers[0] == Stretch("avon", 800, ("avalon", "north brook", "avalon"))
    assert known.borders[2] == ("quill", ("north brook",))
    assert known.extremes[2] == Extremes("quill", "tor", 100, "red river", -3)
    assert known.lakes == (Stretch("mere", 10, ("avalon",)),)
    assert known.mountains == ("king's seat",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("city('quill',", "town('quill',", ":9: expected a fact about state, city, .* found town"),
        ("'qu','gull',150000", "'qu','gull'", r":9: expected ,, found \)"),
        ("'gull',150000", "'gull',many", ":9: expected a number, found many"),
        ("'gull',150000", "7,150000", ":9: expected a name, found 7"),
        ("['quill']).", "'quill').", ":11: expected a list of names, found 'quill'"),
        ("['quill']).", "['quill' 'avalon']).", r":11: expected , or \], found 'avalon'"),
        ("150000).", "150000)", r":10: expected \., found river"),
        ("city('quill'", "city(\"quill\"", ":9: expected Prolog facts, found '\"'"),
        ("road('1',['avalon','quill']).", "road('1'", r":22: expected ,, found the end of the file"),
        ("city(", "road('x',[]). % ", ": no facts about city"),
    ],
)  # fmt: skip
def test_errors_name_the_line(tmp_path, old, new, message):
    path = tiny_geo.write(tmp_path) / facts.FILE
    path.write_text(tiny_geo.GEOBASE.replace(old, new))
    with pytest.raises(DataError, match=rf"geobase\.pl{message}"):
        facts.read(path)


def test_other_encodings_are_named(tmp_path):
    (tmp_path / "x.pl").write_bytes(b"% ok\nstate('\xff').\n")
    with pytest.raises(DataError, match=r"x\.pl:2: not UTF-8"):
        facts.read(tmp_path / "x.pl")


def test_without_facts_the_error_says_where_they_were_looked_for(tmp_path):
    with pytest.raises(DataError) as error:
        judges("geo", tmp_path)
    assert f"geo/geobase.pl: no such file; looked in {tmp_path}" in str(error.value)


def test_changed_facts_are_read_again(tmp_path):
    folder = tiny_geo.write(tmp_path)
    query = ["answer", "population_1", "cityid", "gull", "qu"]
    assert answer(query, folder) == ("150000",)
    (folder / facts.FILE).write_text(tiny_geo.GEOBASE.replace("150000", "7"))
    assert answer(query, folder) == ("7",)


PIECES = st.sampled_from(
    ["state(", "'a'", "a", "1", "-2.5e+3", "9" * 40, ",", "[", "]", ")", ").", "%", "\n", "'"]
)


@settings(max_examples=100)
@given(st.lists(PIECES | st.sampled_from(tiny_geo.GEOBASE.splitlines()), max_size=30), st.binary(max_size=8))
def test_any_file_is_read_or_refused(tmp_path_factory, pieces, noise):
    path = tmp_path_factory.getbasetemp() / "fuzz.pl"
    path.write_bytes("".join(pieces).encode() + noise)
    with pytest.raises(DataError, match=r"fuzz\.pl"):
        facts.read(path)
    path.write_bytes(tiny_geo.GEOBASE.encode() + "".join(pieces).encode() + noise)
    with contextlib.suppress(DataError):
        assert len(facts.read(path).cities) >= 4
