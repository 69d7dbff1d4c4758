"""The overnight domains: as published, and split by size, with larger programs in the test."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from battery.task import TEST, TRAIN, Pairs, words
from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.units import Tree
from ftor.text.reading import read_pairs, write_pairs

DOMAINS = ("blocks", "housing", "restaurants")
PUBLISHED, BY_SIZE = "overnight-", "overnight-size-"
NAMES: tuple[str, ...] = tuple(f"{prefix}{domain}" for prefix in (PUBLISHED, BY_SIZE) for domain in DOMAINS)
NODES = UnitSettings(share=2, child_share=2)
"""Nothing is joined."""
SHARE = 0.6
"""About this share of the pairs is for training."""


def size_split(pairs: Sequence[tuple[str, str]]) -> tuple[Pairs, Pairs, int]:
    """Split pairs by the number of nodes of their programs.

    Joined units would not do: a rare filter has more of them than a frequent one, and training would have no
    rare ones. Test pairs whose programs need a name that training lacks are left out. No source is in both
    parts.

    Returns:
        The training pairs, the test pairs, and the most nodes of a training program.
    """
    programs = Programs.learn([target for _, target in pairs], None, NODES)
    sizes = [len(programs.encode(target)) for _, target in pairs]
    most = _nearest(Counter(sizes), SHARE)
    train = [pair for pair, size in zip(pairs, sizes, strict=True) if size <= most]
    sources, known = {source for source, _ in train}, {word for _, target in train for word in words(target)}
    larger = [pair for pair, size in zip(pairs, sizes, strict=True) if size > most]
    test = [pair for pair in larger if pair[0] not in sources and known.issuperset(words(pair[1]))]
    return train, test, most


def _nearest(counts: Counter[int], share: float) -> int:
    """The size such that the share of sizes up to it is nearest to `share`."""
    total = counts.total()
    below = {most: sum(n for size, n in counts.items() if size <= most) for most in counts}
    return min(below, key=lambda most: abs(below[most] / total - share))


def within_reach(train: Pairs, test: Pairs) -> Pairs:
    """The test pairs whose programs have no parent and child that no training program has together."""
    programs = Programs.learn([target for _, target in [*train, *test]], None, NODES)
    known = {step for _, target in train for step in _steps(programs, programs.tree(target))}
    return [pair for pair in test if known.issuperset(_steps(programs, programs.tree(pair[1])))]


def _steps(programs: Programs, tree: Tree) -> Iterator[tuple[str, int, str]]:
    """Each parent and each of its children, with the child's place."""
    waiting = [tree]
    while waiting:
        parent = waiting.pop()
        children = [child for filler in parent.fillers for child in _children(filler)]
        for place, child in enumerate(children):
            yield _label(programs, parent), place, _label(programs, child)
        waiting += children


def _children(filler: Tree | tuple[Tree, ...]) -> tuple[Tree, ...]:
    return filler if isinstance(filler, tuple) else (filler,)


def _label(programs: Programs, tree: Tree) -> str:
    """The name of a node without its arity, and of its first child if that is a leaf: `string size`."""
    first = _children(tree.fillers[0])[:1] if tree.fillers else ()
    nodes = [tree, *(child for child in first if not child.fillers)]
    return " ".join(programs.name(node.unit).partition("/")[0] for node in nodes)


def write(name: str, data: Path, folder: Path) -> str:
    """Write train.tsv and test.tsv of a task. The files of its domain are in `data`. Return what was done."""
    domain = name.rpartition("-")[2]
    files = [data / f"{domain}.{part}.tsv" for part in ("train", "test")]
    if not all(file.is_file() for file in files):
        return f"skipped: no {files[0]}; set FTOR_DATA to the folder that has overnight/"
    train, test = ([(" ".join(pair.source), pair.target_text) for pair in read_pairs(file)] for file in files)
    said = f"{len(train)} training pairs, {len(test)} test pairs, as published"
    if name.startswith(BY_SIZE):
        train, test, most = size_split([*train, *test])
        said = (
            f"{len(train)} training pairs of at most {most} nodes, {len(test)} test pairs of more, "
            f"{len(within_reach(train, test))} of them without a parent and a child that training never has "
            "together"
        )
    write_pairs(train, folder / TRAIN)
    write_pairs(test, folder / TEST)
    return said
