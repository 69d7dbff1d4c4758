"""Okapi: API queries that are sets of clauses. The order of clauses and letter case do not count."""

import re
from collections.abc import Sequence

from ftor.datasets.published import RELEASED_DATA, PublishedDataset, sha256sums
from ftor.metrics import Grouping, Judge

KEYWORDS = ("GET", "FILTER", "ORDERBY", "COUNT", "SEARCH", "TOP")

_KEYWORD = re.compile("|".join(KEYWORDS))


def clauses(tokens: Sequence[str]) -> frozenset[tuple[str, str]] | None:
    """The keyword and the rest of each clause, in lower case. None if no keyword begins the query.

    A keyword counts wherever it occurs, also inside a word, as in the published figures.
    """
    text = " ".join(tokens).strip()
    starts = list(_KEYWORD.finditer(text))
    if not starts or starts[0].start() > 0:
        return None
    ends = [following.start() for following in starts[1:]] + [len(text)]
    return frozenset(
        (start[0].lower(), text[start.end() : end].strip().lower())
        for start, end in zip(starts, ends, strict=True)
    )


def same_clauses(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether two queries have the same clauses. Order and repetition do not count."""
    expected = clauses(gold)
    return list(gold) == list(predicted) or (expected is not None and expected == clauses(predicted))


def parameters(gold: Sequence[str]) -> int:
    """The number of different clauses, including GET."""
    return len(clauses(gold) or ())


FILES = sha256sums("""
314c8559b9554a00dbc5b79a1c5e2a71b7326cb2f6e192ec697bff5d0a052103  okapi_length2/calendar/dev.tsv
0b0791d86fb7ade4b4eecfd5499457a616bf98fcfae3c2c03aa4fe2653bd6821  okapi_length2/calendar/test.tsv
bbc63687de6fee83e2be42749b0d9b88d3e9590234a74e20223b0dcc691e9ec1  okapi_length2/calendar/train.tsv
ffb2b82e2cb08b6cb752119c083617c69e85214f7639cc5ce586e11fb42bb78a  okapi_length2/document/dev.tsv
992e802f37f7fe1f5fa2d03ebc1eea6ca1e31d62c4056c2844244cd5eda95d55  okapi_length2/document/test.tsv
3fe5f2e6d73f06bf39b13ee6af47c57722fbe8c8f3fbd18442a6dde497651582  okapi_length2/document/train.tsv
6ae18fc4801260a81a3856a21925959248a05ec8a654443e463debec736b6dcd  okapi_length2/email/dev.tsv
dfeed62ef6d070af072b142d9bb867789e33f2568477cbc8350b00752b4f2b2b  okapi_length2/email/test.tsv
8fc6cf4290002740458d43efc8b5a93f25a590c722f20142262cd9674d4c3f30  okapi_length2/email/train.tsv
""")
DATASETS = (
    PublishedDataset(
        "okapi",
        FILES,
        (RELEASED_DATA,),
        judges=lambda data_folder: (Judge("clause_accuracy", same_clauses),),
        groupings=(Grouping("parameters", lambda source, gold: parameters(gold)),),
    ),
)
