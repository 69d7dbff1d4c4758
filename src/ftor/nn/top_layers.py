"""The last layers of a pretrained encoder, which are trained, over what its frozen layers compute."""

import torch
from torch import Tensor, nn

from ftor.errors import FtorError

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


class _GivenStates(nn.Module):
    """Stands for the embeddings of an encoder, whose layers then read given states."""

    def forward(self, *inputs: object, **named: object) -> Tensor:
        """The states, wherever the encoder gives them: DistilBERT does not name its arguments."""
        given = (*inputs, named.get("inputs_embeds"))
        (states,) = (one for one in given if isinstance(one, Tensor) and one.is_floating_point())
        return states


def cut(encoder: nn.Module, frozen: int, layers: int) -> None:
    """Leave an encoder only the layers after the frozen ones. It then reads states, not ids."""
    stacks = [
        (parent, name, child)
        for parent in encoder.modules()
        for name, child in parent.named_children()
        if isinstance(child, nn.ModuleList) and len(child) == layers
    ]
    if len(stacks) != 1 or not isinstance(getattr(encoder, "embeddings", None), nn.Module):
        raise no_stack(encoder)
    parent, name, stack = stacks[0]
    setattr(parent, name, nn.ModuleList(list(stack)[frozen:]))
    encoder.embeddings = _GivenStates()
    if hasattr(encoder, "embeddings_project"):  # of ELECTRA, if its embeddings are smaller than its states
        encoder.embeddings_project = nn.Identity()
    if getattr(encoder, "pooler", None) is not None:
        encoder.register_module("pooler", None)
    for parameter in encoder.parameters():  # such as biases of positions, which frozen layers share
        parameter.requires_grad_(False)
    for parameter in getattr(parent, name).parameters():
        parameter.requires_grad_(True)


def no_stack(encoder: nn.Module) -> FtorError:
    """What to raise for an encoder whose last layers cannot be trained alone."""
    return FtorError(f"model.reader_layers: {type(encoder).__name__} is not a stack of layers")
