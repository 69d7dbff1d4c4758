"""Dates as people write them, to dates as programs write them."""

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
    dates = [_any_date(random) for _ in range(_number(random, hard))]
    sources, targets = [], []
    for day in dates:
        month = ENGLISH[day.month - 1]
        forms = (
            f"the {ordinal(day.day)} of {month} {day.year}",
            f"{month} {day.day} , {day.year}",
            f"{day.day} / {day.month} / {day.year % 100}",
        )
        sources.append(random.choice(forms))
        targets.append(day.strftime("%Y - %m - %d"))
    if len(dates) > 1 and random.random() < 0.5:
        begin, end, *more = sources
        return " and ".join([f"from {begin} to {end}", *more]), " , ".join(
            [" to ".join(targets[:2]), *targets[2:]]
        )
    return " and ".join(sources), " , ".join(targets)


def american_dates(random: Random, hard: bool) -> tuple[str, str]:
    """`am 3. märz 2021` and `2021 - 3 - 3` to `3/3/2021` in tokens, month first."""
    dates = [_any_date(random) for _ in range(_number(random, hard))]
    sources, targets = [], []
    for day in dates:
        month = GERMAN[day.month - 1]
        forms = (
            f"am {day.day}. {month} {day.year}",
            f"{month} {day.year} am {day.day}.",
            f"{day.year} - {day.month} - {day.day}",
        )
        sources.append(random.choice(forms))
        targets.append(f"{day.month} / {day.day} / {day.year}")
    if len(dates) > 1 and random.random() < 0.5:
        begin, end, *more = sources
        return " und ".join([f"{begin} bis {end}", *more]), " & ".join(
            [" .. ".join(targets[:2]), *targets[2:]]
        )
    return " und ".join(sources), " & ".join(targets)


def _any_date(random: Random) -> date:
    return FIRST + timedelta(random.randint(0, (LAST - FIRST).days))


def _number(random: Random, hard: bool) -> int:
    """How many dates: in training mostly one, in test up to three."""
    return random.choices((1, 2, 3), (3, 3, 4) if hard else (7, 3, 0))[0]
