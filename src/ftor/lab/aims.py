"""What runs beyond the paper were to reach: the best published numbers, and our aims."""

from typing import NamedTuple

from ftor.lab.paper import WITH_GRAMMAR


class Aim(NamedTuple):
    """What an experiment beyond the paper is to reach.

    Attributes:
        column: the number that counts, a column of the paper's table.
        aim: what its mean over seeds is to reach.
        published: the best published number, if there is one.
        rounded: whether the published number is only known roughly.
    """

    column: str
    aim: float
    published: float | None = None
    rounded: bool = False


_STYLE = "BLEU-4"

AIMS = {
    "geo-iid": Aim(WITH_GRAMMAR, 92, 93.3),
    "geo-template": Aim(WITH_GRAMMAR, 89, 89.9),
    "geo-length": Aim(WITH_GRAMMAR, 80, 74.9),
    "atis-iid": Aim(WITH_GRAMMAR, 84, 87.0),
    "atis-length": Aim(WITH_GRAMMAR, 50, 41, rounded=True),
    "okapi-calendar": Aim(WITH_GRAMMAR, 82, 74, rounded=True),
    "okapi-document": Aim(WITH_GRAMMAR, 66, 58),
    "okapi-email": Aim(WITH_GRAMMAR, 68, 61),
    "style-passive": Aim(_STYLE, 78, 75.4),
    "style-adjective": Aim(_STYLE, 46),
    "style-verb": Aim(_STYLE, 36),
}
"""The aims by the name of the experiment that we ship. They were set before the runs."""
