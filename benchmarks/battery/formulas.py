"""Formulas between their operands to formulas in postfix or prefix order."""

from random import Random

Formula = str | tuple[str, "Formula", "Formula"] | tuple[str, "Formula"]

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
OPERANDS = ("a", "b", "c", "d", "x", "y", "1", "2", "3")
LOGICAL = {"or": 1, "and": 2, "not": 3}
FACTS = ("sunny", "windy", "cold", "late", "open", "paid", "full", "new")
SYMBOLS = {"or": "|", "and": "&", "not": "!"}


def postfix(random: Random, hard: bool) -> tuple[str, str]:
    """`a * ( b + 2 )` to `a b 2 + *`: two to five operands, in test six or seven."""
    formula = _binary(random, random.randint(6, 7) if hard else random.randint(2, 5))
    return infix(formula, PRECEDENCE), " ".join(_postfix(formula))


def prefix(random: Random, hard: bool) -> tuple[str, str]:
    """`not late and ( paid or new )` to `& ! late | paid new`: one to four facts, in test five or six."""
    formula = _logical(random, random.randint(5, 6) if hard else random.randint(1, 4))
    return infix(formula, LOGICAL), " ".join(_prefix(formula))


def infix(formula: Formula, precedence: dict[str, int]) -> str:
    """Write a formula with the brackets that it needs."""
    if isinstance(formula, str):
        return formula
    mine = precedence[formula[0]]
    if len(formula) == 2:
        return f"{formula[0]} {_bracketed(formula[1], mine, precedence)}"
    operator, left, right = formula
    # The right operand also needs brackets if it binds as strongly: a - ( b - c ).
    return f"{_bracketed(left, mine, precedence)} {operator} {_bracketed(right, mine + 1, precedence)}"


def _bracketed(formula: Formula, least: int, precedence: dict[str, int]) -> str:
    text = infix(formula, precedence)
    return text if isinstance(formula, str) or precedence[formula[0]] >= least else f"( {text} )"


def _binary(random: Random, operands: int) -> Formula:
    if operands == 1:
        return random.choice(OPERANDS)
    left = random.randint(1, operands - 1)
    return (random.choice("+-*/"), _binary(random, left), _binary(random, operands - left))


def _logical(random: Random, facts: int) -> Formula:
    if random.random() < 0.15:
        return ("not", _positive(random, facts))
    return _positive(random, facts)


def _positive(random: Random, facts: int) -> Formula:
    if facts == 1:
        return random.choice(FACTS)
    left = random.randint(1, facts - 1)
    return (random.choice(("and", "or")), _logical(random, left), _logical(random, facts - left))


def _postfix(formula: Formula) -> list[str]:
    if isinstance(formula, str):
        return [formula]
    return [*(word for part in formula[1:] for word in _postfix(part)), formula[0]]


def _prefix(formula: Formula) -> list[str]:
    if isinstance(formula, str):
        return [formula]
    return [SYMBOLS[formula[0]], *(word for part in formula[1:] for word in _prefix(part))]
