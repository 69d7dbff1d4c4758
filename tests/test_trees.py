"""Permutation trees: how they are written, read and applied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.trees import PermutationTree
from oracles import permutation as oracle

PAPER = "(△ (∧ a b) (△ c d))"


def tree_from_oracle(tree):
    """The library's tree by way of its written form, the only thing the two have in common."""
    return PermutationTree.parse(written(tree))[0]


def written(tree):
    if isinstance(tree, int):
        return str(tree)
    operation, left, right = tree
    return f"({'∧△'[operation]} {written(left)} {written(right)})"


@st.composite
def oracle_trees(draw, start=0, end=None):
    end = draw(st.integers(1, 12)) if end is None else end
    if end - start == 1:
        return start
    split = draw(st.integers(start + 1, end - 1))
    left, right = draw(oracle_trees(start, split)), draw(oracle_trees(split, end))
    return (draw(st.integers(0, 1)), left, right)


class TestPaperExample:
    def test_apply(self):
        tree, tokens = PermutationTree.parse(PAPER)
        assert tokens == ["a", "b", "c", "d"]
        assert tree.apply(tokens) == ["d", "c", "a", "b"]

    def test_permutation(self):
        tree, _ = PermutationTree.parse(PAPER)
        assert tree.permutation == (2, 3, 1, 0)

    def test_written_with_positions_and_with_tokens(self):
        tree, tokens = PermutationTree.parse(PAPER)
        assert str(tree) == "(△ (∧ 0 1) (△ 2 3))"
        assert tree.format(tokens) == PAPER

    def test_nodes_in_preorder(self):
        tree, _ = PermutationTree.parse(PAPER)
        assert list(tree.nodes) == [(0, 2, 4, 1), (0, 1, 2, 0), (2, 3, 4, 1)]


@given(oracle_trees())
def test_every_tree_survives_writing_and_reading(tree):
    text = written(tree)
    parsed, tokens = PermutationTree.parse(text)
    assert str(parsed) == text
    assert tokens == [str(position) for position in range(len(tokens))]
    assert parsed == tree_from_oracle(tree)


@given(oracle_trees())
def test_every_tree_reorders_as_the_oracle_does(tree):
    parsed = tree_from_oracle(tree)
    assert parsed.permutation == oracle.permutation(tree)
    assert parsed.apply(range(len(oracle.leaves(tree)))) == oracle.reordered(tree)
    assert [tuple(node) for node in parsed.nodes] == oracle.nodes(tree)


def test_a_single_leaf():
    tree, tokens = PermutationTree.parse("word")
    assert tokens == ["word"]
    assert (str(tree), tree.permutation, list(tree.nodes)) == ("0", (0,), [])
    assert tree.apply(tokens) == ["word"]


def test_trees_compare_and_hash_by_structure():
    one, _ = PermutationTree.parse("(∧ a (△ b c))")
    same, _ = PermutationTree.parse("(∧ x (△ y z))")
    other, _ = PermutationTree.parse("(∧ (△ a b) c)")
    assert one == same
    assert one != other
    assert len({one, same, other}) == 2


@pytest.mark.parametrize("items", [["a", "b", "c"], ["a", "b", "c", "d", "e"]], ids=["too few", "too many"])
@pytest.mark.parametrize("method", ["apply", "format"])
def test_a_wrong_number_of_items_is_named(method, items):
    tree, _ = PermutationTree.parse(PAPER)
    with pytest.raises(ValueError, match=rf"4.*{len(items)}"):
        getattr(tree, method)(items)


@pytest.mark.parametrize(
    "text",
    ["", "(", ")", "(∧ a)", "(∧ a b c)", "(? a b)", "(∧ a b", "(∧ a b))", "(∧ a b) c", "a b", "()"],
)
def test_malformed_text_is_refused(text):
    with pytest.raises(ValueError, match=r"expected"):
        PermutationTree.parse(text)
