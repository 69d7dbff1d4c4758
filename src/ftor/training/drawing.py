"""The pairs and batches of each epoch: all of the user's pairs, and recombined ones drawn for the epoch."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ftor.config.sections import TrainingConfig
from ftor.text.batches import bucketed
from ftor.text.seeds import derived_seed

DRAWS = 1
"""Tells the draws of an epoch from its batches, whose seeds are else the same."""


@dataclass(frozen=True)
class Draws:
    """The pairs of each epoch. They depend on the seed and the epoch alone, so a resumed run has the same.

    Attributes:
        own: how many training pairs are the user's. They come first.
        made: how many more were made of their parts.
        settings: how many of these each epoch has, and in how many epochs.
    """

    own: int
    made: int
    settings: TrainingConfig

    def count(self, epoch: int) -> int:
        """How many pairs an epoch has."""
        last = self.settings.recombine_epochs
        if last is not None and epoch >= last:
            return self.own
        return self.own + min(self.made, round(self.settings.recombine * self.own))

    def total(self, epochs: int) -> int:
        """How many pairs the first epochs have together."""
        return sum(map(self.count, range(epochs)))

    def rows(self, epoch: int) -> Tensor:
        """The numbers of the pairs of an epoch."""
        made = self.count(epoch) - self.own
        if made == self.made:
            return torch.arange(self.own + made)
        generator = torch.Generator().manual_seed(derived_seed((self.settings.seed, epoch, DRAWS)))
        drawn = torch.randperm(self.made, generator=generator)[:made]
        return torch.cat([torch.arange(self.own), self.own + drawn])

    def batches(self, epoch: int, lengths: Tensor) -> list[Tensor]:
        """The numbers of the pairs in each batch of an epoch, from the `lengths` (N,) of all pairs."""
        settings, rows = self.settings, self.rows(epoch)
        generator = torch.Generator().manual_seed(derived_seed((settings.seed, epoch)))
        places = bucketed(lengths[rows], settings.batch_size, settings.bucket_noise, generator)
        return [rows[some] for some in places]
