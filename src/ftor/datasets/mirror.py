"""The mirror task, `a b c` → `a b c c b a`. Tests have longer inputs, or unseen combinations of symbols."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import NamedTuple

from ftor.datasets.published import RELEASED_DATA, PublishedDataset, sha256sums
from ftor.text.seeds import derived_seed

TextPair = tuple[str, str]
Generator = Callable[[int, Sequence[int], int], list[TextPair]]

ALPHABET = "abcdefghijk"
CLUSTER = "xyz"
CLUSTER_PROBABILITY = 0.2
DEFAULT_SEED = 42
"""Seed of the pairs that are generated for users who do not have the published files."""


def mirror(size: int, lengths: Sequence[int] = range(3, 10), seed: int = 0) -> list[TextPair]:
    """Generate `size` pairs. Lengths are uniform over `lengths`, symbols uniform over a–k."""
    return _mirrored(size, _strings(Random(seed), ALPHABET, lengths))


def mirror_xyz(size: int, lengths: Sequence[int] = range(3, 10), seed: int = 0) -> list[TextPair]:
    """Generate pairs like `mirror`, and insert `x y z` somewhere into a fifth of the sources.

    Only sources that do not become longer than the largest of `lengths` count.
    """
    random = Random(seed)

    def with_clusters() -> Iterator[str]:
        for string in _strings(random, ALPHABET, lengths):
            if len(string + CLUSTER) <= max(lengths) and random.random() < CLUSTER_PROBABILITY:
                place = random.randint(0, len(string))
                yield string[:place] + CLUSTER + string[place:]
            else:
                yield string

    return _mirrored(size, with_clusters())


def mirror_xyz_unseen(size: int, lengths: Sequence[int] = range(3, 10), seed: int = 0) -> list[TextPair]:
    """Generate pairs over a–k and x, y, z that contain x, y or z, but never `x y z`.

    Lengths and symbols are uniform before this selection, which keeps longer strings more often.
    """
    strings = _strings(Random(seed), ALPHABET + CLUSTER, lengths)
    return _mirrored(size, (s for s in strings if not set(CLUSTER).isdisjoint(s) and CLUSTER not in s))


def _strings(random: Random, alphabet: str, lengths: Sequence[int]) -> Iterator[str]:
    """Yield random strings forever."""
    if not lengths or min(lengths) < 1:
        raise ValueError(f"lengths: expected at least one, each 1 or more, found {list(lengths)}")
    while True:
        yield "".join(random.choices(alphabet, k=random.choice(lengths)))


def _mirrored(size: int, strings: Iterator[str]) -> list[TextPair]:
    return [(" ".join(string), " ".join(string + string[::-1])) for string in islice(strings, size)]


class Split(NamedTuple):
    """A published file: number of pairs, lengths of the sources, and the function that generates it."""

    size: int
    lengths: range
    draw: Generator


SHORT = range(3, 10)
SPLITS = {
    "mirror": {
        "train": Split(4000, SHORT, mirror),
        "dev": Split(200, range(10, 11), mirror),
        "dev_iid": Split(500, SHORT, mirror),
        "test": Split(1000, range(11, 21), mirror),
    },
    "mirror-xyz": {
        "train": Split(4000, SHORT, mirror_xyz),
        "dev": Split(200, SHORT, mirror_xyz),
        "test": Split(1000, SHORT, mirror_xyz_unseen),
    },
}


def generate(task: str, seed: int = 0) -> dict[str, list[TextPair]]:
    """Generate all splits of "mirror" or "mirror-xyz", with the sizes and lengths of the published ones."""
    if task not in SPLITS:
        raise ValueError(f"task: expected {' or '.join(SPLITS)}, found {task!r}")
    return {split: draw(task, split, seed) for split in SPLITS[task]}


def draw(
    task: str, split: str, seed: int, size: int | None = None, lengths: Sequence[int] | None = None
) -> list[TextPair]:
    """Generate one split. Each split of a seed has random numbers of its own.

    Args:
        task: "mirror" or "mirror-xyz".
        split: name of the split.
        seed: the same seed gives the same pairs.
        size: number of pairs. By default that of the published split.
        lengths: lengths of the sources. By default those of the published split.
    """
    published = SPLITS[task][split]
    own_seed = derived_seed(split, seed, bits=64)
    return published.draw(size or published.size, lengths or published.lengths, own_seed)


FILES = sha256sums("""
ca46475d76fc538aa4decdacaef676239aca42c459d5d9bfb46ee31513a29816  mirror/dev.tsv
ac3eca9814955a4d3bfb428358fa07aa97f18cbc45f58677602a56f002e20155  mirror/dev_iid.tsv
dc4ef03cba69c4444f071c5298477efa8bdda5ef7f2c6be62de24ab3b28c6216  mirror/test.tsv
ca59c7ab1789da2f01b5488a2288ce94f1ae1e226f363d64cdcfc2e180516b16  mirror/train.tsv
""")
XYZ_FILES = sha256sums("""
d451de167aa37cd695e5513f13e5f6d3247d9bcd3e2c99cb3cd503b5b17dce87  mirror_xyz/dev.tsv
3558d8d3de66963b72930a9fe92e47ad58ff8ed24a878158618dd09aba8c9e3f  mirror_xyz/test.tsv
9d907b67f130a0abadce9f3798b181388537b6ee41c7d854bde2ab83f7194281  mirror_xyz/train.tsv
""")
DATASETS = (
    PublishedDataset("mirror", FILES, (RELEASED_DATA,), generate=partial(generate, "mirror", DEFAULT_SEED)),
    PublishedDataset(
        "mirror-xyz", XYZ_FILES, (RELEASED_DATA,), generate=partial(generate, "mirror-xyz", DEFAULT_SEED)
    ),
)
