"""Geography queries in FunQL: an output is right if it has the gold's answer.

`facts` reads the facts, `world` arranges them, `program` reads queries and `execute` runs them.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from ftor.datasets.geo import facts
from ftor.datasets.geo.execute import execute
from ftor.datasets.geo.facts import Facts
from ftor.datasets.geo.program import read, read_as_released
from ftor.datasets.geo.world import world
from ftor.datasets.terms import ProgramError
from ftor.metrics import Judge

__all__ = ["answer", "execute", "judges", "read", "read_as_released", "same_answer", "world"]


def answer(tokens: Sequence[str], data_folder: Path | None = None, released: bool = False) -> tuple[str, ...]:
    """Execute a query: `answer("answer capital_1 stateid texas".split())` is `("cityid(austin,tx)",)`.

    Answers are sorted and without repeats. A query that cannot be read or takes too many steps raises a
    `ProgramError`; one that is readable but means nothing has the empty answer. With `released`, names
    lose their blanks first, as in the released research code. A `DataError` says where the facts were
    looked for if there are none.
    """
    found, problem = _answer(tuple(tokens), facts.find(data_folder), released)
    if problem:
        raise ProgramError(problem)
    return found


def same_answer(
    gold: Sequence[str], predicted: Sequence[str], data_folder: Path | None = None, released: bool = False
) -> bool:
    """Whether both queries have the same answer; one that cannot be read or run is only like itself.

    Args:
        gold, predicted: tokens.
        data_folder: where the facts are, if not in the usual folders.
        released: delete blanks within names, as the released code does.
    """
    if isinstance(gold, str) or isinstance(predicted, str):
        raise TypeError("gold, predicted: expected lists of tokens, found a string")
    if list(gold) == list(predicted):
        return True
    found = [_answer(tuple(tokens), facts.find(data_folder), released) for tokens in (gold, predicted)]
    return found[0] == found[1] and not found[0][1]


@lru_cache(maxsize=20_000)
def _answer(tokens: tuple[str, ...], known: Facts, released: bool) -> tuple[tuple[str, ...], str]:
    """The answer or what is wrong, kept for the golds that come back in every epoch."""
    try:
        query = (read_as_released if released else read)(tokens, known)
        return tuple(map(str, execute(query, world(known)))), ""
    except ProgramError as error:
        return (), str(error)


def judges(data_folder: Path | None) -> tuple[Judge, ...]:
    """Execution accuracy, with names as they are and as in the released research code; needs the facts."""
    facts.find(data_folder)
    same = partial(same_answer, data_folder=data_folder)
    return Judge("execution_accuracy", same), Judge(
        "execution_accuracy_released", partial(same, released=True)
    )
