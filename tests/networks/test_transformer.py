"""The Transformer against its equations, written as loops."""

import math
from itertools import product

import pytest
import torch

from ftor.config import TransformerConfig
from ftor.networks.transformer import RelativeTransformer
from ftor.text.vocabulary import PAD
from support.small_networks import SHORT_PAIRS, seq2seq, whole_batch


def norm(x, layer):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt() * (
        layer.weight
    ) + layer.bias


def attention(query, keys, values, bias, heads):
    """Attend from each of L vectors to n others by loops; `bias` (heads, L, n) is added to scaled scores."""
    parts = []
    for head, (q, k, v) in enumerate(zip(*(x.chunk(heads, -1) for x in (query, keys, values)), strict=True)):
        scores = torch.stack([torch.stack([a @ b for b in k]) for a in q]) / math.sqrt(q.shape[-1])
        parts.append((scores + bias[head]).softmax(-1) @ v)
    return torch.cat(parts, -1)


def transformer_by_hand(network, source, before):
    """Logits (L, V + 1) of one example, from the equations; `source` has its end, `before` begins with it."""
    config = network.config
    D, heads = config.width, config.heads

    def position(p):
        rates = [10000 ** (-i / D) for i in range(0, D, 2)]
        return torch.tensor(
            [f(p * rate) for rate in rates for f in (math.sin, math.cos)], dtype=torch.float64
        )

    def embed(table, ids):
        return torch.stack([table.weight[i] + position(p) / math.sqrt(D) for p, i in enumerate(ids)])

    def itself(layer, x, causal):
        own = layer.itself
        q, k, v = (x @ own.project.weight.T).chunk(3, -1)
        a, b = (bias.squeeze(1).flatten() for bias in (own.content_bias, own.distance_bias))
        bias = torch.full((heads, len(x), len(x)), -math.inf, dtype=torch.float64)
        for i, j in product(range(len(x)), repeat=2):
            if j <= i or not causal:
                by_distance = (q[i] + b) * (own.distance.weight @ position(i - j))
                bias[:, i, j] = by_distance.view(heads, -1).sum(-1) / math.sqrt(D // heads)
        return attention(q + a, k, v, bias, heads) @ own.merge.weight.T

    def feed_forward(layer, x):
        hidden, output = layer.feed_forward[0], layer.feed_forward[-1]
        return (x @ hidden.weight.T + hidden.bias).clamp(min=0) @ output.weight.T + output.bias

    x = embed(network.embedding, source)
    for layer in network.encoder:
        x = norm(x + itself(layer, x, causal=False), layer.norms[0])
        x = norm(x + feed_forward(layer, x), layer.norms[1])
    y = embed(network.target_embedding, before)
    for layer in network.decoder:
        y = norm(y + itself(layer, y, causal=True), layer.norms[0])
        k, v = (x @ layer.source.memory.weight.T).chunk(2, -1)
        nothing = torch.zeros(heads, len(y), len(x), dtype=torch.float64)
        attended = attention(y @ layer.source.query.weight.T, k, v, nothing, heads)
        y = norm(y + attended @ layer.source.merge.weight.T, layer.norms[1])
        y = norm(y + feed_forward(layer, y), layer.norms[2])
    return y @ network.output.weight.T + network.output.bias


def test_the_transformer_is_that_of_the_equations():
    network, vocabularies = seq2seq("transformer")
    end = len(vocabularies.target)
    for pair in SHORT_PAIRS[:2]:
        tokens = [vocabularies.target.get(token, -1) for token in pair.target]
        source = [*vocabularies.source_ids(pair.source), PAD]
        with torch.no_grad():
            by_hand = transformer_by_hand(network, source, [end, *tokens]).log_softmax(-1)
        wanted = -sum(by_hand[place, token] for place, token in enumerate([*tokens, end]))
        assert network(whole_batch(vocabularies, [pair])).tokens.item() == pytest.approx(wanted.item())


@pytest.mark.parametrize(
    ("words", "classes", "settings", "expected"),
    [
        (14, 14, {"width": 816, "heads": 6, "hidden": 512}, 33_067_000),
        (946, 514, {"width": 864, "heads": 9, "layers": 5, "hidden": 256}, 58_468_000),
    ],
    ids=["mirror-xyz", "atis"],
)
def test_the_transformer_has_as_many_parameters_as_the_paper_says(words, classes, settings, expected):
    """The paper counts two more source rows, four more target rows and three more classes."""
    config = TransformerConfig(architecture="transformer", **settings)
    with torch.device("meta"):
        network = RelativeTransformer(config, words + 3, classes)
    D = config.width
    unused = 2 * D + 4 * D + 3 * (D + 1)
    assert sum(p.numel() for p in network.parameters()) + unused == pytest.approx(expected, abs=500)
