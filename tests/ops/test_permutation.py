"""Trees of separable permutations: both implementations against charts, formulas and each other.

Most comparisons with enumeration are in tests/distributions.
"""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.testing import assert_close

from ftor.ops import permutation, threads
from ftor.ops.permutation import cpu, naive
from ftor.ops.splits import number_of_splits
from oracles import permutation as oracle
from oracles import published

LENGTHS = torch.tensor([6, 1, 4, 2, 5, 3])
BOTH = pytest.mark.parametrize("ops", [permutation, naive], ids=["kernels", "torch"])
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


def tolerance(dtype):
    return {"rtol": 1e-9, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 2e-5}


def dense_scores(batch, length, *, dtype=torch.float64, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, length + 1, length + 1, length + 1, 2)
    return (scale * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype)


def packed_scores(batch, length, **options):
    return oracle.pack(dense_scores(batch, length, **options))


def everything(ops, scores, lengths, length):
    """Every differentiable output of the operation: log partition, rules, marginals, entropy."""
    log_partition, rules = ops.inside(scores, lengths, length)
    marginals = ops.expected_permutation(rules, lengths, length)
    return log_partition, rules, marginals, ops.entropy(rules, lengths, length)


def weights_like(outputs, seed=1):
    """Fixed random weights, so that a sum of outputs has a gradient that means something."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.dtype) for x in outputs]


def gradient(ops, scores, lengths, length):
    scores = scores.detach().clone().requires_grad_()
    outputs = everything(ops, scores, lengths, length)
    loss = sum((x * w).sum() for x, w in zip(outputs, weights_like(outputs), strict=True))
    return torch.autograd.grad(loss, scores)[0]


def beyond(lengths, length):
    """Which packed splits lie beyond each row's length: (B, S)."""
    end = torch.tensor([k for _, _, k in oracle.splits(length)], dtype=torch.int64)
    return end > lengths[:, None]


@pytest.fixture(scope="module")
def dense():
    return dense_scores(len(LENGTHS), 6)


@pytest.fixture(scope="module")
def enumerations(dense):
    return [
        oracle.enumerate_trees(dense[b, : n + 1, : n + 1, : n + 1]) for b, n in enumerate(LENGTHS.tolist())
    ]


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_enumerator_counts_trees_and_permutations(length):
    trees = list(oracle.all_trees(0, length))
    assert len(trees) == oracle.count_trees(length)
    distinct = {oracle.permutation(tree) for tree in trees}
    assert len(distinct) == oracle.DISTINCT_PERMUTATIONS[length - 1]


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_split_table_is_ordered_by_width_start_and_split(length):
    table = torch.stack(permutation.split_table(length), dim=1)
    assert table.dtype == torch.int64
    assert table.shape == (math.comb(length + 1, 3), 3)
    assert [tuple(row) for row in table.tolist()] == oracle.splits(length)


@BOTH
class TestAgainstEnumeration:
    def test_rules_are_the_conditional_probabilities_of_nodes(self, ops, dense, enumerations):
        _, rules = ops.inside(oracle.pack(dense), LENGTHS, 6)
        for row, enumeration in enumerate(enumerations):
            node_mass, span_mass = {}, {}
            for tree, probability in zip(enumeration.trees, enumeration.probabilities.tolist(), strict=True):
                for i, j, k, operation in oracle.nodes(tree):
                    node_mass[i, j, k, operation] = node_mass.get((i, j, k, operation), 0.0) + probability
                    span_mass[i, k] = span_mass.get((i, k), 0.0) + probability
            expected = [
                [node_mass.get((i, j, k, op), 0.0) / span_mass.get((i, k), 1.0) for op in (0, 1)]
                for i, j, k in oracle.splits(6)
            ]
            assert_close(rules[row], torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-12)

    def test_gradients(self, ops):
        scores = dense_scores(1, 5, seed=3).requires_grad_()
        exact = oracle.enumerate_trees(scores[0])
        lengths = torch.tensor([5])
        log_partition, _, marginals, entropy = everything(ops, oracle.pack(scores), lengths, 5)
        (weight,) = weights_like([marginals])
        for ours, theirs in (
            (log_partition.sum(), exact.log_partition),
            ((marginals * weight).sum(), (exact.marginals * weight[0]).sum()),
            (entropy.sum(), exact.entropy),
        ):
            (found,) = torch.autograd.grad(ours, scores, retain_graph=True)
            (expected,) = torch.autograd.grad(theirs, scores, retain_graph=True)
            assert_close(found, expected, rtol=1e-9, atol=1e-11)


@BOTH
class TestAgainstBottomUpCharts:
    LENGTHS = torch.tensor([20, 13, 1, 2, 7])

    def reference(self, scores):
        rules = published.inside(published.chart_from_dense(scores), self.LENGTHS)
        marginals = published.expected_permutation(rules.rules, self.LENGTHS)
        return rules.log_partition, marginals, published.entropy(rules.rules, self.LENGTHS)

    @DTYPES
    def test_values(self, ops, dtype):
        scores = dense_scores(5, 20, seed=1, scale=2.0)
        log_partition, _, marginals, entropy = everything(
            ops, oracle.pack(scores).to(dtype), self.LENGTHS, 20
        )
        expected = [x.to(dtype) for x in self.reference(scores)]
        for ours, theirs in zip((log_partition, marginals, entropy), expected, strict=True):
            assert_close(ours, theirs, **tolerance(dtype))

    def test_gradients(self, ops):
        scores = dense_scores(5, 20, seed=2).requires_grad_()
        log_partition, _, marginals, entropy = everything(ops, oracle.pack(scores), self.LENGTHS, 20)
        ours, theirs = (log_partition, marginals, entropy), self.reference(scores)
        for found, expected, weight in zip(ours, theirs, weights_like(ours), strict=True):
            (found_gradient,) = torch.autograd.grad((found * weight).sum(), scores, retain_graph=True)
            (expected_gradient,) = torch.autograd.grad((expected * weight).sum(), scores, retain_graph=True)
            assert_close(found_gradient, expected_gradient, rtol=1e-8, atol=1e-10)


@BOTH
class TestFormulas:
    @pytest.mark.parametrize("length", [1, 2, 3, 10, 25])
    def test_equal_scores_count_trees(self, ops, length):
        scores = torch.zeros(1, math.comb(length + 1, 3), 2, dtype=torch.float64)
        log_partition, _, _, entropy = everything(ops, scores, torch.tensor([length]), length)
        expected = torch.tensor([math.log(oracle.count_trees(length))], dtype=torch.float64)
        assert_close(log_partition, expected)
        assert_close(entropy, expected)

    @DTYPES
    def test_rows_and_columns_sum_to_one(self, ops, dtype):
        lengths = torch.tensor([40, 23, 1])
        _, _, marginals, _ = everything(ops, packed_scores(3, 40, dtype=dtype, scale=3.0), lengths, 40)
        real = (torch.arange(40) < lengths[:, None]).to(dtype)
        assert (marginals >= 0).all()
        assert_close(marginals.sum(1), real, **tolerance(dtype))
        assert_close(marginals.sum(2), real, **tolerance(dtype))

    def test_rules_of_a_span_sum_to_one(self, ops):
        _, rules = ops.inside(packed_scores(1, 7), torch.tensor([7]), 7)
        sums = {}
        for (i, _, k), probability in zip(oracle.splits(7), rules[0].sum(-1).tolist(), strict=True):
            sums[i, k] = sums.get((i, k), 0.0) + probability
        assert sums == pytest.approx(dict.fromkeys(sums, 1.0))

    def test_gradient_of_log_partition_counts_inner_nodes(self, ops):
        lengths = torch.tensor([9, 4, 1])
        scores = packed_scores(3, 9).requires_grad_()
        log_partition, _ = ops.inside(scores, lengths, 9)
        (node_probabilities,) = torch.autograd.grad(log_partition.sum(), scores)
        assert_close(node_probabilities.sum((1, 2)), (lengths - 1).double())

    def test_exchanging_the_operations_reverses_the_output(self, ops):
        scores, lengths = packed_scores(1, 8), torch.tensor([8])
        _, _, marginals, _ = everything(ops, scores, lengths, 8)
        _, _, exchanged, _ = everything(ops, scores.flip(-1), lengths, 8)
        assert_close(exchanged, marginals.flip(2))

    def test_mirrored_input_mirrors_the_output(self, ops):
        scores, lengths = dense_scores(1, 8), torch.tensor([8])
        mirrored = scores.flip(1, 2, 3).transpose(1, 3)
        _, _, marginals, _ = everything(ops, oracle.pack(scores), lengths, 8)
        _, _, found, _ = everything(ops, oracle.pack(mirrored), lengths, 8)
        assert_close(found, marginals.flip(1, 2))

    @pytest.mark.parametrize("operation", [0, 1], ids=["straight", "inverted"])
    def test_one_operation_gives_the_identity_or_the_reversal(self, ops, operation):
        scores = torch.zeros(1, math.comb(13, 3), 2, dtype=torch.float64)
        scores[..., operation] = 100.0
        _, _, marginals, _ = everything(ops, scores, torch.tensor([12]), 12)
        identity = torch.eye(12, dtype=torch.float64)[None]
        assert_close(marginals, identity.flip(2) if operation else identity)

    def test_constant_added_to_scores_only_moves_the_log_partition(self, ops):
        scores, lengths = packed_scores(2, 6), torch.tensor([6, 4])
        before = everything(ops, scores, lengths, 6)
        after = everything(ops, scores + 3.0, lengths, 6)
        assert_close(after[0], before[0] + 3.0 * (lengths - 1))
        for ours, theirs in zip(after[1:], before[1:], strict=True):
            assert_close(ours, theirs)


@BOTH
class TestGradcheck:
    LENGTHS = torch.tensor([5, 3, 1])

    def rules(self, ops):
        return ops.inside(packed_scores(3, 5), self.LENGTHS, 5)[1].detach()

    def test_both_outputs_at_once(self, ops):
        scores = packed_scores(3, 5).requires_grad_()
        assert gradcheck(lambda s: ops.inside(s, self.LENGTHS, 5), (scores,))

    def test_expected_permutation(self, ops):
        rules = self.rules(ops).requires_grad_()
        assert gradcheck(lambda r: ops.expected_permutation(r, self.LENGTHS, 5), (rules,))

    def test_entropy(self, ops):
        rules = self.rules(ops).requires_grad_()
        assert gradcheck(lambda r: ops.entropy(r, self.LENGTHS, 5), (rules,))


@st.composite
def ragged_scores(draw):
    length = draw(st.integers(1, 11), label="L")
    lengths = draw(st.lists(st.integers(1, length), min_size=1, max_size=5), label="lengths")
    dtype = draw(st.sampled_from([torch.float32, torch.float64]), label="dtype")
    seed = draw(st.integers(0, 10_000), label="seed")
    scale = draw(st.sampled_from([0.1, 1.0, 5.0]), label="scale")
    return (
        packed_scores(len(lengths), length, dtype=dtype, seed=seed, scale=scale),
        torch.tensor(lengths),
        length,
    )


class TestKernelsAgainstTorch:
    @given(ragged_scores())
    def test_values(self, example):
        scores = example[0]
        for ours, theirs in zip(everything(permutation, *example), everything(naive, *example), strict=True):
            assert ours.dtype == scores.dtype
            assert_close(ours, theirs, **tolerance(scores.dtype))

    @given(ragged_scores())
    def test_gradients(self, example):
        ours, theirs = gradient(permutation, *example), gradient(naive, *example)
        scale = max(1.0, float(theirs.abs().max())) if theirs.numel() else 1.0
        assert_close(ours / scale, theirs / scale, **tolerance(ours.dtype))

    @given(ragged_scores())
    def test_trees(self, example):
        scores, lengths, length = example
        assert torch.equal(permutation.best_tree(*example), naive.best_tree(*example))
        rules = naive.inside(*example)[1]
        shape = (2, len(lengths), max(length - 1, 1))
        uniforms = torch.rand(shape, generator=torch.Generator().manual_seed(0), dtype=scores.dtype)
        ours = permutation.sample_tree(rules, lengths, uniforms, length)
        assert torch.equal(ours, naive.sample_tree(rules, lengths, uniforms, length))


@BOTH
class TestPadding:
    LENGTHS = torch.tensor([3, 7, 1, 5])

    def test_rules_beyond_the_length_are_zero(self, ops):
        _, rules = ops.inside(packed_scores(4, 7), self.LENGTHS, 7)
        assert not rules[beyond(self.LENGTHS, 7)].any()


@BOTH
class TestExtremes:
    @DTYPES
    def test_impossible_rules_have_a_finite_entropy(self, ops, dtype):
        scores = torch.zeros(1, math.comb(6, 3), 2, dtype=dtype)
        scores[..., 0] = 1e5
        *_, entropy = everything(ops, scores, torch.tensor([5]), 5)
        assert_close(entropy, torch.full((1,), math.log(14), dtype=dtype))  # 14 bracketings, one label
        assert gradient(ops, scores, torch.tensor([5]), 5).isfinite().all()

    def test_rules_can_be_forbidden(self, ops):
        lengths = torch.tensor([6, 4])
        scores = packed_scores(2, 6)
        scores[..., 1] = -math.inf
        for x in everything(ops, scores, lengths, 6):
            assert x.isfinite().all()
        assert gradient(ops, scores, lengths, 6).isfinite().all()
        _, _, marginals, _ = everything(ops, scores, lengths, 6)
        assert_close(marginals[0], torch.eye(6, dtype=torch.float64))
        assert not ops.best_tree(scores, lengths, 6)[0, :, 3].any()

    def test_one_row_without_numbers_does_not_spoil_the_others(self, ops):
        scores, lengths = packed_scores(3, 13), torch.tensor([13, 12, 9])
        spoilt = scores.clone()
        spoilt[0] = math.nan
        for ours, theirs in zip(
            (*everything(ops, spoilt, lengths, 13), gradient(ops, spoilt, lengths, 13)),
            (*everything(ops, scores, lengths, 13), gradient(ops, scores, lengths, 13)),
            strict=True,
        ):
            assert torch.equal(ours[1:], theirs[1:])

    def test_one_position(self, ops):
        scores, lengths = torch.zeros(2, 0, 2), torch.tensor([1, 1])
        log_partition, rules, marginals, entropy = everything(ops, scores, lengths, 1)
        assert torch.equal(log_partition, torch.zeros(2))
        assert rules.shape == (2, 0, 2)
        assert torch.equal(marginals, torch.ones(2, 1, 1))
        assert torch.equal(entropy, torch.zeros(2))
        assert ops.best_tree(scores, lengths, 1).shape == (2, 0, 4)
        assert ops.sample_tree(rules, lengths, torch.rand(3, 2, 1), 1).shape == (3, 2, 0, 4)
        assert gradient(ops, scores, lengths, 1).shape == (2, 0, 2)

    @pytest.mark.parametrize("uniform", [0.0, 1.0 - 2.0**-24], ids=["smallest", "largest"])
    def test_samples_never_take_an_impossible_rule(self, ops, uniform):
        # Only one rule of each span is possible: neither the first nor the last that a search could stop at.
        scores = torch.full((1, 10, 2), -1e4)
        possible = [(0, 2, 4, 0), (0, 1, 2, 1), (2, 3, 4, 0)]
        for i, j, k, operation in possible:
            scores[0, oracle.splits(4).index((i, j, k)), operation] = 1e4
        lengths = torch.tensor([4])
        _, rules = ops.inside(scores, lengths, 4)
        nodes = ops.sample_tree(rules, lengths, torch.full((1, 1, 3), uniform), 4)[0]
        assert [tuple(node) for node in nodes[0].tolist()] == possible

    def test_largest_uniform_survives_rounding(self, ops):
        lengths = torch.full((50,), 12)
        _, rules = ops.inside(packed_scores(50, 12, dtype=torch.float32), lengths, 12)
        nodes = ops.sample_tree(rules, lengths, torch.full((1, 50, 11), 1.0 - 2.0**-24), 12)[0]
        start, split, end, operation = nodes.unbind(-1)
        assert ((start < split) & (split < end) & (operation >= 0) & (operation <= 1)).all()


class TestCalls:
    """Ways of calling that must not matter."""

    def test_layout_of_scores_does_not_matter(self):
        scores, lengths = packed_scores(3, 6), torch.tensor([6, 5, 2])
        scattered = scores.permute(2, 1, 0).contiguous().permute(2, 1, 0)
        assert not scattered.is_contiguous()
        for ours, theirs in zip(
            everything(permutation, scattered, lengths, 6),
            everything(permutation, scores, lengths, 6),
            strict=True,
        ):
            assert torch.equal(ours, theirs)

    def test_expanded_gradients_are_read_right(self):
        scores, lengths = packed_scores(3, 6).requires_grad_(), torch.tensor([6, 5, 2])
        outputs = everything(permutation, scores, lengths, 6)
        for x in outputs:
            (expanded,) = torch.autograd.grad(x.sum(), scores, retain_graph=True)
            (dense,) = torch.autograd.grad(x, scores, torch.ones_like(x).clone(), retain_graph=True)
            assert torch.equal(expanded, dense)

    def test_number_of_threads_does_not_matter(self, monkeypatch):
        monkeypatch.setattr(threads, "WORTH_A_THREAD", 0)
        lengths = torch.tensor([9, 2, 8, 1, 5, 9, 4] * 3)
        scores = packed_scores(len(lengths), 9, dtype=torch.float32)
        before = torch.get_num_threads()
        results = []
        try:
            for number in (1, 3):
                torch.set_num_threads(number)
                outputs = everything(permutation, scores, lengths, 9)
                results.append([*outputs, gradient(permutation, scores, lengths, 9)])
        finally:
            torch.set_num_threads(before)
        for alone, together in zip(*results, strict=True):
            assert torch.equal(alone, together)

    def test_inputs_are_left_as_they_were(self):
        scores, lengths = packed_scores(2, 5), torch.tensor([5, 3])
        copy = scores.clone()
        gradient(permutation, scores, lengths, 5)
        permutation.best_tree(scores, lengths, 5)
        assert torch.equal(scores, copy)


ARGUMENTS = {
    "scores of another length": (lambda: (torch.zeros(2, 9, 2), torch.tensor([4, 3]), 4), r"scores.*10.*9"),
    "scores with one operation": (lambda: (torch.zeros(2, 10, 1), torch.tensor([4, 3]), 4), r"scores.*2.*1"),
    "integer scores": (
        lambda: (torch.zeros(2, 10, 2).long(), torch.tensor([4, 3]), 4),
        r"scores.*float.*int64",
    ),
    "lengths of another batch": (lambda: (torch.zeros(2, 10, 2), torch.tensor([4]), 4), r"lengths.*2.*1"),
    "lengths of int32": (
        lambda: (torch.zeros(2, 10, 2), torch.tensor([4, 3]).int(), 4),
        r"lengths.*int64.*int32",
    ),
    "length 0": (lambda: (torch.zeros(2, 10, 2), torch.tensor([4, 0]), 4), r"lengths.*1 to 4.*0 in row 1"),
    "length beyond L": (
        lambda: (torch.zeros(2, 10, 2), torch.tensor([5, 3]), 4),
        r"lengths.*1 to 4.*5 in row 0",
    ),
    "lengths elsewhere": (
        lambda: (torch.zeros(2, 10, 2), torch.tensor([4, 3], device="meta"), 4),
        r"lengths.*cpu.*meta",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
@pytest.mark.parametrize("function", ["inside", "best_tree"])
def test_wrong_arguments_are_named(function, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(permutation, function)(*arguments())


def operator_examples():
    """Arguments for every operator that the kernels are registered as."""
    lengths = torch.tensor([5, 3, 1])
    scores = packed_scores(3, 5)
    log_partition, rules, marginals, entropy = everything(naive, scores, lengths, 5)
    return {
        "tree_inside": (scores.clone().requires_grad_(), lengths, 5),
        "tree_inside_backward": (torch.ones_like(log_partition), torch.ones_like(rules), rules, lengths, 5),
        "tree_expected_permutation": (rules.clone().requires_grad_(), lengths, 5),
        "tree_expected_permutation_backward": (torch.ones_like(marginals), rules, lengths, 5),
        "tree_entropy": (rules.clone().requires_grad_(), lengths, 5),
        "tree_entropy_backward": (torch.ones_like(entropy), rules, lengths, 5),
        "tree_best": (scores, lengths, 5),
        "tree_sample": (rules, lengths, torch.rand(2, 3, 4, dtype=torch.float64), 5),
    }


class TestOperators:
    """The kernels as torch sees them: schemas, shapes without data, registered derivatives."""

    @pytest.mark.parametrize("name", operator_examples())
    def test_opcheck(self, name):
        torch.library.opcheck(getattr(torch.ops.ftor, name).default, operator_examples()[name])

    def test_no_operator_is_forgotten(self):
        registered = {name.removeprefix("ftor::") for name in torch._C._dispatch_get_all_op_names()}
        assert {name for name in registered if name.startswith("tree_")} == set(operator_examples())


class TestUnlikelySplits:
    """Without gradients, long sequences skip splits that hardly ever happen."""

    LENGTHS = torch.tensor([12, 7])

    def rules(self, scale: float) -> torch.Tensor:
        """Make rule probabilities of two rows, the surer the larger `scale` is."""
        scores = torch.randn(2, number_of_splits(12), 2) * scale
        return naive.inside(scores, self.LENGTHS, 12)[1]

    @pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
    def test_results_are_the_same_but_for_what_is_skipped(self, scale, monkeypatch):
        monkeypatch.setattr(cpu, "LONG", 3)
        rules = self.rules(scale)
        found = permutation.expected_permutation(rules, self.LENGTHS, 12)
        assert_close(found, naive.expected_permutation(rules, self.LENGTHS, 12), rtol=0, atol=1e-6)

    def test_what_is_skipped_is_bounded(self, monkeypatch):
        monkeypatch.setattr(cpu, "LONG", 3)
        monkeypatch.setattr(cpu, "SKIPPED", 0.5)
        rules = self.rules(10.0)
        lost = 1 - permutation.expected_permutation(rules, self.LENGTHS, 12)[0].sum(1)
        assert float(lost.max()) > 1e-4, "the example should have splits to skip"
        assert float(lost.max()) <= 0.5

    def test_nothing_is_skipped_where_gradients_are_wanted(self, monkeypatch):
        rules = self.rules(10.0)
        exact = permutation.expected_permutation(rules, self.LENGTHS, 12)
        monkeypatch.setattr(cpu, "LONG", 3)
        monkeypatch.setattr(cpu, "SKIPPED", 0.5)
        assert not torch.equal(permutation.expected_permutation(rules, self.LENGTHS, 12), exact)
        with_gradients = permutation.expected_permutation(rules.requires_grad_(), self.LENGTHS, 12)
        assert torch.equal(with_gradients, exact)
