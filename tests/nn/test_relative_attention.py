"""Relative attention against its formula, position by position."""

import math

import pytest
import torch

from ftor.nn.relative_attention import CrossAttention, RelativeAttention, sinusoids

D, HEADS = 8, 2


@pytest.fixture
def attention():
    """Give an attention whose biases are not 0."""
    made = RelativeAttention(D, HEADS).double().eval()
    torch.nn.init.normal_(made.content_bias)
    torch.nn.init.normal_(made.distance_bias)
    return made


def loops(attention, x, allowed):
    """(q_i + a)·k_j + (q_i + b)·P s(i − j), for one sequence (n, D)."""
    n, width = len(x), D // HEADS
    q = [attention.project.weight[:D] @ x[i] for i in range(n)]
    k = [attention.project.weight[D : 2 * D] @ x[i] for i in range(n)]
    v = [attention.project.weight[2 * D :] @ x[i] for i in range(n)]
    rows = []
    for i in range(n):
        heads = []
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            a, b = attention.content_bias[head, 0], attention.distance_bias[head, 0]
            scores = []
            for j in range(n):
                r = torch.tensor(
                    [
                        (math.sin if place % 2 == 0 else math.cos)((i - j) / 10000 ** (2 * (place // 2) / D))
                        for place in range(D)
                    ]
                ).double()
                score = (q[i][part] + a) @ k[j][part]
                score = score + (q[i][part] + b) @ (attention.distance.weight @ r)[part]
                scores.append(score / math.sqrt(width) if allowed[i][j] else torch.tensor(-math.inf).double())
            weights = torch.stack(scores).softmax(0)
            heads.append(sum(w * value[part] for w, value in zip(weights, v, strict=True)))
        rows.append(attention.merge.weight @ torch.cat(heads))
    return torch.stack(rows)


def nothing(batch=1):
    empty = torch.zeros(batch, HEADS, 0, D // HEADS).double()
    return empty, empty


@pytest.mark.parametrize("causal", [False, True], ids=["both ways", "causal"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_scores_are_those_of_the_formula(attention, n, causal):
    x = torch.randn(1, n, D).double()
    allowed = torch.ones(n, n, dtype=torch.bool)
    allowed = allowed.tril() if causal else allowed
    found, _, _ = attention(x, allowed[None], nothing())
    torch.testing.assert_close(found[0], loops(attention, x[0], allowed.tolist()), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("parts", [(1, 1, 1, 1), (3, 1), (2, 2)])
def test_what_was_read_before_is_as_if_read_at_once(attention, parts):
    x = torch.randn(2, 4, D).double()
    causal = torch.ones(4, 4, dtype=torch.bool).tril()[None]
    whole, _, _ = attention(x, causal, nothing(2))
    before, found, done = nothing(2), [], 0
    for size in parts:
        allowed = causal[:, done : done + size, : done + size]
        out, *before = attention(x[:, done : done + size], allowed, before)
        found.append(out)
        done += size
    torch.testing.assert_close(torch.cat(found, 1), whole)


def test_padding_is_not_looked_at(attention):
    x = torch.randn(1, 5, D).double()
    inside = torch.tensor([[True, True, True, False, False]])
    padded, _, _ = attention(x, inside[:, None], nothing())
    short, _, _ = attention(x[:, :3], inside[:, None, :3], nothing())
    torch.testing.assert_close(padded[:, :3], short)
    cross = CrossAttention(D, HEADS).double().eval()
    query = torch.randn(1, 2, D).double()
    torch.testing.assert_close(
        cross(query, *cross.read(x), inside), cross(query, *cross.read(x[:, :3]), inside[:, :3])
    )


def test_sinusoids_of_opposite_distances_differ_in_their_sines():
    there, back = sinusoids(torch.tensor([3, -3]), 6)
    assert torch.equal(there[0::2], -back[0::2])
    assert torch.equal(there[1::2], back[1::2])


def test_heads_must_share_the_width():
    with pytest.raises(ValueError, match="width: expected a multiple of heads, 3, found 8"):
        RelativeAttention(8, 3)
