"""The LSTM and the Transformer: written as loops, and what must hold for everything that writes tokens."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from ftor.config import LSTMConfig, TransformerConfig
from ftor.networks.beam import beam_search
from ftor.networks.lstm import LSTMSeq2Seq
from ftor.networks.network import FLOOR, Constraint
from ftor.networks.transformer import RelativeTransformer
from ftor.text.batches import Batch
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import PAD

PAIRS = [
    Pair(("a", "b", "c"), ("b", "a", "a", "c"), 1),
    Pair(("c", "a"), ("c", "x", "a"), 2),
    Pair(("b",), ("b",), 3),
    Pair(("a", "a", "b", "d"), ("a", "b"), 4),
]
ARCHITECTURES = ("lstm", "lstm-deep", "transformer")


def make(architecture, **settings):
    vocabularies = Vocabularies.of(PAIRS)
    sizes = len(vocabularies.source), len(vocabularies.target)
    if architecture == "transformer":
        config = TransformerConfig(
            architecture="transformer", width=8, heads=2, layers=2, hidden=12, **settings
        )
        network = RelativeTransformer(config, *sizes)
    else:
        layers = {"encoder_layers": 2, "decoder_layers": 3} if architecture == "lstm-deep" else {}
        config = LSTMConfig(architecture="lstm", width=6, hidden=4, **layers, **settings)
        network = LSTMSeq2Seq(config, *sizes)
    with torch.no_grad():  # far from uniform, so that a mistake shows
        for name, parameter in network.named_parameters():
            parameter.mul_(2) if "_bias" not in name else parameter.normal_()
    return network.double().eval(), vocabularies


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
    network, vocabularies = make("transformer")
    end = len(vocabularies.target)
    for pair in PAIRS[:2]:
        tokens = [vocabularies.target.get(token, -1) for token in pair.target]
        source = [*vocabularies.source_ids(pair.source), PAD]
        with torch.no_grad():
            by_hand = transformer_by_hand(network, source, [end, *tokens]).log_softmax(-1)
        wanted = -sum(by_hand[place, token] for place, token in enumerate([*tokens, end]))
        assert network(whole_batch(vocabularies, [pair])).tokens.item() == pytest.approx(wanted.item())


def whole_batch(vocabularies, pairs=PAIRS):
    return EncodedPairs(pairs, vocabularies).batch(torch.arange(len(pairs)))


def log_probability(network, vocabularies, source, tokens):
    """Log P(y|x) by teacher forcing."""
    one = vocabularies.source_batch([source])
    golds = Batch(
        one.source, one.source_lengths, torch.tensor([tokens], dtype=torch.int64).reshape(1, -1),
        torch.tensor([len(tokens)]), None, None, torch.arange(1),
    )  # fmt: skip
    loss = network(golds).tokens.item()
    return -loss * (len(tokens) + 1 if isinstance(network, LSTMSeq2Seq) else 1)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
class TestAll:
    def test_no_example_depends_on_the_rest_of_its_batch(self, architecture):
        network, vocabularies = make(architecture)
        together = network(whole_batch(vocabularies)).tokens
        for row, pair in enumerate(PAIRS):
            alone = network(whole_batch(vocabularies, [pair])).tokens
            torch.testing.assert_close(alone[0], together[row])

    def test_probabilities_of_all_outputs_sum_to_one(self, architecture):
        network, vocabularies = make(architecture)
        V = len(vocabularies.target)
        short = [tokens for length in range(3) for tokens in product(range(V), repeat=length)]
        total = sum(math.exp(log_probability(network, vocabularies, ("a", "c"), t)) for t in short)
        # What is left is the probability of outputs of three tokens or more, which begin with each of these.
        longer = 0.0
        memory = network.read(*vars_of(vocabularies.source_batch([("a", "c")])))
        for tokens in product(range(V), repeat=3):
            longer += math.exp(sum(steps(network, memory, tokens)))
        assert total + longer == pytest.approx(1)

    def test_steps_with_cached_states_are_teacher_forcing(self, architecture):
        network, vocabularies = make(architecture)
        for pair in PAIRS:
            tokens = [vocabularies.target.get(token, -1) for token in pair.target]
            memory = network.read(*vars_of(vocabularies.source_batch([pair.source])))
            found = sum(steps(network, memory, [*tokens, network.classes]))
            assert found == pytest.approx(log_probability(network, vocabularies, pair.source, tokens))

    @pytest.mark.parametrize("batch", [1, 4])
    def test_a_wide_beam_finds_the_best_of_all_outputs(self, architecture, batch):
        network, vocabularies = make(architecture, beam=400, expansions=5, max_steps=4)
        V, sources = len(vocabularies.target), [pair.source for pair in PAIRS][:batch]
        outputs = [tokens for length in range(4) for tokens in product(range(V), repeat=length)]
        for source, found in zip(sources, network.decode(vocabularies.source_batch(sources)), strict=True):
            scores = {tokens: log_probability(network, vocabularies, source, tokens) for tokens in outputs}
            memory = network.read(*vars_of(vocabularies.source_batch([source])))
            unfinished = {t: sum(steps(network, memory, t)) for t in product(range(V), repeat=4)}
            best = max((scores | unfinished).items(), key=lambda item: item[1])
            assert (tuple(found.choices), found.score) == (best[0], pytest.approx(best[1]))

    def test_what_is_not_accepted_is_passed_over(self, architecture):
        network, vocabularies = make(architecture, grammar_beam=400, max_steps=4)
        V, source = len(vocabularies.target), PAIRS[0].source
        outputs = [tokens for length in range(4) for tokens in product(range(V), repeat=length)]
        scores = {t: log_probability(network, vocabularies, source, t) for t in outputs}
        wanted = sorted(outputs, key=scores.__getitem__)[len(outputs) // 2]
        batch = vocabularies.source_batch([source, PAIRS[1].source])
        constraint = Constraint(accepts=lambda row, choices: row == 0 and tuple(choices) == wanted)
        found = network.decode(batch, 1, constraint)
        assert tuple(found[0].choices) == wanted
        assert found[0].score == pytest.approx(scores[wanted])
        wide, _ = make(architecture, beam=400, max_steps=4)
        assert found[1].choices == wide.decode(batch)[1].choices, "where none is accepted it is the best"

    @pytest.mark.parametrize("beam", [1, 2, 5])
    def test_outputs_do_not_depend_on_the_rest_of_the_batch(self, architecture, beam):
        network, vocabularies = make(architecture, beam=beam, expansions=2, max_steps=7)
        sources = [pair.source for pair in PAIRS]
        together = network.decode(vocabularies.source_batch(sources))
        for source, found in zip(sources, together, strict=True):
            (alone,) = network.decode(vocabularies.source_batch([source]))
            assert (alone.choices, alone.score) == (found.choices, pytest.approx(found.score))

    def test_all_parameters_learn(self, architecture):
        network, vocabularies = make(architecture)
        network(whole_batch(vocabularies)).tokens.sum().backward()
        without = [n for n, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
        assert without == []

    def test_unknown_gold_tokens_cost_the_floor(self, architecture):
        network, vocabularies = make(architecture)
        batch = whole_batch(vocabularies)
        unknown = batch.target.clone()
        unknown[3, 1] = -1
        changed = network(replace(batch, target=unknown)).tokens.detach()
        assert float(changed[3]) > -math.log(2 * FLOOR) / (3 if architecture != "transformer" else 1)
        torch.testing.assert_close(changed[:3], network(batch).tokens.detach()[:3])


def vars_of(batch):
    return batch.source, batch.source_lengths


def steps(network, memory, tokens):
    """The log-probability of each token given those before it, from cached states."""
    if isinstance(network, LSTMSeq2Seq):
        memory, begin = memory
        state = network.start(begin)
    else:
        state = tuple(part[:, None] for part in network.start(memory))
    before, found = network.classes, []
    for token in tokens:
        log_probs, state = network.step(memory, state, torch.tensor([[before]]))
        found.append(log_probs[0, 0, token].item())
        before = token
    return found


class TestBeam:
    """A decoder that looks at the token before only, with three tokens and an end."""

    FIRST = (0.5, 0.3, 0.2, 1e-9)
    AFTER = ((0.4, 0.3, 0.2, 0.1), (1e-3, 1e-3, 1e-3, 0.997), (0.1, 0.2, 0.6, 0.1), FIRST)

    def found(self, beam, expansions, accepts=None):
        def step(memory, state, previous):
            return torch.tensor([[self.AFTER[p] for p in row] for row in previous.tolist()]).log(), state

        memory, state = (torch.zeros(1, 1),), (torch.zeros(1, 1, 1),)
        return beam_search(step, memory, state, 3, beam, expansions, 2, accepts)[0]

    def test_of_one_is_greedy(self):
        assert self.found(1, 4)[:2] == ([0, 0], pytest.approx(math.log(0.5 * 0.4)))

    def test_of_two_finds_what_begins_badly(self):
        assert self.found(2, 1)[:2] == ([1], pytest.approx(math.log(0.3 * 0.997)))

    @pytest.mark.parametrize(("expansions", "tokens"), [(2, [1]), (3, [0, 2])])
    def test_looks_at_so_many_continuations_of_each_output_only(self, expansions, tokens):
        assert self.found(16, expansions, lambda _, output: output == [0, 2]).choices == tokens

    def test_looks_at_as_many_first_tokens_as_it_is_wide(self):
        assert self.found(3, 1, lambda _, output: output == [2, 2]).choices == [2, 2]

    def test_asks_about_each_output_once(self):
        asked = []
        self.found(16, 4, lambda _, output: asked.append(tuple(output)))
        assert len(asked) == len(set(asked)) == 13  # the empty one, three of one token, nine of two


def test_the_lstm_is_that_of_the_equations():
    """Section 4.11 of the notes on the released code, one example and one step at a time."""
    network, vocabularies = make("lstm-deep")
    batch = whole_batch(vocabularies)
    for row, pair in enumerate(PAIRS):
        n = int(batch.source_lengths[row])
        ids = [*batch.source[row, :n].tolist(), 0]  # the end has the id of padding
        x = network.embedding.weight[ids]
        encoded = network.encoder(x[None], torch.tensor([n + 1]))[0][0]
        H = encoded.shape[-1]
        begin = torch.cat([encoded[-1, : H // 2], encoded[0, H // 2 :]])
        states = [(begin, torch.zeros(H).double()) for _ in range(3)]
        tokens, nll, before = [*batch.target[row, : len(pair.target)].tolist(), network.classes], 0.0, -1
        for token in tokens:
            a, s = network.attention, states[0][0]
            scores = torch.stack(
                [a.score.weight[0] @ torch.tanh(a.query.weight @ s + a.key.weight @ h) for h in encoded]
            )
            attended = sum(w * h for w, h in zip(scores.softmax(0), encoded, strict=True))
            inputs = torch.cat([attended, network.target_embedding.weight[before]])
            states[0] = network.cell(inputs, states[0])
            for layer in range(2):
                weights = (getattr(network.upper, f"{name}_l{layer}") for name in
                           ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))  # fmt: skip
                h, c = torch.lstm_cell(
                    states[layer][0][None], tuple(part[None] for part in states[layer + 1]), *weights
                )
                states[layer + 1] = h[0], c[0]
            log_p = (network.output.weight @ states[-1][0] + network.output.bias).log_softmax(0)
            nll, before = nll - log_p[token].item(), token
        assert network(batch).tokens[row].item() == pytest.approx(nll / len(tokens))


@pytest.mark.parametrize(
    ("words", "classes", "settings", "expected"),
    [
        (14, 14, {"hidden": 150, "encoder_layers": 1, "decoder_layers": 3}, 3_187_000),
        (946, 514, {}, 4_669_000),
    ],
    ids=["mirror-xyz", "atis"],
)
def test_the_lstm_has_as_many_parameters_as_the_paper_says(words, classes, settings, expected):
    """The paper counts rows of padding and ends: one more of the source, three more of the target."""
    config = LSTMConfig(architecture="lstm", **settings)
    network = LSTMSeq2Seq(config, words + 3, classes)
    unused = 200 + 3 * 200 + 3 * (2 * config.hidden + 1)
    assert sum(p.numel() for p in network.parameters()) + unused == pytest.approx(expected, abs=500)


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
