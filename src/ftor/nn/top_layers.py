"""The last layers of a pretrained encoder, which are trained, over what its frozen layers compute."""

import torch
from torch import Tensor, nn

NO_POSITION = -1
"""The position of a piece that belongs to no word."""
PADDING = -2
"""The position of what is past the last piece of a sentence."""


class TopLayers(nn.Module):
    """Vectors of words from the states of their pieces: the mean over pieces and over all layers.

    Args:
        encoder: the last layers. From `inputs_embeds` (B, P, E) and `attention_mask` (B, P) it gives
            `hidden_states`: its input, and the states after each of its layers.
        below: number of states that the frozen layers have summed up.
    """

    def __init__(self, encoder: nn.Module, below: int) -> None:
        super().__init__()
        self.encoder, self._below = encoder, below

    def forward(self, pieces: Tensor, positions: Tensor, length: int) -> Tensor:
        """The vectors (B, n, E) of `length` n positions.

        A position without pieces, such as one that the encoder is too short for, has that of the first piece.

        Args:
            pieces: (B, P, 2·E), the states after the last frozen layer, then the sums of all states up to it.
            positions: (B, P), where the word of each piece is, `NO_POSITION` or `PADDING`.
            length: n.
        """
        states, sums = pieces.chunk(2, -1)
        mask = (positions != PADDING).long()
        layers = self.encoder(inputs_embeds=states, attention_mask=mask, output_hidden_states=True)
        above = torch.stack(layers.hidden_states[1:])
        means = (sums + above.sum(0)) / (self._below + len(above))
        belongs = positions[:, None, :] == torch.arange(length, device=positions.device)[:, None]
        weights = belongs.to(means.dtype)
        counts = weights.sum(-1, keepdim=True)
        return torch.where(counts > 0, weights @ means / counts.clamp(min=1), means[:, :1])
