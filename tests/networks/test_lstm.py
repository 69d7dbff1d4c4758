"""The LSTM against its equations, written as loops, and its word vectors."""

import pytest
import torch

import ftor
from ftor.config import LSTMConfig
from ftor.networks.lstm import LSTMSeq2Seq
from support.small_networks import SHORT_PAIRS, seq2seq, whole_batch
from support.tiny import run_here


def test_the_lstm_is_that_of_the_equations():
    """Section 4.11 of the notes on the released code, one example and one step at a time."""
    network, vocabularies = seq2seq("lstm-deep")
    batch = whole_batch(vocabularies, SHORT_PAIRS)
    for row, pair in enumerate(SHORT_PAIRS):
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


@torch.no_grad()
def test_several_outputs_of_a_source_are_scored_without_reading_it_again():
    network, vocabularies = seq2seq("lstm-deep")
    batch = whole_batch(vocabularies, SHORT_PAIRS)
    golds = [row[:length] for row, length in zip(batch.target.tolist(), batch.target_lengths, strict=True)]
    rows = torch.tensor([*range(len(golds)), 0])
    scores = network.scorer(batch)(rows, [*golds, golds[0][:1]])
    torch.testing.assert_close(scores[:-1], -network.losses(batch).sum(1))
    assert scores[-1] != scores[0]


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


def test_vectors_of_new_words_are_looked_up(data, tmp_path, arguments):
    lines = [f"{word} {number}.0 1.0 -1.0" for number, word in enumerate("abcdefghijkz")]
    (tmp_path / "vectors.txt").write_text("\n".join(lines))
    out = tmp_path / "run"
    finished = run_here(*arguments("lstm", out, data__vectors=str(tmp_path / "vectors.txt")))
    assert finished.code == 0, finished.err
    model = ftor.load(out)
    model.predict([["a", "z"]])
    assert model.network.vectors.weight.requires_grad
    assert model.network.vectors._later.tolist() == [[11.0, 1.0, -1.0]]
