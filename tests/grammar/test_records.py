"""Objects that share a key are of one kind, and their keys come in one order if training shows one."""

from collections import Counter

import pytest

from ftor.grammar.records import MOST_FREE, SURE_KEYS, SURE_ORDER, Records


def records(objects):
    return Records(Counter(tuple(keys) for keys in objects))


def test_objects_that_share_a_key_are_of_one_kind():
    found = records(["ab", "bc", "xy"])
    assert found.kind_of("a") == found.kind_of("c") != found.kind_of("x")
    assert found.kind_of("") == -1


def test_keys_come_in_the_order_of_training():
    found = records(["ab", "bd", "acd", "ab", "ad"])
    assert found.kinds[0].ordered
    assert found.kinds[0].groups == (("a",), ("b", "c"), ("d",))


def test_many_keys_whose_order_is_not_shown_have_one():
    keys = "bcdef"[: MOST_FREE + 1]
    found = records([f"a{key}" for key in keys] * SURE_ORDER)
    assert found.kinds[0].groups == tuple((key,) for key in f"a{keys}")


@pytest.mark.parametrize("objects", [["ab", "ba"] * SURE_ORDER, ["aa"] * SURE_ORDER, ["ab", "bc", "ca"] * 5])
def test_without_one_order_there_is_none(objects):
    assert not records(objects).kinds[0].ordered


def test_few_objects_show_no_order():
    assert not records(["ab"] * (SURE_ORDER - 1)).kinds[0].ordered
    assert records(["ab"] * SURE_ORDER).kinds[0].ordered


def test_a_key_of_all_of_many_objects_is_required():
    many = ["ab"] * SURE_ORDER + ["a"] * (SURE_KEYS - SURE_ORDER)
    assert records(many).kinds[0].required == {"a"}
    assert not records([*many[:-1], ""]).kinds[0].required
    assert not records([*many[:-1], "b"]).kinds[0].required
