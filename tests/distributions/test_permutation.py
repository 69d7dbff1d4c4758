"""`SeparablePermutation`: the tests of every distribution, fence posts, closed forms, and what it refuses."""

import math
from itertools import permutations

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import one_hot, pad
from torch.testing import assert_close

from ftor import SeparablePermutation
from ftor.ops import LOG_ZERO
from oracles import permutation as oracle
from support.distributions import DistributionTests, Values

LENGTHS = torch.tensor([5, 1, 3, 2, 4])


def dense_scores(batch, length, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, *[length + 1] * 3, 2, generator=generator, dtype=torch.float64).to(dtype)


def fence_posts(batch, length, hidden, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(batch, length + 1, hidden)] * 3 + [(2, hidden), (2,)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def dense_from_posts(start, split, end, weight, bias):
    hidden = torch.relu(start[:, :, None, None] + split[:, None, :, None] + end[:, None, None, :])
    return hidden @ weight.T + bias


def outputs(distribution):
    return distribution.log_partition, distribution.marginals, distribution.entropy


class TestSeparablePermutation(DistributionTests):
    names = "scores", "lengths"

    def batches(self, dtype=torch.float64):
        return [
            (dense_scores(5, 5, dtype=dtype), LENGTHS),
            (dense_scores(2, 1, dtype=dtype), torch.tensor([1, 1])),
            (dense_scores(2, 3, dtype=dtype, seed=2), torch.tensor([3, 2])),
        ]

    def build(self, *parameters, **options):
        return SeparablePermutation(*parameters, **options)

    def events(self, drawn):
        return drawn.nodes

    def outputs(self, distribution):
        return {**super().outputs(distribution), "log_partition": distribution.log_partition}

    def values(self, parameters, row):
        scores, lengths = parameters
        exact = oracle.enumerate_trees(self.alone(parameters, row)[0][0])
        n, L = int(lengths[row]), scores.shape[1] - 1
        nodes = torch.tensor([oracle.nodes(tree) for tree in exact.trees], dtype=torch.int64)
        nodes = nodes.view(len(exact.trees), n - 1, 4)
        features = one_hot(exact.permutations, n).double()
        return Values(pad(nodes, (0, 0, 0, L - n), value=-1), exact.probabilities.log(), features)

    def alone(self, parameters, row):
        scores, lengths = parameters
        posts = int(lengths[row]) + 1
        return scores[row : row + 1, :posts, :posts, :posts], lengths[row : row + 1]

    def garbled(self, parameters):
        """With NaN where i < j < k does not hold, or where k is past the row's length."""
        scores, lengths = parameters
        i, j, k = torch.meshgrid(*[torch.arange(scores.shape[1])] * 3, indexing="ij")
        real = (i < j) & (j < k) & (k <= lengths[:, None, None, None])
        return scores.masked_fill(~real[..., None], math.nan), lengths

    def count(self, parameters, row):
        return oracle.count_trees(int(parameters[1][row]))

    def test_permutations_are_those_of_the_trees(self):
        for parameters in self.batches():
            distribution = self.build(*parameters)
            drawn = distribution.sample((20,))
            for trees, rows in zip(drawn.trees, drawn.permutations, strict=True):
                for tree, row, length in zip(trees, rows, parameters[1].tolist(), strict=True):
                    assert row.tolist() == [*tree.permutation, *[0] * (len(row) - length)]

    def test_log_prob_takes_samples_nodes_and_trees(self):
        distribution = self.build(*self.batches()[0])
        drawn = distribution.sample()
        for value in (drawn, drawn.nodes, drawn.trees):
            assert_close(distribution.log_prob(value), distribution.log_prob(drawn.nodes[None])[0])

    @pytest.mark.parametrize(
        "nodes",
        [
            [(0, 1, 3, 0), (0, 1, 2, 0)],
            [(1, 2, 3, 0), (0, 1, 3, 0)],
            [(0, 1, 3, 0), (0, 2, 3, 0)],
            [(0, 1, 3, 0), (1, 2, 3, 2)],
            [(0, 1, 3, 0), (-1, -1, -1, -1)],
            [(0, 3, 3, 0), (0, 1, 3, 0)],
        ],
        ids=["no child", "not in preorder", "two roots", "no operation", "too few", "empty part"],
    )
    def test_nodes_that_are_no_tree_are_not_in_the_support(self, nodes):
        distribution = self.build(*(tensor[:1] for tensor in self.small()))
        assert distribution.support.check(torch.tensor([nodes])).tolist() == [False]
        assert distribution.support.check(torch.tensor([[(0, 1, 3, 0), (1, 2, 3, 1)]])).tolist() == [True]

    @pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
    def test_log_prob_of_a_permutation_sums_over_its_trees(self, length):
        scores = dense_scores(2, 5)
        distribution = SeparablePermutation(scores, torch.tensor([length, 5]))
        every = torch.tensor(list(permutations(range(length))))
        other = torch.arange(5).expand(len(every), -1)
        found = distribution.log_prob_permutation(
            torch.stack([pad(every, (0, 5 - length), value=7), other], 1)
        )
        exact = self.values((scores, torch.tensor([length, 5])), 0)
        expected = dict.fromkeys(map(tuple, every.tolist()), 0.0)
        for tree, log_prob in zip(oracle.all_trees(0, length), exact.log_probs.tolist(), strict=True):
            expected[oracle.permutation(tree)] += math.exp(log_prob)
        assert_close(found[:, 0].exp(), torch.tensor(list(expected.values())).double())
        separable = oracle.DISTINCT_PERMUTATIONS[length - 1]
        assert int((found[:, 0] > LOG_ZERO).sum()) == separable
        assert_close(found[:, 0].exp().sum(), torch.ones(()).double())

    def test_log_prob_of_a_permutation_has_a_gradient(self):
        scores = dense_scores(3, 4).requires_grad_()
        rows = torch.tensor([[2, 3, 1, 0], [1, 3, 0, 2], [0, 1, 2, 0]])  # the second is not separable
        lengths = torch.tensor([4, 4, 3])
        assert gradcheck(
            lambda s: SeparablePermutation(s, lengths).log_prob_permutation(rows), scores, fast_mode=True
        )
        log_probs = SeparablePermutation(scores, lengths).log_prob_permutation(rows)
        (gradient,) = torch.autograd.grad(log_probs.sum(), scores)
        assert not gradient[1].any()
        assert log_probs[1].item() == pytest.approx(LOG_ZERO)

    def test_what_is_no_permutation_is_named(self):
        distribution = self.build(*self.small())
        with pytest.raises(ValueError, match=r"every position 0 to 2 once, found \[0, 0, 1\] in row 0"):
            distribution.log_prob_permutation(torch.tensor([[0, 0, 1], [0, 1, 0]]))
        with pytest.raises(ValueError, match=r"permutations: expected torch.int64 of shape \(…, 2, 3\)"):
            distribution.log_prob_permutation(torch.tensor([[0, 1]]))

    def test_scores_of_fence_posts_are_given_densely(self):
        posts = fence_posts(5, 5, 7)
        found = SeparablePermutation.from_fence_posts(*posts, LENGTHS).scores
        real = ~self.garbled((found, LENGTHS))[0].isnan()
        assert_close(found[real], dense_from_posts(*posts)[real])
        assert not found[~real].any()


@pytest.mark.usefixtures("both")
class TestFencePosts:
    def test_fence_posts_score_as_their_formula(self):
        posts = fence_posts(5, 5, 7)
        found = outputs(SeparablePermutation.from_fence_posts(*posts, LENGTHS))
        expected = outputs(SeparablePermutation(dense_from_posts(*posts), LENGTHS))
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(ours, theirs)


@pytest.mark.usefixtures("both")
class TestGradientsOfFencePosts:
    @pytest.mark.parametrize("name", ["log_partition", "marginals", "entropy"])
    @pytest.mark.parametrize("dropout", [0.0, 0.3], ids=["no dropout", "dropout"])
    def test_fence_posts(self, name, dropout):
        posts = tuple(x.requires_grad_() for x in fence_posts(2, 4, 3))
        lengths = torch.tensor([4, 2])

        def output(*x):
            distribution = SeparablePermutation.from_fence_posts(*x, lengths, dropout=dropout, seed=7)
            return getattr(distribution, name)

        assert gradcheck(output, posts, fast_mode=True)


@pytest.mark.usefixtures("both")
class TestPadding:
    def test_garbage_beyond_the_fence_posts_changes_nothing(self):
        clean = fence_posts(5, 5, 6)
        padding = (torch.arange(6) > LENGTHS[:, None])[..., None]
        dirty = [x.masked_fill(padding, math.nan).requires_grad_() for x in clean[:3]]
        found = outputs(SeparablePermutation.from_fence_posts(*dirty, *clean[3:], LENGTHS))
        expected = outputs(SeparablePermutation.from_fence_posts(*clean, LENGTHS))
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours, theirs)
        for gradient in torch.autograd.grad(found[1].square().sum() + found[2].sum(), dirty):
            assert gradient.isfinite().all()
            assert not gradient[padding.expand_as(gradient)].any()

    def test_every_tree_has_its_rows_length(self):
        distribution = SeparablePermutation(dense_scores(5, 5), LENGTHS)
        for found in (distribution.argmax, distribution.sample()):
            trees, permutations = found.trees, found.permutations
            assert [len(tree.permutation) for tree in trees] == LENGTHS.tolist()
            assert not permutations[torch.arange(5) >= LENGTHS[:, None]].any()


@pytest.mark.usefixtures("both")
class TestClosedForms:
    def test_one_position(self):
        distribution = SeparablePermutation(torch.full((1, 2, 2, 2, 2), math.nan), torch.tensor([1]))
        log_partition, marginals, entropy = outputs(distribution)
        assert (log_partition.item(), marginals.tolist(), entropy.item()) == (0.0, [[[1.0]]], 0.0)
        for found in (distribution.argmax, distribution.sample()):
            trees, permutations = found.trees, found.permutations
            assert [str(tree) for tree in trees] == ["0"]
            assert permutations.tolist() == [[0]]

    def test_two_positions_with_equal_scores(self):
        marginals = SeparablePermutation(torch.zeros(1, 3, 3, 3, 2), torch.tensor([2])).marginals
        assert_close(marginals, torch.full((1, 2, 2), 0.5))

    def test_preferring_inverted_reverses(self):
        scores = torch.zeros(1, 9, 9, 9, 2)
        scores[..., 1] = 50.0
        distribution = SeparablePermutation(scores, torch.tensor([8]))
        assert_close(distribution.marginals, torch.eye(8).flip(1)[None])
        assert distribution.argmax.permutations.tolist() == [list(range(7, -1, -1))]
        assert distribution.sample().permutations.tolist() == [list(range(7, -1, -1))]

    def test_the_papers_example_tree(self):
        scores = torch.zeros(1, 5, 5, 5, 2)
        for i, j, k, operation in [(0, 2, 4, 1), (0, 1, 2, 0), (2, 3, 4, 1)]:
            scores[0, i, j, k, operation] = 50.0
        distribution = SeparablePermutation(scores, torch.tensor([4]))
        (tree,), permutations = distribution.argmax.trees, distribution.argmax.permutations
        assert tree.format(["a", "b", "c", "d"]) == "(△ (∧ a b) (△ c d))"
        assert tree.apply(["a", "b", "c", "d"]) == ["d", "c", "a", "b"]
        assert permutations.tolist() == [[2, 3, 1, 0]]
        expected = torch.nn.functional.one_hot(permutations, 4).float()
        assert_close(distribution.marginals, expected)

    def test_argmax_is_the_best_tree_not_the_best_rule_of_each_span(self):
        # The root's most probable split has many mediocre trees below it; the best tree lies elsewhere.
        scores = dense_scores(200, 4, seed=3)
        trees = SeparablePermutation(scores, torch.full((200,), 4)).argmax.trees
        for row, tree in enumerate(trees):
            best = sum(float(scores[row][tuple(node)]) for node in tree.nodes)
            assert best == pytest.approx(float(oracle.enumerate_trees(scores[row]).tree_scores.max()))


@pytest.mark.usefixtures("both")
class TestRandomness:
    def test_samples_of_the_same_distribution_differ(self):
        distribution = SeparablePermutation(torch.zeros(1, 9, 9, 9, 2), torch.tensor([8]))
        drawn = {str(distribution.sample().trees[0]) for _ in range(10)}
        assert len(drawn) > 5

    def test_dropout_follows_its_seed_or_its_generator(self):
        posts = fence_posts(5, 5, 30)

        def marginals(**options):
            return SeparablePermutation.from_fence_posts(*posts, LENGTHS, dropout=0.4, **options).marginals

        assert torch.equal(marginals(seed=1), marginals(seed=1))
        assert not torch.equal(marginals(seed=1), marginals(seed=2))
        first, again = (marginals(generator=torch.Generator().manual_seed(5)) for _ in range(2))
        assert torch.equal(first, again)
        assert not torch.equal(marginals(), marginals())

    def test_without_dropout_nothing_is_random(self):
        posts = fence_posts(5, 5, 30)
        torch.manual_seed(0)
        first = SeparablePermutation.from_fence_posts(*posts, LENGTHS).marginals
        after = torch.rand(1)
        torch.manual_seed(0)
        assert torch.equal(after, torch.rand(1))
        assert torch.equal(first, SeparablePermutation.from_fence_posts(*posts, LENGTHS).marginals)

    def test_outputs_of_one_object_belong_together(self):
        """Dropout is drawn once per object, not once per property."""
        distribution = SeparablePermutation.from_fence_posts(*fence_posts(5, 5, 30), LENGTHS, dropout=0.4)
        assert torch.equal(distribution.marginals, distribution.marginals)
        assert torch.equal(distribution.log_partition, distribution.log_partition)


GOOD = {"scores": dense_scores(2, 4), "lengths": torch.tensor([4, 3])}
ERRORS = {
    "scores without operations": ("scores", lambda x: x[..., 0], r"scores.*found \(2, 5, 5, 5\)"),
    "scores not cubic": ("scores", lambda x: x[:, :, :-1], r"scores.*found \(2, 5, 4, 5, 2\)"),
    "integer scores": ("scores", lambda x: x.long(), r"scores.*float.*int64"),
    "lengths of another batch": ("lengths", lambda x: x[:1], r"lengths.*\(2,\).*\(1,?\)"),
    "lengths of int32": ("lengths", lambda x: x.int(), r"lengths.*int64.*int32"),
    "lengths of floats": ("lengths", lambda x: x.float(), r"lengths.*int64.*float32"),
    "lengths elsewhere": ("lengths", lambda x: x.to("meta"), r"lengths.*cpu.*meta"),
    "length 0": ("lengths", lambda x: x - 3, r"lengths.*1 to 4.*0 in row 1"),
    "negative length": ("lengths", lambda x: x - 5, r"lengths.*1 to 4.*-1 in row 0"),
    "length beyond L": ("lengths", lambda x: x + 1, r"lengths.*1 to 4.*5 in row 0"),
}


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(("name", "change", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_wrong_arguments_are_named(name, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SeparablePermutation(**{**GOOD, name: change(GOOD[name])})


@pytest.mark.usefixtures("both")
def test_posts_that_disagree_are_named():
    start, split, end, weight, bias = fence_posts(2, 4, 8)
    lengths = torch.tensor([4, 3])
    with pytest.raises(ValueError, match=r"split.*\(2, 5, 8\).*\(2, 4, 8\)"):
        SeparablePermutation.from_fence_posts(start, split[:, :-1], end, weight, bias, lengths)
    with pytest.raises(TypeError, match=r"weight.*float64.*float32"):
        SeparablePermutation.from_fence_posts(start, split, end, weight.float(), bias, lengths)
    with pytest.raises(ValueError, match=r"lengths.*1 to 4.*5 in row 0"):
        SeparablePermutation.from_fence_posts(start, split, end, weight, bias, lengths + 1)


class TestForbiddenAndBroken:
    def scores(self):
        return torch.zeros(2, 4, 4, 4, 2)

    def test_minus_infinity_forbids_a_split(self):
        scores = self.scores()
        scores[:, 0, 1, 3] = -torch.inf
        scores[:, 1, 2, 3, 0] = -torch.inf
        permutation = SeparablePermutation(scores, torch.tensor([3, 3]))
        assert all(tree.nodes[0].split == 2 for tree in permutation.argmax.trees)
        assert permutation.marginals.isfinite().all()
        assert permutation.log_partition[0].item() == pytest.approx(math.log(2 * 2))

    def test_no_tree_left_is_refused(self):
        scores = self.scores()
        scores[1, 0, :, 3] = -torch.inf
        permutation = SeparablePermutation(scores, torch.tensor([3, 3]))
        for tree in (lambda: permutation.argmax, permutation.sample):
            with pytest.raises(ValueError, match=r"scores: expected a tree .* found none in row 1"):
                tree()

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_what_is_no_number_is_named(self, value):
        scores = self.scores()
        scores[1, 0, 2, 3, 1] = value
        message = rf"scores: expected numbers or -inf, found {value} at \[1, 0, 2, 3, 1\]"
        with pytest.raises(ValueError, match=message):
            SeparablePermutation(scores, torch.tensor([3, 3]))
        SeparablePermutation(scores, torch.tensor([3, 2]))  # past the row's end it is not read

    def test_rare_trees_are_drawn_as_often_as_they_should(self):
        scores = torch.zeros(1, 3, 3, 3, 2).expand(200_000, 3, 3, 3, 2).clone()
        scores[:, 0, 1, 2, 1] = math.log(1e-3)
        drawn = SeparablePermutation(scores, torch.full((200_000,), 2)).sample().permutations[:, 0].sum()
        assert 150 < drawn < 250
