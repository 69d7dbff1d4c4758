"""The transducer against the paper's equations, written as loops, and what holds for all its variants."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from ftor.config import TransducerConfig
from ftor.networks.decoding import decode
from ftor.networks.network import FLOOR
from ftor.networks.transducer import Transducer
from ftor.nn import AutoregressiveDecoder
from ftor.text.batches import Batch
from ftor.text.encoded_pairs import EncodedPairs
from support.small_networks import DECODERS, ORDERS, PAIRS, transducer, whole_batch

VARIANTS = [
    pytest.param(order, decoder, copying, id=f"{order}-{decoder}{'-copying' * copying}")
    for order, decoder, copying in product(ORDERS, DECODERS, (False, True))
]


def loops(network: Transducer, batch: Batch, row: int) -> tuple[float, float]:
    """−log P(y|x,l) and −log P(l|x) of one example, by sections 4 and 6 of the paper, index by index."""
    n, length = int(batch.source_lengths[row]), int(batch.target_lengths[row])
    config, d = network.config, network.config.max_fertility
    source_length, target_length = torch.tensor([n]), torch.tensor([length])
    x = network.embedding.weight[batch.source[row, :n]]
    first, second = (encoded[0] for encoded in network.source_encoder(x[None], source_length))
    scales = [config.context_scale] * n
    if network.gate is not None:
        scales = [torch.sigmoid(network.gate[0].weight @ h + network.gate[0].bias) for h in second]
    context = [scales[i] * second[i] + x[i] for i in range(n)]
    if config.order == "reordering-fertility":
        R = network.reordering(first[None], source_length).marginals[0]
        permuted = torch.stack([sum(R[i, p] * x[i] for i in range(n)) for p in range(n)])
        inner = network.inner_encoder(permuted[None], source_length)[0][0]
        fertility = network.fertility((inner + permuted)[None], source_length)
        F = fertility.given(target_length).marginals[0]

        def aligned(i: int, u: int, o: int) -> Tensor:
            return sum(R[i, p] * F[p, o, u] for p in range(n))
    else:
        read = first + x if config.fertility_skip else first
        fertility = network.fertility(read[None], source_length)
        F = fertility.given(target_length).marginals[0]
        R = torch.eye(length, dtype=torch.float64)
        if config.order == "fertility-reordering":
            copies = list(product(range(n), range(d)))
            moved = x + config.reordering_context * second
            h = torch.stack(
                [
                    sum(F[i, j, u] * (moved[i] + network.copy_embedding[u]) for i, u in copies)
                    for j in range(length)
                ]
            )
            inner = network.inner_encoder(h[None], target_length)[0][0]
            R = network.reordering((inner + h)[None], target_length).marginals[0]

        def aligned(i: int, u: int, o: int) -> Tensor:
            return sum(F[i, j, u] * R[j, o] for j in range(length))

    decoder, state, nll = network.decoder, torch.zeros(8, dtype=torch.float64), 0.0
    cell = torch.zeros(8, dtype=torch.float64)
    for o in range(length):
        y, p = int(batch.target[row, o]), 0.0
        for i, u in product(range(n), range(d)):
            vector = context[i] + (state if isinstance(decoder, AutoregressiveDecoder) else 0)
            hidden = nn.functional.elu(decoder.hidden.weight @ vector + decoder.hidden.bias)
            logits = (decoder.output.weight @ hidden + decoder.output.bias).view(d, -1)[u]
            right = batch.copyable is None or y != 0 or bool(batch.copyable[row, i, o])
            p += (right * aligned(i, u, o) * logits.softmax(-1)[y]).item()
        nll -= math.log(p)
        if isinstance(decoder, AutoregressiveDecoder):
            state, cell = decoder.cell(decoder.embedding.weight[y], (state, cell))
    return nll, -fertility.log_prob_length(target_length).item()


MORE_CONTEXT = {"fertility_skip": True, "context_gate": True, "reordering_context": 0.7}


@pytest.mark.parametrize("settings", [{}, MORE_CONTEXT], ids=["", "more-context"])
@pytest.mark.parametrize(("order", "decoder", "copying"), VARIANTS)
def test_loss_terms_are_those_of_the_equations(order, decoder, copying, settings):
    network, vocabularies = transducer(order, decoder, copying, **settings)
    if network.gate is not None:
        nn.init.normal_(network.gate[0].weight)
    batch = whole_batch(vocabularies, PAIRS)
    losses = network(batch)
    for row in range(len(PAIRS)):
        tokens, length = loops(network, batch, row)
        assert losses.tokens[row].item() == pytest.approx(tokens, rel=1e-6)
        assert losses.length[row].item() == pytest.approx(length, rel=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("encoder", ["highway", "plain"])
def test_no_example_depends_on_the_rest_of_its_batch(order, encoder):
    network, vocabularies = transducer(order, "independent", encoder=encoder)
    together = network(whole_batch(vocabularies, PAIRS))
    for row, pair in enumerate(PAIRS):
        alone = network(EncodedPairs([pair], vocabularies).batch(torch.tensor([0])))
        torch.testing.assert_close(torch.stack(alone)[:, 0], torch.stack(together)[:, row])


@pytest.mark.parametrize(("order", "decoder", "copying"), VARIANTS)
def test_all_parameters_learn(order, decoder, copying):
    network, vocabularies = transducer(order, decoder, copying)
    losses = network(whole_batch(vocabularies, PAIRS))
    (losses.tokens + losses.length).sum().backward()
    without = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert without == []


@pytest.mark.parametrize("order", ORDERS)
def test_copying_gives_each_string_the_mass_of_its_class_and_copies(order):
    network, vocabularies = transducer(order, "independent", copying=True)
    sources = [("a", "q", "a", "q"), ("q", "x")]
    batch = vocabularies.source_batch(sources)
    lengths = torch.tensor([3, 2])
    with torch.no_grad():
        reading = network.read(batch)
        whole = network.align(reading, lengths).marginals
        translations = network.decoder(reading.context).exp()
    mixture = network._mixture(batch, translations, whole)
    V, d = len(vocabularies.target), 3
    for row, source in enumerate(sources):
        for o in range(int(lengths[row])):
            expected: dict[str, float] = {}
            for i, u in product(range(len(source) + 1), range(d)):
                weight = float(whole[row, i, u, o])
                for v in range(1, V):
                    token = vocabularies.target.token(v)
                    expected[token] = expected.get(token, 0) + weight * float(translations[row, i, u, v])
                if i > 0:  # nothing copies the start position
                    token = source[i - 1]
                    expected[token] = expected.get(token, 0) + weight * float(translations[row, i, u, 0])
            for v in range(1, V):
                assert float(mixture[row, o, v]) == pytest.approx(expected[vocabularies.target.token(v)])
            for i, token in enumerate(source, 1):
                first = source.index(token) + 1
                choice = vocabularies.target.get(token, V + first)
                assert int(batch.copies.choices[row, i]) == choice
                assert float(mixture[row, o, choice]) == pytest.approx(expected[token])
                if choice != V + i:
                    assert float(mixture[row, o, V + i]) == 0
            assert float(mixture[row, o, [0, V]].sum()) == 0


@pytest.mark.parametrize(("order", "decoder", "copying"), VARIANTS)
def test_an_emphasised_word_is_a_word_of_its_own_whose_vector_is_x_plus_h(order, decoder, copying):
    network, vocabularies = transducer(order, decoder, copying)
    size, h = len(vocabularies.source), torch.randn(8, dtype=torch.float64)
    network.emphasis = nn.Parameter(h)
    twice, _ = transducer(order, decoder, copying)
    weights = network.state_dict()
    del weights["emphasis"]
    weights["embedding.weight"] = torch.cat([weights["embedding.weight"], weights["embedding.weight"] + h])
    twice.embedding = nn.Embedding(2 * size, 8, dtype=torch.float64)
    twice.load_state_dict(weights)
    batch = EncodedPairs([replace(pair, emphasis="a") for pair in PAIRS], vocabularies).batch(torch.arange(4))
    other = replace(batch, source=batch.source + size * batch.emphasised, emphasised=None)
    found, expected = torch.stack(network(batch)), torch.stack(twice(other))
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found[0, 0], network(replace(batch, emphasised=None)).tokens[0])
    sources = vocabularies.source_batch([pair.source for pair in PAIRS], emphasis=["a"] * 4)
    decoded = decode(twice, replace(sources, source=other.source, emphasised=None), k=3)
    for one, same in zip(decode(network, sources, k=3), decoded, strict=True):
        torch.testing.assert_close(one, same)


def test_the_emphasis_vector_is_standard_normal_and_there_only_if_wanted():
    config = TransducerConfig(width=400, scorer_hidden=1)
    torch.manual_seed(1)
    plain = Transducer(config, 5, 5)
    torch.manual_seed(1)
    network = Transducer(config, 5, 5, emphasis=True)
    assert set(network.state_dict()) - set(plain.state_dict()) == {"emphasis"}
    assert all(value.equal(network.state_dict()[name]) for name, value in plain.state_dict().items())
    mean, deviation = network.emphasis.detach().mean(), network.emphasis.detach().std()
    assert (float(mean), float(deviation)) == pytest.approx((0, 1), abs=0.15)


def test_unknown_gold_tokens_cost_the_floor():
    network, vocabularies = transducer("fertility-reordering", "independent")
    batch = whole_batch(vocabularies, PAIRS)
    unknown = batch.target.clone()
    unknown[0, 1] = -1
    changed = network(replace(batch, target=unknown)).tokens.detach()
    difference = changed - network(batch).tokens.detach()
    assert float(difference[0]) > 0
    assert float(changed[0]) > -math.log(2 * FLOOR)
    assert difference[1:].tolist() == [0, 0, 0]


def test_alignment_term_is_the_log_mass_of_wanted_pairs():
    network, vocabularies = transducer("fertility-reordering", "independent")
    wanted = [[(1, 1), (3, 3)], [], [(1, 1)], [(0, 0)]]
    batch = EncodedPairs(PAIRS, vocabularies, wanted).batch(torch.arange(4), with_alignments=True)
    reading = network.read(batch)
    mass = network.align(reading, batch.target_lengths).marginals.sum(2).detach()
    expected = [
        -math.log(mass[0, 1, 1] * mass[0, 3, 3]), 0.0, -math.log(mass[2, 1, 1]), -math.log(mass[3, 0, 0]),
    ]  # fmt: skip
    assert network(batch).alignment.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("vocabulary", "expected"), [(11, 1_017_000), (14, 1_019_000)], ids=["mirror", "mirror-xyz"]
)
def test_parameters_are_as_many_as_the_paper_says(vocabulary, expected):
    """The paper counts a block of classes for copy 0 and two classes, one embedding row more than we need."""
    network = Transducer(TransducerConfig(width=128), vocabulary + 3, vocabulary)
    ours = sum(parameter.numel() for parameter in network.parameters())
    unused = 129 * (5 * (vocabulary + 2) - 4 * vocabulary) + 128
    assert ours + unused == pytest.approx(expected, abs=500)


def test_fertilities_are_taught_how_often_tokens_are_aligned():
    network, vocabularies = transducer("fertility-reordering", "independent")
    wanted = [[(1, 1), (1, 2), (2, 0), (3, 3)], [(2, 2)], [(1, 1)], [(0, 0), (3, 1)]]
    pairs, rows = EncodedPairs(PAIRS, vocabularies, wanted, align_fertilities=True), torch.arange(4)
    batch = pairs.batch(rows, with_alignments=True)
    p = network.read(batch).fertility.logits.softmax(-1).detach()
    # All outputs of the first and last pair are aligned: the number of copies is known.
    known = [
        p[0, 0, 0] * p[0, 1, 2] * p[0, 2, 1] * p[0, 3, 1],
        p[1, 2, 1:].sum(),
        p[2, 1, 1:].sum(),
        p[3, 0, 1] * p[3, 1, 0] * p[3, 2, 0] * p[3, 3, 1] * p[3, 4, 0],
    ]
    taught = network(batch).alignment - network(replace(batch, aligns_fertilities=False)).alignment
    assert taught.tolist() == pytest.approx([-math.log(value) for value in known])


def test_the_gate_starts_at_the_fixed_weight():
    network = Transducer(TransducerConfig(width=8, context_scale=0.05, context_gate=True), 5, 5)
    assert network.gate(torch.randn(3, 8)).flatten().tolist() == pytest.approx([0.05] * 3)


def test_a_network_with_a_gate_can_be_built_without_values_as_loading_does():
    with torch.device("meta"):  # where no tensor has a value that could be read
        network = Transducer(TransducerConfig(width=8, context_gate=True), 5, 5)
    assert network.gate is not None


def test_fertilities_of_reordered_tokens_are_taught_as_expected():
    network, vocabularies = transducer("reordering-fertility", "independent")
    wanted = [[(1, 1), (1, 2), (2, 0), (3, 3)], [(2, 2)], [(1, 1)], [(0, 0), (3, 1)]]
    pairs = EncodedPairs(PAIRS, vocabularies, wanted, align_fertilities=True)
    batch = pairs.batch(torch.arange(4), with_alignments=True)
    taught = network(batch).alignment - network(replace(batch, aligns_fertilities=False)).alignment
    reading = network.read(batch)
    p, R = reading.fertility.logits.softmax(-1).detach(), reading.permutation.marginals.detach()
    for row, aligned in enumerate(wanted):
        n, complete = int(batch.source_lengths[row]), row in (0, 3)
        counts = [sum(i == token for i, _ in aligned) for token in range(n)]
        expected = 0.0
        for i, place in product(range(n), range(n)):
            share = p[row, place, counts[i]] if complete else p[row, place, counts[i] :].sum()
            expected -= float(R[row, i, place] * share.log())
        assert taught[row].item() == pytest.approx(expected)
