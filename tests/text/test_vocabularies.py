"""The vocabularies of a model."""

import pytest
import torch

from ftor.text.batches import NO_CLASS
from ftor.text.copying import Copying
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import COPY, START, UNKNOWN

PAIRS = [Pair(("a", "b", "a"), ("f", "a"), 1), Pair(("c",), ("c", "g", "f"), 2)]
NAMES = [Pair(("find", "High", "top"), ("TOP", "high", "Low"), 1), Pair(("find",), ("High", "x"), 2)]


def test_a_copy_is_its_class_or_the_first_of_its_kind():
    vocabularies = Vocabularies.of(PAIRS, copying=Copying(), start_token=True)
    batch = vocabularies.source_batch([("f", "q", "f"), ("q",)])
    # V = 3: f is class 1, and 3 + 2 is what stands at position 2.
    assert batch.copies.choices.tolist() == [[NO_CLASS, 1, 5, 1], [NO_CLASS, 4, NO_CLASS, NO_CLASS]]
    # f is a class, but training makes a copy of whatever the source has.
    assert batch.as_trained(torch.tensor([1, 2])).tolist() == [COPY, 2]
    assert batch.as_trained(torch.tensor([5, 4])).tolist() == [COPY, COPY]


def test_a_closed_vocabulary_copies_its_classes_alone():
    vocabularies = Vocabularies.of(PAIRS, Copying(open=False), terminals=["q"])
    assert vocabularies.target.tokens == ["f", "g", "q", "a", "c"]  # a and c are copies wherever they occur
    batch = vocabularies.source_batch([("f", "q", "r", "a")])
    assert batch.copies.choices.tolist() == [[NO_CLASS, 1, 3, NO_CLASS, 4]]


def test_some_tokens_are_never_copies():
    rules = Copying(any_case=True, never=frozenset({"TOP"}))
    vocabularies = Vocabularies.of(NAMES, rules)
    assert vocabularies.target.tokens == ["TOP", "Low", "High", "x"]
    assert vocabularies.target_classes(NAMES[0].source, NAMES[0].target) == [1, COPY, 2]
    batch = vocabularies.source_batch([("top", "TOP", "hIGH", "X")])
    # A copy of top is another word than the keyword; one of hIGH is spelled as the class that it means.
    assert batch.copies.choices.tolist() == [[NO_CLASS, 5 + 1, 1, 3, 4]]
    assert batch.as_trained(torch.tensor([1])).tolist() == [1]
    assert batch.as_trained(torch.tensor([3])).tolist() == [COPY]


@pytest.mark.parametrize(
    ("source", "output", "foreign"),
    [
        ("list the get zork", "get_list zork", ["list", "the", "get"]),
        ("run zork", "get_list", ["zork"]),
        ("run Zork", "get_list zork", []),
        ("run to new york city", "get_list new_york", ["to", "city"]),
        ("run run", "run", []),
        ("top zork", "TOP", ["top", "zork"]),
    ],
)
def test_unknown_words_are_foreign_unless_they_are_copied(source, output, foreign):
    copying = Copying(any_case=True, never=frozenset({"TOP"}), forms=("snake",))
    vocabularies = Vocabularies(["run"], ["get_list", "run", "TOP"], copying)
    assert vocabularies.foreign(source.split(), output.split()) == tuple(foreign)


def test_without_copying_all_unknown_words_are_foreign():
    assert Vocabularies(["run"], ["run", "zork"]).foreign(["run", "zork"], ["zork"]) == ("zork",)


def test_columns_are_the_choices_of_terminals_then_of_source_tokens():
    terminals = ["g", "q", "zz"]
    batch = Vocabularies.of(PAIRS, Copying()).source_batch([("f", "q"), ("r",)], terminals)
    no = NO_CLASS
    # q is no class, but a word of the first source; V = 3.
    assert batch.columns.tolist() == [[2, 3 + 2, no, no, 1, 3 + 2], [2, no, no, no, 3 + 1, no]]
    plain = Vocabularies.of(PAIRS).source_batch([("f", "q"), ("r",)], terminals)
    assert plain.columns.tolist() == [[3, no, no]] * 2  # with classes for what is copied above
    rows = batch.take(torch.tensor([1]))
    assert rows.columns.tolist() == batch.columns[1:].tolist()


def test_words_are_looked_up_in_lower_case_if_wanted():
    pairs = [Pair(("Boston", "boston"), ("Boston",), 1)]
    vocabularies = Vocabularies.of(pairs, Copying(), lowercase=True)
    assert vocabularies.source.tokens == ["boston"]
    assert vocabularies.source_ids(["BOSTON", "Boston"]) == [START, 3, 3]
    assert vocabularies.target_classes(pairs[0].source, pairs[0].target) == [COPY]


def test_copies_are_spelled_as_the_class_that_they_are():
    vocabularies = Vocabularies.of(NAMES, Copying(any_case=True, never=frozenset({"TOP"})))
    assert vocabularies.spelled(["top", "hIGH", "new", "x"]) == ["top", "High", "new", "x"]
    assert Vocabularies.of(NAMES).spelled(["top"]) == []


def test_ids_of_a_source_and_classes_of_its_target():
    vocabularies = Vocabularies.of(PAIRS)
    assert vocabularies.source_ids(["b", "z"]) == [START, 4, UNKNOWN]
    assert vocabularies.target_classes(["b"], ["g", "z"]) == [3, NO_CLASS]
    assert Vocabularies.of(PAIRS, start_token=False).source_ids(["b", "z"]) == [4, UNKNOWN]


def test_outputs_are_classes_and_tokens_of_the_source():
    vocabularies = Vocabularies.of(PAIRS, Copying())  # V = 3
    assert vocabularies.output([1, 3 + 2, 2], ["@start@", "q", "r"]) == ("f", "r", "g")
    assert vocabularies.output([], ["@start@"]) == ()


def test_terminals_are_classes():
    vocabularies = Vocabularies.of(PAIRS, Copying(), terminals=["a", "z"])
    assert vocabularies.target.tokens == ["f", "g", "a", "z"]


def test_the_word_to_emphasise_is_marked():
    vocabularies = Vocabularies.of(PAIRS)
    assert vocabularies.emphasised([("a", "b")], None) is None
    marked = vocabularies.emphasised([("a", "b", "a"), ("c",)], ["a", None])
    assert marked.padded(torch.arange(2), padding=0).tolist() == [[0, 1, 0, 1], [0, 0, 0, 0]]
