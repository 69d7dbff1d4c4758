"""Lists with separators in their rule grow like lists without, in the order that training shows."""

from dataclasses import replace
from random import Random

import pytest

from ftor.grammar import Grammar
from ftor.text.programs import UnitSettings
from ftor.text.programs.pairs import encode_pairs
from ftor.text.programs.rules import RuleUnits
from ftor.text.reading import Pair
from ftor.text.recombining import recombined

CONDITIONS = """
Cond -> 'owner' '=' Person | 'size' '=' Size | 'colour' '=' Colour | 'kind' '=' Kind
Source : files | mails | notes
Person : anna | paul | mary
Size : huge | tiny | small
Colour : red | blue | green
Kind : new | old | late
"""
FORMS = {
    "none": ("Query -> 'get' Source 'where' Conds", "Conds -> Cond | Cond Conds"),
    "between": ("Query -> 'get' Source 'where' Conds", "Conds -> Cond | Cond 'AND' Conds"),
    "by-name": ("Query -> 'get' Source 'where' Conds", "Conds -> Cond | Cond And Conds", "And -> 'AND'"),
    "left": ("Query -> 'get' Source 'where' Conds", "Conds -> Cond | Conds 'AND' Cond"),
    "after-the-first": ("Query -> 'get' Source 'where' Cond Rest", "Rest -> () | 'AND' Cond Rest"),
    "as-in-lark": ("Query -> 'get' Source 'where' Cond Rest", "Rest -> () | More Rest", "More -> 'AND' Cond"),
    "before": ("Query -> 'get' Source 'where' Conds", "Conds -> 'AND' Cond | 'AND' Cond Conds"),
    "after": ("Query -> 'get' Source 'where' Conds", "Conds -> () | Cond 'AND' Conds"),
}
VALUES = {
    "by": ("owner", ("anna", "paul", "mary")),
    "sized": ("size", ("huge", "tiny", "small")),
    "painted": ("colour", ("red", "blue", "green")),
    "made": ("kind", ("new", "old", "late")),
}
PHRASES = {f"{verb} {one}": f"{key} = {one}" for verb, (key, some) in VALUES.items() for one in some}


def program(form, source, phrases):
    conditions = [PHRASES[phrase] for phrase in phrases]
    between = " " if form == "none" else " AND "
    before, after = "AND " * (form == "before"), " AND" * (form == "after")
    return f"get {source} where {before}{between.join(conditions)}{after}"


def oracle(form, word, is_reversed, words):
    """The target of a sentence, or nothing if it is not one of ours."""
    _, source, *others = words
    if word:
        assert all(other == word for other in others[2::3])
        others = [other for place, other in enumerate(others) if place % 3 != 2]
    phrases = [" ".join(others[place : place + 2]) for place in range(0, len(others), 2)]
    return program(form, source, phrases[::-1] if is_reversed else phrases)


def sentences(form, word, is_reversed):
    """One to three conditions of different kinds in any order."""
    random, found = Random(0), {}
    between = f" {word} " if word else " "
    while len(found) < 90:
        verbs = random.sample(sorted(VALUES), random.choice((1, 2, 2, 2, 3)))
        phrases = [f"{verb} {random.choice(VALUES[verb][1])}" for verb in verbs]
        source = random.choice(("files", "mails", "notes"))
        said = between.join(phrases[::-1] if is_reversed else phrases)
        found[f"show {source} {said}"] = program(form, source, phrases)
    return [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(found.items(), 1)
    ]


@pytest.mark.parametrize(
    ("form", "word", "is_reversed"),
    [*((form, "", False) for form in FORMS), ("between", "and", True), ("after-the-first", "and", True)],
)
def test_made_pairs_have_the_order_of_their_sentences(form, word, is_reversed):
    pairs = sentences(form, word, is_reversed)
    grammar = Grammar.parse("\n".join(FORMS[form]) + CONDITIONS)
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 40, seed=0, iterations=30, grow_lists=True)
    assert len(made) == 40
    assert [pair.target_text for pair in made] == [
        oracle(form, word, is_reversed, pair.source) for pair in made
    ]
    assert sum(pair.target_text.count("=") > 3 for pair in made) >= 2


@pytest.mark.parametrize("are_sorted", [False, True])
def test_few_pairs_show_the_order_too(are_sorted):
    """Hardly any two conditions are together twice below the same source, but their keys are."""
    pairs = sentences("between", "and", False)[:30]
    if are_sorted:
        pairs = [
            replace(pair, target=tuple(text.split()), target_text=text) for pair, text in sorted_by_key(pairs)
        ]
    grammar = Grammar.parse("\n".join(FORMS["between"]) + CONDITIONS)
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 60, seed=0, iterations=30, grow_lists=True)
    assert len(made) == 60
    in_order = [oracle("between", "and", False, pair.source) for pair in made]
    wanted = [text for _, text in sorted_by_key(made)] if are_sorted else in_order
    assert [pair.target_text for pair in made] == wanted


def sorted_by_key(pairs):
    """Pairs, each with its target when its conditions are sorted."""
    for pair in pairs:
        begin, _, conditions = pair.target_text.partition(" where ")
        yield pair, f"{begin} where {' AND '.join(sorted(conditions.split(' AND ')))}"


MARKS = ("red", "blue", "tall", "small", "new", "old", "late", "wide")


@pytest.mark.parametrize("grow_lists", [False, True])
@pytest.mark.parametrize("item", ["{}", "( {} )"])
@pytest.mark.parametrize("separator", [" ", " AND "])
def test_two_lists_of_one_rule_keep_their_items(separator, item, grow_lists):
    def program(*lists):
        return "GO " + " BY ".join(
            separator.join(item.format(word.upper()) for word in some) for some in lists
        )

    random, found = Random(0), {}
    while len(found) < 120:
        lists = [random.sample(MARKS, random.choice((1, 1, 2, 2, 3))) for _ in range(2)]
        found["go " + " by ".join(" ".join(some) for some in lists)] = program(*lists)
    pairs = [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(found.items(), 1)
    ]
    literal = "'{}'" if item == "{}" else "'(' '{}' ')'"
    between = "'AND' " if "AND" in separator else ""
    grammar = Grammar.parse(
        f"Query -> 'GO' Conds 'BY' Conds\nConds -> Cond | Cond {between}Conds\n"
        f"Cond -> {' | '.join(literal.format(word.upper()) for word in MARKS)}"
    )
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 60, seed=0, iterations=30, grow_lists=grow_lists)
    assert len(made) == 60
    for pair in made:
        lists = [some.split() for some in " ".join(pair.source).removeprefix("go ").split(" by ")]
        assert pair.target_text == program(*lists)
        assert all(len(set(some)) == len(some) for some in lists)


def test_lists_that_are_equally_long_in_training_grow():
    """`show` and `AND` are once in each pair, but a longer list has more separators."""
    pairs = [pair for pair in sentences("between", "", False) if pair.target_text.count("AND") == 1]
    grammar = Grammar.parse("\n".join(FORMS["between"]) + CONDITIONS)
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 40, seed=0, iterations=30, grow_lists=True)
    assert any(pair.target_text.count("AND") == 2 for pair in made)
    assert [pair.target_text for pair in made] == [oracle("between", "", False, pair.source) for pair in made]


def test_an_item_of_an_outer_list_is_not_put_into_an_inner_one():
    """Both lists of `where a OR b AND c` begin at the same token."""
    random, found = Random(0), {}
    while len(found) < 120:
        lists = [random.sample(MARKS, random.choice((1, 1, 2, 3))) for _ in range(random.choice((1, 2, 3)))]
        found["go " + " , ".join(" or ".join(some) for some in lists)] = nested(lists)
    pairs = [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(found.items(), 1)
    ]
    marks = " | ".join(f"'<' '{word.upper()}'" for word in MARKS)
    grammar = Grammar.parse(
        f"Query -> 'GO' Ands\nAnds -> Ors | Ors 'AND' Ands\nOrs -> Mark | Mark 'OR' Ors\nMark -> {marks}"
    )
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 60, seed=0, iterations=30, grow_lists=True)
    assert len(made) == 60
    for pair in made:
        lists = " ".join(pair.source).removeprefix("go ").split(" , ")
        assert pair.target_text == nested([some.split(" or ") for some in lists])


def nested(lists):
    return "GO " + " AND ".join(" OR ".join(f"< {word.upper()}" for word in some) for some in lists)
