"""Heads with one or two children of a kind are lists, those with an optional argument are not."""

from ftor.text.programs import Programs


def lists(texts):
    return {text for _, text in Programs.learn(texts).lists}


def test_one_or_two_items_are_a_list():
    texts = [f"( do ( {a} ) )" for a in "abc"] + [f"( do ( {a} ) ( {b} ) )" for a in "abc" for b in "abc"]
    assert lists(texts) == {"do"}


def test_an_optional_argument_of_another_kind_makes_no_list():
    texts = [f"( move ( {a} ) )" for a in "abc"] + [
        f"( move ( {a} ) ( to {b} ) )" for a in "abc" for b in "xyz"
    ]
    assert lists(texts) == set()


def test_one_or_two_items_with_the_same_head_are_a_list():
    texts = [f"( list ( item {a} ) )" for a in "abc"]
    texts += [f"( list ( item {a} ) ( item {b} ) )" for a in "abc" for b in "abc"]
    assert lists(texts) == {"list"}
