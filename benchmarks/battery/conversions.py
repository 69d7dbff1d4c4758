"""Questions about amounts to calls, with numbers that are copied."""

from random import Random

from battery.task import Sample, joined

UNITS = {
    **{"miles": "mile", "yards": "yard", "feet": "foot", "km": "km", "meters": "meter"},
    **{"pounds": "pound", "ounces": "ounce", "kilograms": "kg", "grams": "gram"},
}
LENGTHS, WEIGHTS = tuple(UNITS)[:5], tuple(UNITS)[5:]
MONEY = {"euros": "EUR", "dollars": "USD", "pounds": "GBP", "yen": "JPY", "francs": "CHF", "pesos": "MXN"}
TRAINED, UNSEEN = range(2, 300), range(300, 1000)


def conversions(random: Random, hard: bool) -> tuple[str, str]:
    """`convert 37 miles to km` to `convert ( 37 , mile , km )`; several make a list."""
    return _several(random, hard, _conversion, "all", ("and", "and then"))


def exchanges(random: Random, hard: bool) -> tuple[str, str]:
    """`i want euros for 50 yen` to `( swap JPY EUR 50 )`."""
    sources, targets = zip(*(_exchange(random, hard) for _ in range(_number(random, hard))), strict=True)
    source = " also ".join(sources)
    return source, targets[0] if len(targets) == 1 else f"( trades {' '.join(targets)} )"


def _number(random: Random, hard: bool) -> int:
    """How many questions: training shows that two and three are possible, test has up to four."""
    return random.choices((1, 2, 3, 4), (1, 2, 3, 4) if hard else (5, 3, 2, 0))[0]


def _several(random: Random, hard: bool, one: Sample, name: str, links: tuple[str, ...]) -> tuple[str, str]:
    pairs = [one(random, hard) for _ in range(_number(random, hard))]
    targets = [target for _, target in pairs]
    target = targets[0] if len(targets) == 1 else f"{name} ( {' , '.join(targets)} )"
    return joined(random, [source for source, _ in pairs], links), target


def _amount(random: Random, hard: bool) -> str:
    """A number; in test one that training does not have."""
    number = random.choice(UNSEEN if hard else TRAINED)
    return f"{number}.{random.choice('123456789')}" if random.random() < 0.2 else str(number)


def _conversion(random: Random, hard: bool) -> tuple[str, str]:
    old, new = random.sample(random.choice((LENGTHS, WEIGHTS)), 2)
    amount = _amount(random, hard)
    source = random.choice(
        (
            f"convert {amount} {old} to {new}",
            f"how many {new} are {amount} {old}",
            f"what is {amount} {old} in {new}",
            f"{amount} {old} in {new} please",
        )
    )
    return source, f"convert ( {amount} , {UNITS[old]} , {UNITS[new]} )"


def _exchange(random: Random, hard: bool) -> tuple[str, str]:
    old, new = random.sample(list(MONEY), 2)
    amount = _amount(random, hard)
    source = random.choice(
        (
            f"change {amount} {old} into {new}",
            f"i want {new} for {amount} {old}",
            f"what do i get in {new} for {amount} {old}",
        )
    )
    return source, f"( swap {MONEY[old]} {MONEY[new]} {amount} )"
