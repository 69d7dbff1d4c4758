"""Put the two layers into a model of your own, and train it for a few seconds.

    python examples/layers_in_a_model.py [STEPS]

The task: reverse a string of 2 to 5 symbols, and write every vowel twice. The test strings have 8 symbols.
"""

import random
import sys

import torch
from torch import Tensor, nn

import ftor

SYMBOLS = "abcdefghi"
VOWELS = "aei"


class Model(nn.Module):
    """Embeddings, a fertility layer, a reordering layer, and one linear map that translates each copy."""

    def __init__(self, width: int = 32, max_fertility: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(SYMBOLS) + 1, width, padding_idx=0)
        self.fertility = ftor.nn.FertilityLayer(width, max_fertility)
        self.reordering = ftor.nn.ReorderingLayer(width)
        self.translation = nn.Linear(width, len(SYMBOLS) + 1)

    def forward(self, source: Tensor, source_lengths: Tensor, lengths: Tensor | None) -> tuple[Tensor, ...]:
        """Give log P(l) (B,), the lengths l (B,), and token probabilities (B, L, V).

        The lengths are the most likely ones if they are None.
        """
        x = self.embedding(source)  # (B, n, D)
        fertility = self.fertility(x, source_lengths)
        lengths = fertility.top_lengths(k=1).lengths[:, 0] if lengths is None else lengths
        copies = fertility.given(lengths).marginals.sum(-1)  # (B, n, L): F̃
        reordering = self.reordering(copies.mT @ x, lengths)
        alignment = copies @ reordering.marginals  # (B, n, L): F̃R̃
        translation = self.translation(x).softmax(-1)  # (B, n, V)
        return fertility.log_prob_length(lengths), lengths, alignment.mT @ translation


def batch(draw: random.Random, size: int, sizes: range) -> tuple[Tensor, ...]:
    """Sources (B, n), targets (B, L), and the lengths of both (B,)."""
    sources = ["".join(draw.choices(SYMBOLS, k=draw.choice(sizes))) for _ in range(size)]
    targets = ["".join(symbol * (1 + (symbol in VOWELS)) for symbol in reversed(text)) for text in sources]
    padded = (nn.utils.rnn.pad_sequence([ids(text) for text in side], True) for side in (sources, targets))
    return *padded, *(torch.tensor([len(text) for text in side]) for side in (sources, targets))


def ids(text: str) -> Tensor:
    """Numbers from 1 on; 0 is padding."""
    return torch.tensor([SYMBOLS.index(symbol) + 1 for symbol in text])


def main() -> None:
    """Train on short strings, then test on longer ones."""
    torch.manual_seed(0)
    draw, steps = random.Random(0), int(sys.argv[1]) if len(sys.argv) > 1 else 300
    model = Model()
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        source, target, source_lengths, lengths = batch(draw, 32, range(2, 6))
        length_log_probs, _, tokens = model(source, source_lengths, lengths)
        token_log_probs = tokens.gather(2, target[..., None])[..., 0].clamp_min(1e-10).log()
        loss = -(length_log_probs + (token_log_probs * (target > 0)).sum(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.3f}")

    model.eval()
    source, target, source_lengths, wanted = batch(draw, 200, range(8, 9))
    with torch.no_grad():
        _, lengths, tokens = model(source, source_lengths, None)
    output = tokens.argmax(-1)
    right = [
        bool(length == gold_length and row[:length].equal(gold[:length]))
        for row, gold, length, gold_length in zip(output, target, lengths, wanted, strict=True)
    ]
    print(f"{sum(right)} of {len(right)} longer strings are right")


if __name__ == "__main__":
    main()
