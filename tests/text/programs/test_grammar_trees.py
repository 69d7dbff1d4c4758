"""Programs as nodes by a grammar: rules with words are nodes, rows are lists, names are leaves."""

import pytest

from ftor.grammar import Grammar
from ftor.text.programs import ProgramError
from ftor.text.programs.grammar_trees import GrammarTrees

GEO = Grammar.read("geo")
ATIS = Grammar.read("atis")
OKAPI = Grammar.read("okapi-document")


def shown(grammar, target):
    return [(node.unit, node.kind) for node in nodes(grammar, target)]


def nodes(grammar, target):
    return GrammarTrees(grammar).nodes(target.split(), ())


def test_operators_of_a_class_and_words_of_a_rule_are_one_node():
    assert shown(GEO, "answer largest_one population_1 state next_to_2 stateid new mexico") == [
        ("answer _", "Query"),
        ("largest_one population_1 _", "State"),
        ("state _", "State"),
        ("next_to_2 _", "State"),
        ("stateid _", "State"),
        ("new mexico", "StateName"),
    ]


def test_words_after_a_slot_belong_to_the_node():
    assert shown(GEO, "answer cityid salt lake city _")[1:] == [
        ("cityid _ _", "City"),
        ("salt lake city", "CityName"),
    ]


def test_a_row_of_trees_is_a_list():
    root, *others = nodes(OKAPI, "GET drive.recent FILTER file.name eq my notes COUNT")
    assert [(child.is_item, child.node.unit) for child in root.children] == [
        (True, "GET drive.recent"),
        (True, "FILTER file.name eq _"),
        (True, "COUNT"),
    ]
    assert [node.unit for node in others if node.is_name] == ["my notes"]


def test_a_row_in_brackets_is_a_list_of_their_node():
    target = (
        "answer _flight ( intersection _nonstop _flight all _to_2 city_name boston _from_2 city_name denver )"
    )
    brackets = GrammarTrees(ATIS).nodes(target.split(), ())[2]
    assert brackets.unit == "( intersection _ _ )"
    assert [(child.is_item, child.node.unit) for child in brackets.children] == [
        (False, "_nonstop _"),
        (True, "_to_2 _"),
        (True, "_from_2 _"),
    ]


def test_nodes_span_their_tokens():
    target = "answer _flight ( intersection _to_2 city_name boston _from_2 city_name denver )"
    for node in nodes(ATIS, target):
        words = " ".join(target.split()[node.start : node.end])
        for child in reversed(node.children):
            assert node.start < child.node.start <= child.node.end <= node.end
        assert words.startswith(node.unit.split(" _")[0])


def test_what_the_grammar_does_not_derive_is_refused():
    with pytest.raises(ProgramError, match="geo does not derive it: answer answer"):
        GrammarTrees(GEO).nodes(["answer", "answer"], ())


LISTS = {
    "Conds -> Cond | Cond 'AND' Conds": "a x AND b AND a y",
    "Conds -> Cond | Conds 'AND' Cond": "a x AND b AND a y",
    "Conds -> Cond | Cond And Conds\nAnd -> 'AND' 'ALSO'": "a x AND ALSO b AND ALSO a y",
    "Conds -> () | Cond 'AND' Conds": "a x AND b AND a y AND",
    "Conds -> 'AND' Cond | 'AND' Cond Conds": "AND a x AND b AND a y",
    "Conds -> Cond Rest\nRest -> () | 'AND' Cond Rest": "a x AND b AND a y",
    "Conds -> Cond Rest\nRest -> () | More Rest\nMore -> 'AND' Cond": "a x AND b AND a y",
    "Conds -> () | Cond Conds": "a x b a y",
}


@pytest.mark.parametrize("rules", LISTS, ids=[rules.replace("\n", "; ") for rules in LISTS])
def test_lists_may_have_separators(rules):
    grammar = Grammar.parse(f"Query -> 'get' Conds 'end'\n{rules}\nCond -> 'a' Name | 'b'\nName : x | y")
    target = f"get {LISTS[rules]} end".split()
    root, *others = GrammarTrees(grammar).nodes(target, ())
    (of,) = [node for node in (root, *others) if any(child.is_item for child in node.children)]
    assert [" ".join(child.node.units(target)) for child in of.children] == ["a x", "b", "a y"]
    separator = "AND ALSO" if "ALSO" in target else "AND" * ("AND" in target)
    assert {child.separator for child in of.children} == {tuple(separator.split())}
    assert {" ".join(target[start:end]) for start, end in of.gaps} == {separator} - {""}
    assert (root.start, root.end) == (0, len(target))


@pytest.mark.parametrize(
    "rules",
    [
        "Conds -> Cond | Cond 'AND' Conds | Cond 'OR' Conds",
        "Conds -> Cond | Cond Joiner Conds\nJoiner : AND | OR",
        "Conds -> Cond | 'not' Conds | Cond 'AND' Conds",
        "Conds -> Cond | '(' Conds ')' | Cond 'AND' Conds",
    ],
)
def test_rules_of_several_kinds_are_no_lists(rules):
    grammar = Grammar.parse(f"Query -> 'get' Conds\n{rules}\nCond -> 'a' Name | 'b'\nName : x | y")
    nodes = GrammarTrees(grammar).nodes(["get", "b", "AND", "a", "x"], ())
    assert not any(child.is_item for node in nodes for child in node.children)


def test_a_single_item_of_one_word_is_in_one_run_with_the_words_around():
    """Unless its list may have separators: it is an item then."""
    rules = "Query -> 'get' Conds\nConds -> Cond | Cond{}Conds\nCond -> 'a' | 'b' 'b'"
    plain, separated = (GrammarTrees(Grammar.parse(rules.format(part))) for part in (" ", " 'AND' "))
    assert plain.runs(["get", "a"]) == [("get", "a")]
    assert separated.runs(["get", "a"]) == [("get",), ("a",)]


def test_separators_are_runs_of_their_own():
    grammar = Grammar.parse(
        "Query -> 'get' Conds\nConds -> 'AND' Cond | 'AND' Cond Conds\nCond -> 'a' | 'b' 'b'"
    )
    runs = GrammarTrees(grammar).runs(["get", "AND", "a", "AND", "b", "b"])
    assert runs == [("get",), ("AND",), ("a",), ("AND",), ("b", "b")]
