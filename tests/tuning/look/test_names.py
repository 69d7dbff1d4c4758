"""Names in quotes that come from the sentences call for copying."""

from ftor.text.programs import Programs
from ftor.tuning.look import look
from ftor.tuning.look.names import names_from_sentences
from support.pairs import pairs_of

PEOPLE = [f"{first} {last}" for first in ("Ida", "Tom", "Eva") for last in ("Berg", "Okafor", "Silva")]


def rows(target="call(who='{}', at={})"):
    return [(f"call {name} at {hour}", target.format(name, hour)) for name in PEOPLE for hour in (3, 4, 5, 6)]


def test_frequent_names_are_copied():
    """All words are frequent, so nothing else asks for it."""
    found = look(pairs_of(rows()))
    assert found.settings["model.copying"] is True
    assert any("9 names in quotes stand in their sources" in finding.text for finding in found.findings)


def test_words_without_quotes_and_json_leave_it_open():
    json = rows('{{"who": "{}", "at": {}}}')
    bare = [(source, target.replace("'", "")) for source, target in rows()]
    for some in (json, bare):
        pairs = pairs_of(some)
        programs = Programs.learn([pair.target_text for pair in pairs])
        assert names_from_sentences(pairs, programs) == []


def test_names_that_the_sentences_do_not_say_are_not_copied():
    pairs = pairs_of([(source.lower(), target) for source, target in rows()])
    programs = Programs.learn([pair.target_text for pair in pairs])
    assert names_from_sentences(pairs, programs) == []
