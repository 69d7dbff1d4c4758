"""A task of the battery: a seeded generator of pairs, split into training and harder test pairs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ftor.files import write_json
from ftor.text.reading import write_pairs

TRAIN, TEST, GRAMMAR, DESCRIPTION = "train.tsv", "test.tsv", "grammar.cfg", "task.json"
"""The files of a task's folder."""
TRIES = 400
"""Samples per wanted pair. A generator that needs more cannot make enough different pairs."""

Pairs = list[tuple[str, str]]
Sample = Callable[[Random, bool], tuple[str, str]]
"""Makes a source and its target. The flag asks for a test pair: longer, or with more parts."""


def words(text: str) -> list[str]:
    """Split a text into words, numbers and signs, also where no space stands between them."""
    return re.findall(r"\w+(?:\.\w+)*|[^\w\s]", text)


def never(_: str) -> bool:
    """No word is copied."""
    return False


@dataclass(frozen=True)
class Task:
    """One kind of small task in one variant.

    Attributes:
        name: of the kind; the same in both variants.
        variant: "a", or "b" with other words and another grammar.
        sample: makes one pair.
        train: number of training pairs.
        test: number of test pairs.
        copied: whether a word may be new in test pairs, because it is copied.
        grammar: the text of the user's grammar of targets, if the task has one.
        separable: whether fertility and a separable reordering can make the targets.
    """

    name: str
    variant: str
    sample: Sample
    train: int
    test: int = 150
    copied: Callable[[str], bool] = never
    grammar: str | None = None
    separable: bool = True

    def split(self, seed: int) -> tuple[Pairs, Pairs]:
        """Make the training and the test pairs. The same seed gives the same pairs.

        No source occurs twice, and test pairs have only words that training has, apart from copied words.
        """
        random = Random(f"{self.sample.__qualname__} {self.variant} {seed}")
        train: dict[str, str] = {}
        for _ in range(TRIES * self.train):
            if len(train) == self.train:
                break
            source, target = self.sample(random, False)
            train.setdefault(source, target)
        sources = {word for source in train for word in words(source)}
        targets = {word for target in train.values() for word in words(target)}
        test: dict[str, str] = {}
        for _ in range(TRIES * self.test):
            if len(test) == self.test:
                break
            source, target = self.sample(random, True)
            if source not in train and self._known(source, sources) and self._known(target, targets):
                test[source] = target
        if len(train) < self.train or len(test) < self.test:
            raise ValueError(f"{self.name} {self.variant}: only {len(train)} and {len(test)} pairs")
        return list(train.items()), list(test.items())

    def _known(self, text: str, known: set[str]) -> bool:
        return all(word in known or self.copied(word) for word in words(text))

    def write(self, folder: Path, seed: int) -> None:
        """Write the files of the task's folder; the grammar only if there is one."""
        train, test = self.split(seed)
        write_pairs(train, folder / TRAIN)
        write_pairs(test, folder / TEST)
        if self.grammar is not None:
            (folder / GRAMMAR).write_text(self.grammar, "utf-8")
        write_json(folder / DESCRIPTION, {"variant": self.variant, "seed": seed})


def joined(random: Random, parts: list[str], words: tuple[str, ...]) -> str:
    """Join texts by one of `words` each."""
    text = parts[0]
    for part in parts[1:]:
        text += f" {random.choice(words)} {part}"
    return text
