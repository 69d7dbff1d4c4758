"""GeoQuery: geography queries in FunQL. An output is right if its answer is that of the gold.

`facts` reads the facts, `world` indexes them, `program` reads queries and `execute` executes them.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from ftor.datasets.geo import facts
from ftor.datasets.geo.execute import execute
from ftor.datasets.geo.facts import Facts
from ftor.datasets.geo.program import read, read_as_released
from ftor.datasets.geo.world import world
from ftor.datasets.published import RELEASE, RELEASED_DATA, Download, PublishedDataset, sha256sums
from ftor.datasets.terms import QueryError
from ftor.metrics import Judge

__all__ = ["answer", "execute", "judges", "read", "read_as_released", "same_answer", "world"]


def answer(tokens: Sequence[str], data_folder: Path | None = None, released: bool = False) -> tuple[str, ...]:
    """Execute a query: `answer("answer capital_1 stateid texas".split())` is `("cityid(austin,tx)",)`.

    Answers are sorted, without duplicates. A query that can be read but is undefined has an empty answer.

    Args:
        tokens: the query.
        data_folder: folder of the facts, if the user named one.
        released: whether spaces within names are deleted, as in the released research code.

    Raises:
        QueryError: if the query cannot be read or takes too many steps.
        DataError: if the facts are not found.
    """
    answers, problem = _answer(tuple(tokens), facts.find(data_folder), released)
    if problem:
        raise QueryError(problem)
    return answers


def same_answer(
    gold: Sequence[str], predicted: Sequence[str], data_folder: Path | None = None, released: bool = False
) -> bool:
    """Whether two queries have the same answer. A query that cannot be executed equals only itself.

    Args:
        gold, predicted: tokens.
        data_folder: folder of the facts, if the user named one.
        released: whether spaces within names are deleted, as in the released research code.
    """
    if isinstance(gold, str) or isinstance(predicted, str):
        raise TypeError("gold, predicted: expected lists of tokens, found a string")
    if list(gold) == list(predicted):
        return True
    known = facts.find(data_folder)
    expected, problem = _answer(tuple(gold), known, released)
    return not problem and (expected, problem) == _answer(tuple(predicted), known, released)


@lru_cache(maxsize=20_000)
def _answer(tokens: tuple[str, ...], known: Facts, released: bool) -> tuple[tuple[str, ...], str]:
    """The answer, and what is wrong with the query. Cached, because golds return in every epoch."""
    try:
        query = (read_as_released if released else read)(tokens, known)
        return tuple(map(str, execute(query, world(known)))), ""
    except QueryError as error:
        return (), str(error)


def judges(data_folder: Path | None) -> tuple[Judge, ...]:
    """Execution accuracy, with names as they are and as in the released research code. Needs the facts."""
    facts.find(data_folder)
    same = partial(same_answer, data_folder=data_folder)
    return Judge("execution_accuracy", same), Judge(
        "execution_accuracy_released", partial(same, released=True)
    )


FILES = sha256sums("""
1537d80d6130d6ca37833d89f9bc34e395933c4133e91e7a14484ac927fe34f3  geo/iid_dev.tsv
73be7e3804cbc30518332cb84c12d0f221c5160ff574754b1910a116f492f55a  geo/iid_test.tsv
ba74307d78e09b96bb5ac0749706061d111ef9e15443297ffca191c370a46028  geo/iid_train.tsv
15c4c79679b623f1e519fa3e633b77754fd8a4b40305ec2e6617e4b5ebf22a57  geo/len_dev.tsv
f3f48f690b63d7095c75caecbe55f57b762e105e3c3b35e8675a82586776d546  geo/len_test.tsv
70489a095f8230f5c01ea9411ddcde7e91114b163690afdb03795753dc23fd42  geo/len_train.tsv
6e4d966bfcf27c252399da03661a01ba74bb89a04c38607bced795ad1a53b1a7  geo/template_dev.tsv
ab03364119166798362d0982de7742859f42b61613306ff93c4e184464534056  geo/template_test.tsv
75f719608c62f1b267d3727b0cd076c20e20d06210585b102e667da05626a970  geo/template_train.tsv
""")
DATASETS = (
    PublishedDataset("geo", FILES, (RELEASED_DATA,), judges=judges, judged_with=(facts.FILE,)),
    PublishedDataset(
        "geobase",
        {facts.FILE: "f3088e645e5ce1ed83e71dcf46ca4031a3c0247cd35bcac40061acd9ff71b75f"},
        # The executor of the release reads the facts from a file beside it, not from the archive.
        (Download(f"{RELEASE}/fertility/eval/geo_eval/geobase.pl"),),
        other_names={"geobase": facts.FILE, "geobase.pl": facts.FILE},
        check=facts.read,
    ),
)
