"""COGS: sentences to logical forms. The generalization set has what training lacks, in 21 categories."""

import re
from collections.abc import Sequence
from pathlib import Path

from ftor.datasets.published import Download, PublishedDataset, sha256sums
from ftor.files import write_text
from ftor.metrics import Grouping, Judge
from ftor.text.reading import DataError

HOME = "https://raw.githubusercontent.com/najoungkim/COGS/165a7b669eade971fa47bf568a2e51925360fed8/data"
STRUCTURAL = ("cp_recursion", "pp_recursion", "obj_pp_to_subj_pp")
"""The categories of the generalization set with unseen structures. The others have unseen uses of a word."""
CATEGORIES = "gen"
"""The file whose pairs are also written into files by category."""

_VARIABLE = re.compile(r"x _ (\d+)")


def conjuncts(tokens: Sequence[str]) -> list[str]:
    """The conjuncts of a logical form, definite nouns first, in the order of their text."""
    *definite, rest = " ".join(tokens).split(" ; ")
    return sorted(definite) + sorted(rest.split(" AND "))


def same_conjuncts(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether two logical forms have the same conjuncts. Their order does not count."""
    return list(gold) == list(predicted) or conjuncts(gold) == conjuncts(predicted)


def depth(gold: Sequence[str]) -> int:
    """The largest number of clauses (`ccomp`) or of prepositional phrases (`nmod`) inside each other."""
    return max(_chain(gold, "ccomp"), _chain(gold, "nmod"))


def _chain(gold: Sequence[str], role: str) -> int:
    """The longest chain of conjuncts with a role, each about what the one before it is about."""
    found = re.findall(rf"\. {role}(?: \. \w+)? \( x _ (\d+) , x _ (\d+) \)", " ".join(gold))
    lengths: dict[int, int] = {}
    for outer, inner in sorted(((int(one), int(other)) for one, other in found), reverse=True):
        lengths[outer] = max(lengths.get(outer, 0), 1 + lengths.get(inner, 0))  # inner ones come later
    return max(lengths.values(), default=0)


def named_words(source: Sequence[str], target: Sequence[str]) -> list[int]:
    """The positions of the words that the parts of a logical form name, from the left.

    A part is the first argument of a conjunct, a second argument, or a preposition. A primitive is one word.
    """
    if len(source) == 1:
        return [0]
    positions = list[int]()
    for conjunct in re.split(r" ; | AND ", " ".join(target)):
        head, _, arguments = conjunct.partition(" ( ")
        names = [argument.removesuffix(" )") for argument in arguments.split(" , ")]
        words = [
            int(found[1]) if (found := _VARIABLE.fullmatch(name)) else source.index(name) for name in names
        ]
        parts = head.split(" . ")
        if len(parts) == 3:  # noun . nmod . preposition, which is the word after the noun
            words.insert(1, words[0] + 1)
        positions += words
    return positions


def convert(path: Path) -> None:
    """Remove the third column, the category. The generalization set is also written by category."""
    by_category: dict[str, list[str]] = {}
    pairs = list[str]()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) == 2 and not by_category:
            return  # pairs already
        if len(columns) != 3:
            raise DataError(
                f"{path}:{number}: expected sentence, logical form and category, found {line[:60]!r}"
            )
        pairs.append("\t".join(columns[:2]) + "\n")
        by_category.setdefault(columns[2].strip(), []).append(pairs[-1])
    write_text(path, "".join(pairs))
    if path.stem == CATEGORIES:
        folder = path.with_suffix("")
        folder.mkdir(exist_ok=True)
        for category, lines in by_category.items():
            write_text(folder / f"{re.sub(r'[^a-z_]', '', category)}.tsv", "".join(lines))


FILES = sha256sums("""
90b2a7393b36aa548aee75c5e6c6f667e392be0a3fd28ecc0c1c168c428efd10  cogs/train.tsv
c76b3a12ae567dbe65e90dfca1b5ef5afe43b5cceb3d305e1c6737d178a9ca48  cogs/dev.tsv
eca6c61c5b120acd1df23859ce0ca48de2cf54e44657022b3445965db5a4190d  cogs/test.tsv
""")
NAMES = ("train", "dev", "test", "gen")
DATASETS = (
    PublishedDataset(
        "cogs",
        {**FILES, "cogs/gen.tsv": None},
        tuple(Download(f"{HOME}/{name}.tsv") for name in NAMES),
        other_names={f"COGS*/data/{name}.tsv": f"cogs/{name}.tsv" for name in NAMES},
        convert=convert,
        judges=lambda data_folder: (Judge("conjunct_accuracy", same_conjuncts),),
        groupings=(Grouping("depth", lambda source, gold: depth(gold)),),
    ),
)
