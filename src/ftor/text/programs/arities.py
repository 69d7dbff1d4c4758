"""The number of arguments of each symbol of programs in prefix order without brackets: found, or given."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ftor.text.programs.lexing import ProgramError

LARGEST_ARITY = 4
TRIES = 20_000
FEW_TRIES = 500
"""Enough for programs, of which one guess usually settles many symbols."""


def solve_arities(programs: Sequence[Sequence[str]]) -> dict[str, int]:
    """The number of arguments of each symbol, such that each program is one tree in prefix order.

    Raises `ProgramError` if there is no such assignment or it is not found quickly. It names the first
    program, counted from 1, for which this is so together with those before it.
    """
    for line, tokens in enumerate(programs, 1):
        if not tokens:
            raise ProgramError(f"line {line}: the program is empty")
    arities = find_arities(programs)
    if arities is None:
        raise ProgramError(
            f"line {first_unsolved(programs) + 1}: no number of arguments for each symbol is found that "
            "makes it and every target before it one tree in prefix order"
        )
    return arities


def first_unsolved(programs: Sequence[Sequence[str]], solved: int = 0, tries: int = FEW_TRIES) -> int:
    """The place of the first program that has no arities together with those before it.

    Args:
        programs: there are no arities for all of them.
        solved: so many of the first ones have arities.
        tries: as of `find_arities`.
    """
    step, unsolved = 1, len(programs)
    while solved + step < unsolved:  # short beginnings take little time
        if find_arities(programs[: solved + step], tries) is None:
            unsolved = solved + step
        else:
            solved, step = solved + step, 2 * step
    while unsolved - solved > 1:
        middle = (solved + unsolved) // 2
        if find_arities(programs[:middle], tries) is None:
            unsolved = middle
        else:
            solved = middle
    return unsolved - 1


def find_arities(programs: Sequence[Sequence[str]], tries: int = TRIES) -> dict[str, int] | None:
    """The arities of `solve_arities`, or None if they are not found in so many tries."""
    bags = list(dict.fromkeys(tuple(sorted(Counter(tokens).items())) for tokens in programs))
    rows = [dict(bag) for bag in bags]
    arities = {tokens[-1]: 0 for tokens in programs}

    def settle(known: dict[str, int]) -> dict[str, int] | None:
        """Derive what each row says about its last unknown symbol. None if two rows disagree."""
        waiting, progress = rows, True
        while progress:
            progress, left = False, []
            for row in waiting:
                unknown = [symbol for symbol in row if symbol not in known]
                if len(unknown) > 1:
                    left.append(row)
                    continue
                needed = sum(row.values()) - 1 - sum(n * known[s] for s, n in row.items() if s in known)
                if not unknown:
                    if needed:
                        return None
                    continue
                arity, rest = divmod(needed, row[unknown[0]])
                if rest or not 0 <= arity <= LARGEST_ARITY:
                    return None
                known[unknown[0]] = arity
                progress = True
            waiting = left
        return known

    stack = [dict(arities)]
    frequent = [symbol for symbol, _ in Counter(s for row in rows for s in row).most_common()]
    for _ in range(tries):
        if not stack:
            break
        settled = settle(stack.pop())
        if settled is None:
            continue
        unknown = next((symbol for symbol in frequent if symbol not in settled), None)
        if unknown is None:
            if all(is_one_tree(tokens, settled) for tokens in programs):
                return settled
            continue
        stack += [settled | {unknown: arity} for arity in (3, 2, 0, 1)]
    return None


def check_arities(arities: Mapping[str, int], notation: str) -> None:
    """Raise `ProgramError` if given numbers of arguments are no numbers, or the notation has none."""
    if notation != "prefix":
        raise ProgramError(f"arities: only prefix order has them, found {notation!r}")
    for symbol, arity in arities.items():
        if not isinstance(arity, int) or arity < 0:
            raise ProgramError(f"arities: expected 0 or more arguments of {symbol!r}, found {arity!r}")


def with_leaves(arities: Mapping[str, int], programs: Sequence[Sequence[str]]) -> dict[str, int]:
    """Given numbers of arguments, and 0 for all other symbols.

    Raises `ProgramError` if a program is not one tree. It names the line, from 1, and the other symbols.
    """
    known = dict.fromkeys((symbol for program in programs for symbol in program), 0) | dict(arities)
    for line, program in enumerate(programs, 1):
        if not is_one_tree(program, known):
            missing = ", ".join(repr(symbol) for symbol in dict.fromkeys(program) if symbol not in arities)
            raise ProgramError(
                f"line {line}: not one tree in prefix order; without a number of arguments, and taken for "
                f"leaves: {missing or 'none'}"
            )
    return known


def is_one_tree(tokens: Sequence[str], arities: Mapping[str, int]) -> bool:
    """Whether tokens are one program. A symbol without a known number of arguments takes none."""
    slots = 1
    for token in tokens:
        if slots < 1:
            return False
        slots += arities.get(token, 0) - 1
    return slots == 0
