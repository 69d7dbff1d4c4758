"""The encoders: what they start from, what their dropout drops, and that they run side by side as alone."""

import math

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from ftor.nn import BiLSTM, HighwayBiLSTM
from oracles import recurrence as oracle

LENGTHS = torch.tensor([7, 1, 4, 7, 2])
ENCODERS = pytest.mark.parametrize("encoder", [HighwayBiLSTM, BiLSTM])


def sequences(width=10, *, dtype=torch.float64):
    return torch.randn(len(LENGTHS), 7, width, dtype=dtype)


def without_dropout(width=10, **sizes):
    return HighwayBiLSTM(width, **sizes, recurrent_dropout=0, layer_dropout=0).double()


def by_hand(encoder, index, x):
    """One encoder's output, from products and the oracle."""
    B, n, D = x.shape
    for layer in encoder.layers:
        projected = torch.einsum("bnd,kgd->bnkg", x, layer.projection[index])
        x = oracle.highway_lstm(projected, layer.recurrent[index], layer.bias[index], LENGTHS).view(B, n, D)
    return x


class TestHighwayBiLSTM:
    @pytest.mark.usefixtures("both")
    @pytest.mark.parametrize(("layers", "encoders"), [(1, 1), (2, 1), (2, 2), (3, 2)])
    def test_agrees_with_the_oracle(self, layers, encoders):
        encoder, x = without_dropout(layers=layers, encoders=encoders), sequences()
        outputs = encoder(x, LENGTHS)
        assert len(outputs) == encoders
        for index, output in enumerate(outputs):
            assert_close(output, by_hand(encoder, index, x))

    @pytest.mark.usefixtures("both")
    def test_encoders_side_by_side_equal_encoders_alone(self):
        together, x = without_dropout(encoders=3), sequences().requires_grad_()
        outputs = together(x, LENGTHS)
        weights = torch.randn(3, *x.shape, dtype=x.dtype)
        wanted = [x, *together.parameters()]
        grads = torch.autograd.grad(sum((o * w).sum() for o, w in zip(outputs, weights, strict=True)), wanted)
        sum_of_grads = torch.zeros_like(x)
        for index in range(3):
            alone = without_dropout()
            state = {name: value[index : index + 1] for name, value in together.state_dict().items()}
            alone.load_state_dict(state)
            (output,) = alone(x, LENGTHS)
            assert_close(outputs[index], output)
            found = torch.autograd.grad((output * weights[index]).sum(), [x, *alone.parameters()])
            sum_of_grads += found[0]
            for ours, theirs in zip(grads[1:], found[1:], strict=True):
                assert_close(ours[index : index + 1], theirs)
        assert_close(grads[0], sum_of_grads)

    @pytest.mark.parametrize("width", [128, 200])
    def test_number_of_parameters(self, width):
        H = width // 2
        expected = 4 * (6 * width * H + 5 * H**2 + 5 * H)
        assert sum(p.numel() for p in HighwayBiLSTM(width).parameters()) == expected
        assert sum(p.numel() for p in HighwayBiLSTM(width, encoders=3).parameters()) == 3 * expected

    def test_every_gate_starts_orthogonal(self):
        H = 6
        for layer in HighwayBiLSTM(2 * H, encoders=2).double().layers:
            for matrix in (layer.projection, layer.recurrent):
                blocks = matrix.detach().reshape(-1, H, matrix.shape[-1])
                assert len(blocks) == 4 * (6 if matrix is layer.projection else 5)
                assert_close(
                    blocks @ blocks.mT, torch.eye(H).double().expand(len(blocks), H, H), atol=1e-6, rtol=0
                )
                assert len(set(blocks[:, 0, 0].tolist())) == len(blocks)
            i, f, *others = layer.bias.detach().split(H, dim=-1)
            assert (f == 1).all()
            assert not any(bias.any() for bias in (i, *others))

    def test_the_seed_decides_the_weights_and_masks(self):
        outputs = []
        for _ in range(2):
            torch.manual_seed(5)
            outputs.append(HighwayBiLSTM(10).double()(sequences(), LENGTHS)[0])
        assert torch.equal(*outputs)

    def test_dropout_only_in_training(self):
        encoder, x = HighwayBiLSTM(10, recurrent_dropout=0.5, layer_dropout=0.5).double(), sequences()
        assert not torch.equal(encoder(x, LENGTHS)[0], encoder(x, LENGTHS)[0])
        encoder.eval()
        (found,) = encoder(x, LENGTHS)
        assert torch.equal(found, encoder(x, LENGTHS)[0])
        assert_close(found, by_hand(encoder, 0, x))

    @pytest.mark.parametrize("kind", [HighwayBiLSTM, BiLSTM])
    def test_projections_may_be_mixed_before_encoding(self, kind):
        encoder = kind(10, encoders=2).double().eval()
        few, mix = torch.randn(3, 10).double(), torch.rand(5, 7, 3).double()
        expected = encoder(mix @ few, LENGTHS)
        for found, wanted in zip(encoder.encode(mix @ encoder.project(few), LENGTHS), expected, strict=True):
            assert_close(found, wanted)

    def test_layer_dropout_is_between_layers_only(self):
        encoder = HighwayBiLSTM(10, layers=1, recurrent_dropout=0, layer_dropout=0.5).double()
        x = sequences()
        assert torch.equal(encoder(x, LENGTHS)[0], encoder(x, LENGTHS)[0])

    @pytest.mark.parametrize("encoders", [1, 2])
    def test_layer_dropout_drops_a_unit_at_all_positions(self, encoders, monkeypatch):
        encoder = HighwayBiLSTM(40, encoders=encoders, recurrent_dropout=0, layer_dropout=0.25).double()
        seen = []
        after = encoder.layers[1].after
        monkeypatch.setattr(encoder.layers[1], "after", lambda x, *rest: seen.extend(x) or after(x, *rest))
        x = sequences(40)
        encoder(x, LENGTHS)
        encoder.eval()
        encoder(x, LENGTHS)
        dropped, plain = seen[:encoders], seen[encoders:]
        ratios = [d[[0, 3]] / p[[0, 3]] for d, p in zip(dropped, plain, strict=True)]  # the two full rows
        for ratio in ratios:
            assert_close(ratio, ratio[:, :1].expand_as(ratio))
            assert {round(value, 6) for value in ratio.flatten().tolist()} == {0.0, round(4 / 3, 6)}
            assert not torch.equal(ratio[0], ratio[1])

    def test_recurrent_dropout_leaves_the_first_step_of_each_direction_alone(self):
        torch.manual_seed(1)
        encoder = HighwayBiLSTM(40, layers=1, recurrent_dropout=0.5).double()
        x = sequences(40)
        (dropped,) = encoder(x, LENGTHS)
        (plain,) = encoder.eval()(x, LENGTHS)
        same = (dropped - plain).abs() < 1e-12
        for row, length in enumerate(LENGTHS.tolist()):
            assert same[row, 0, :20].all()
            assert same[row, length - 1, 20:].all()
            assert not same[row, 1:length, :20].any()

    @pytest.mark.usefixtures("both")
    def test_empty_dropout_masks_draw_nothing(self):
        encoder, x = without_dropout(), sequences()
        state = torch.get_rng_state()
        encoder(x, LENGTHS)
        assert torch.equal(state, torch.get_rng_state())

    def test_shows_its_sizes(self):
        shown = repr(HighwayBiLSTM(10, encoders=2))
        assert "width=10, encoders=2, recurrent_dropout=0.1, layer_dropout=0.1" in shown


class TestBiLSTM:
    def test_agrees_with_torch(self):
        encoder, x = BiLSTM(10, encoders=2).double().eval(), sequences()
        outputs = encoder(x, LENGTHS)
        for output, lstm in zip(outputs, encoder.stacks, strict=True):
            packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
            assert torch.equal(output, pad_packed_sequence(lstm(packed)[0], batch_first=True)[0])
            assert_close(output[[0, 3]], lstm(x[[0, 3]])[0])

    def test_keeps_the_length_of_the_batch(self):
        encoder, x = BiLSTM(10).double(), sequences()
        assert encoder(x, LENGTHS.clamp(max=4))[0].shape == x.shape

    def test_dropout_only_in_training(self):
        encoder, x = BiLSTM(10, layer_dropout=0.5).double(), sequences()
        assert not torch.equal(encoder(x, LENGTHS)[0], encoder(x, LENGTHS)[0])
        encoder.eval()
        assert torch.equal(encoder(x, LENGTHS)[0], encoder(x, LENGTHS)[0])

    def test_one_layer_needs_no_dropout(self):
        BiLSTM(10, layers=1, layer_dropout=0.5)


@ENCODERS
class TestBothEncoders:
    @pytest.mark.usefixtures("both")
    def test_garbage_in_the_padding_changes_nothing(self, encoder):
        module, clean = encoder(10, encoders=2).double().eval(), sequences()
        padding = (torch.arange(7) >= LENGTHS[:, None])[..., None]
        found, expected = (
            outputs_and_gradients(module, clean.masked_fill(padding, value)) for value in (math.nan, 0.0)
        )
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))
        for x in found[:3]:
            assert not x[padding.expand_as(x)].any()

    @pytest.mark.usefixtures("both")
    def test_a_sequence_does_not_depend_on_its_batch(self, encoder):
        module, x = encoder(10, encoders=2).double().eval(), sequences()
        together = module(x, LENGTHS)
        for row, length in enumerate(LENGTHS.tolist()):
            alone = module(x[row : row + 1, :length], LENGTHS[row : row + 1])
            for ours, theirs in zip(together, alone, strict=True):
                assert_close(ours[row, :length], theirs[0])

    @pytest.mark.parametrize(
        ("sizes", "message"),
        [
            ({"width": 9}, "width: expected an even number, found 9"),
            ({"width": 0}, "width: expected an integer of at least 2, found 0"),
            ({"width": 8, "layers": 0}, "layers: expected an integer of at least 1"),
            ({"width": 8, "encoders": 0}, "encoders: expected an integer of at least 1"),
            ({"width": 8, "layer_dropout": 1.0}, "dropout: expected 0 ≤ dropout < 1, found 1.0"),
        ],
        ids=["odd", "no width", "no layers", "no encoders", "dropout"],
    )
    def test_impossible_sizes_are_refused(self, encoder, sizes, message):
        with pytest.raises(ValueError, match=message):
            encoder(**sizes)

    def test_wrong_inputs_are_named(self, encoder):
        module, x = encoder(10).double(), sequences()
        with pytest.raises(ValueError, match=r"x: expected shape \(B, n, 10\), found \(5, 7, 9\)"):
            module(x[..., 1:], LENGTHS)
        with pytest.raises(ValueError, match=r"lengths: expected 1 to 7 .* found 8 in row 0"):
            module(x, LENGTHS + 1)


def outputs_and_gradients(module, x):
    x = x.clone().requires_grad_()
    outputs = module(x, LENGTHS)
    grads = torch.autograd.grad(sum(output.sin().sum() for output in outputs), [x, *module.parameters()])
    return [*outputs, *grads]


def test_inputs_may_have_another_size_than_outputs(both):
    narrow, wide = without_dropout(10, inputs=4), without_dropout(10)
    widen = torch.randn(10, 4, dtype=torch.float64)
    with torch.no_grad():
        for found, wanted in zip(narrow.parameters(), wide.parameters(), strict=True):
            found.copy_(wanted if found.shape == wanted.shape else wanted @ widen)
    x = sequences(4)
    assert_close(narrow(x, LENGTHS)[0], wide(x @ widen.T, LENGTHS)[0])
    with pytest.raises(ValueError, match="x: expected"):
        narrow(sequences(10), LENGTHS)
