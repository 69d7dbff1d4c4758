"""SeparablePermutation, the public face of the reordering operations, in both implementations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch.autograd import gradcheck
from torch.testing import assert_close

import ftor
from ftor import SeparablePermutation
from oracles import permutation as oracle

LENGTHS = torch.tensor([5, 1, 3, 2, 4])
POSTS = ("start", "split", "end")


@pytest.fixture(params=["auto", "torch"], ids=["kernels", "torch"])
def both(request):
    """Run the test in both implementations."""
    with ftor.ops.implementation(request.param):
        yield


def dense_scores(batch, length, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, *[length + 1] * 3, 2, generator=generator, dtype=torch.float64).to(dtype)


def fence_posts(batch, length, hidden, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(batch, length + 1, hidden)] * 3 + [(2, hidden), (2,)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def enumerations(scores, lengths):
    return [
        oracle.enumerate_trees(scores[b, : n + 1, : n + 1, : n + 1]) for b, n in enumerate(lengths.tolist())
    ]


def real_splits(length, lengths):
    """Which dense entries (B, L+1, L+1, L+1) are splits i < j < k within the row's length."""
    i, j, k = torch.meshgrid(*[torch.arange(length + 1)] * 3, indexing="ij")
    return (i < j) & (j < k) & (k <= lengths[:, None, None, None])


def dense_from_posts(start, split, end, weight, bias):
    hidden = torch.relu(start[:, :, None, None] + split[:, None, :, None] + end[:, None, None, :])
    return hidden @ weight.T + bias


def outputs(distribution):
    return distribution.log_partition, distribution.marginals, distribution.entropy


@pytest.mark.usefixtures("both")
class TestAgainstEnumeration:
    def test_values(self):
        scores = dense_scores(5, 5)
        log_partition, marginals, entropy = outputs(SeparablePermutation(scores, LENGTHS))
        assert marginals.shape == (5, 5, 5)
        for row, exact in enumerate(enumerations(scores, LENGTHS)):
            n = int(LENGTHS[row])
            assert_close(log_partition[row], exact.log_partition)
            assert_close(entropy[row], exact.entropy)
            assert_close(marginals[row, :n, :n], exact.marginals)
            assert marginals[row].sum() == pytest.approx(n)

    def test_argmax_is_the_best_tree_and_its_permutation(self):
        scores = dense_scores(5, 5, seed=1)
        best = SeparablePermutation(scores, LENGTHS).argmax
        trees, permutations = best.trees, best.permutations
        assert permutations.dtype == torch.int64
        assert permutations.shape == (5, 5)
        for row, exact in enumerate(enumerations(scores, LENGTHS)):
            n, best = int(LENGTHS[row]), int(exact.tree_scores.argmax())
            assert [tuple(node) for node in trees[row].nodes] == oracle.nodes(exact.trees[best])
            assert trees[row].permutation == oracle.permutation(exact.trees[best])
            assert permutations[row].tolist() == [*trees[row].permutation, *[0] * (5 - n)]

    def test_samples_have_their_frequencies(self):
        draws, length = 8000, 3
        scores = dense_scores(1, length, seed=2)
        (exact,) = enumerations(scores, torch.tensor([length]))
        repeated = SeparablePermutation(scores.expand(draws, -1, -1, -1, -1), torch.full((draws,), length))
        drawn = repeated.sample(generator=torch.Generator().manual_seed(0))
        trees, permutations = drawn.trees, drawn.permutations
        index = {tuple(oracle.nodes(tree)): number for number, tree in enumerate(exact.trees)}
        observed = np.bincount([index[tuple(map(tuple, tree.nodes))] for tree in trees], minlength=len(index))
        assert chisquare(observed, draws * exact.probabilities.numpy()).pvalue > 1e-4
        assert permutations.tolist() == [list(tree.permutation) for tree in trees]

    def test_fence_posts_score_as_their_formula(self):
        posts = fence_posts(5, 5, 7)
        found = outputs(SeparablePermutation.from_fence_posts(*posts, LENGTHS))
        expected = outputs(SeparablePermutation(dense_from_posts(*posts), LENGTHS))
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(ours, theirs)


@pytest.mark.usefixtures("both")
class TestGradcheck:
    @pytest.mark.parametrize("name", ["log_partition", "marginals", "entropy"])
    def test_dense_scores(self, name):
        scores = dense_scores(3, 4).requires_grad_()
        lengths = torch.tensor([4, 3, 1])
        assert gradcheck(lambda s: getattr(SeparablePermutation(s, lengths), name), (scores,))

    @pytest.mark.parametrize("name", ["log_partition", "marginals", "entropy"])
    @pytest.mark.parametrize("dropout", [0.0, 0.3], ids=["no dropout", "dropout"])
    def test_fence_posts(self, name, dropout):
        posts = tuple(x.requires_grad_() for x in fence_posts(2, 4, 3))
        lengths = torch.tensor([4, 2])

        def output(*x):
            distribution = SeparablePermutation.from_fence_posts(*x, lengths, dropout=dropout, seed=7)
            return getattr(distribution, name)

        assert gradcheck(output, posts)


@pytest.mark.usefixtures("both")
class TestPadding:
    def test_garbage_where_there_is_no_split_changes_nothing(self):
        clean = dense_scores(5, 5)
        real = real_splits(5, LENGTHS)[..., None]
        dirty = clean.masked_fill(~real, math.nan).requires_grad_()
        found = outputs(SeparablePermutation(dirty, LENGTHS))
        for ours, theirs in zip(found, outputs(SeparablePermutation(clean, LENGTHS)), strict=True):
            assert torch.equal(ours, theirs)
        log_partition, marginals, entropy = found
        (gradient,) = torch.autograd.grad((log_partition + entropy).sum() + marginals.square().sum(), dirty)
        assert gradient.isfinite().all()
        assert not gradient[~real.expand_as(gradient)].any()
        assert gradient[0].any()

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

    def test_a_row_does_not_know_its_batch(self):
        scores = dense_scores(5, 5)
        together = outputs(SeparablePermutation(scores, LENGTHS))
        for row, n in enumerate(LENGTHS.tolist()):
            small = scores[row : row + 1, : n + 1, : n + 1, : n + 1]
            log_partition, marginals, entropy = outputs(SeparablePermutation(small, LENGTHS[row : row + 1]))
            assert torch.equal(together[0][row], log_partition[0])
            assert torch.equal(together[1][row, :n, :n], marginals[0])
            assert torch.equal(together[2][row], entropy[0])

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

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
    def test_huge_scores_stay_finite(self, dtype):
        scores = (1e4 * dense_scores(2, 7, dtype=dtype).sign()).requires_grad_()
        distribution = SeparablePermutation(scores, torch.tensor([7, 4]))
        log_partition, marginals, entropy = outputs(distribution)
        (gradient,) = torch.autograd.grad((log_partition + entropy).sum() + marginals.square().sum(), scores)
        for x in (log_partition, marginals, entropy, gradient):
            assert x.dtype == dtype
            assert x.isfinite().all()
        sums = marginals.sum(2)
        assert_close(sums, (torch.arange(7) < torch.tensor([[7], [4]])).to(dtype))


class TestKernelsAgainstTorch:
    @settings(max_examples=20)
    @given(
        st.lists(st.integers(1, 8), min_size=1, max_size=4),
        st.integers(1, 19),
        st.sampled_from([0.0, 0.2]),
        st.sampled_from([torch.float32, torch.float64]),
        st.integers(0, 1000),
    )
    def test_fence_posts(self, lengths, hidden, dropout, dtype, seed):
        found = [self.run(name, lengths, hidden, dropout, dtype, seed) for name in ("auto", "torch")]
        close = {"rtol": 1e-8, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-3, "atol": 1e-3}
        for ours, theirs in zip(*found, strict=True):
            assert_close(ours, theirs, **close)

    @staticmethod
    def run(name, lengths, hidden, dropout, dtype, seed):
        posts = [
            x.requires_grad_()
            for x in fence_posts(len(lengths), max(lengths), hidden, dtype=dtype, seed=seed)
        ]
        with ftor.ops.implementation(name):
            distribution = SeparablePermutation.from_fence_posts(
                *posts, torch.tensor(lengths), dropout=dropout, seed=seed
            )
            log_partition, marginals, entropy = outputs(distribution)
            loss = (log_partition + entropy).sum() + marginals.square().sum()
            return [
                log_partition,
                marginals,
                entropy,
                *torch.autograd.grad(loss, posts, materialize_grads=True),
            ]


@pytest.mark.usefixtures("both")
class TestRandomness:
    def test_samples_follow_the_generator(self):
        distribution = SeparablePermutation(dense_scores(5, 5), LENGTHS)
        first, again, other = (
            distribution.sample(generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
        assert [str(tree) for tree in first.trees] == [str(tree) for tree in again.trees]
        assert [str(tree) for tree in first.trees] != [str(tree) for tree in other.trees]

    def test_samples_follow_the_global_seed(self):
        distribution = SeparablePermutation(dense_scores(5, 5), LENGTHS)
        torch.manual_seed(3)
        first = distribution.sample().permutations
        torch.manual_seed(3)
        assert torch.equal(first, distribution.sample().permutations)

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
