"""Dates as people write them, to dates as programs write them."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

ENGLISH = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
GERMAN = (
    *("januar", "februar", "märz", "april", "mai", "juni"),
    *("juli", "august", "september", "oktober", "november", "dezember"),
)
FIRST, LAST = date(2010, 1, 1), date(2029, 12, 31)


def ordinal(day: int) -> str:
    """Write 1st, 2nd, 3rd, 4th, …"""
    ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def iso_dates(random: Random, hard: bool) -> tuple[str, str]:
    """`the 3rd of march 2021 and 5 / 4 / 21` to `2021 - 03 - 03 , 2021 - 04 - 05`."""

    def written(day: date) -> tuple[str, ...]:
        month = ENGLISH[day.month - 1]
        return (
            f"the {ordinal(day.day)} of {month} {day.year}",
            f"{month} {day.day} , {day.year}",
            f"{day.day} / {day.month} / {day.year % 100}",
        )

    pairs = _dated(random, hard, written, lambda day: day.strftime("%Y - %m - %d"))
    return _listed(random, pairs, "from {} to {}", " and ", "{} to {}", " , ")


def american_dates(random: Random, hard: bool) -> tuple[str, str]:
    """`am 3. märz 2021` and `2021 - 3 - 3` to `3/3/2021` in tokens, month first."""

    def written(day: date) -> tuple[str, ...]:
        month = GERMAN[day.month - 1]
        return (
            f"am {day.day}. {month} {day.year}",
            f"{month} {day.year} am {day.day}.",
            f"{day.year} - {day.month} - {day.day}",
        )

    pairs = _dated(random, hard, written, lambda day: f"{day.month} / {day.day} / {day.year}")
    return _listed(random, pairs, "{} bis {}", " und ", "{} .. {}", " & ")


def _dated(
    random: Random, hard: bool, written: Callable[[date], tuple[str, ...]], target: Callable[[date], str]
) -> list[tuple[str, str]]:
    """Dates in one of the forms in which they are written, with their targets."""
    dates = [_any_date(random) for _ in range(_number(random, hard))]
    return [(random.choice(written(day)), target(day)) for day in dates]


def _listed(
    random: Random, pairs: list[tuple[str, str]], span: str, link: str, target_span: str, target_link: str
) -> tuple[str, str]:
    """A list of dates. The first two are a span of time in half of the lists."""
    sources, targets = map(list, zip(*pairs, strict=True))
    if len(pairs) > 1 and random.random() < 0.5:
        sources[:2] = [span.format(*sources[:2])]
        targets[:2] = [target_span.format(*targets[:2])]
    return link.join(sources), target_link.join(targets)


def _any_date(random: Random) -> date:
    return FIRST + timedelta(random.randint(0, (LAST - FIRST).days))


def _number(random: Random, hard: bool) -> int:
    """How many dates: in training mostly one, in test up to three."""
    return random.choices((1, 2, 3), (3, 3, 4) if hard else (7, 3, 0))[0]
