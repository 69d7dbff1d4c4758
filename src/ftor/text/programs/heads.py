"""What the heads of programs take: an atom that belongs to the head, or any number of children."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from ftor.text.programs.parsing import Node, Program

LIST_ARITIES = 3
"""A head with so many different numbers of children is a list."""
WIDEST = 64
"""A head with more children is a list, even if it always has the same number of them."""
Head = tuple[str, str]
"""The kind and the text of a node."""


def curried_heads(programs: Iterable[Program]) -> set[str]:
    """Heads such as `call` in `( call f x y )`, whose first argument decides how many others there are.

    The first argument is always an atom that is never another argument of the head, and each such atom has
    one or two numbers of arguments where the head has several.
    """
    arities: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    uses: Counter[str] = Counter()
    excluded: set[str] = set()
    later: defaultdict[str, set[str]] = defaultdict(set)
    for program in programs:
        for (head, place), child in _arguments(program):
            if head.kind != "apply":
                continue
            if place and child.kind == "atom":
                later[head.text].add(child.text)
            elif not place and child.kind == "atom":
                arities[head.text][child.text].add(head.children)
                uses[head.text] += 1
            elif not place:
                excluded.add(head.text)
        excluded |= {node.text for node in program if node.kind == "apply" and not node.children}
    return {
        head
        for head, by_first in arities.items()
        if head not in excluded
        and " " not in head  # which separates the two in the text of the new head
        and not later[head] & by_first.keys()
        and len(set[int]().union(*by_first.values())) > 1
        and uses[head] >= 2 * len(by_first)
        and all(len(some) <= 2 for some in by_first.values())
    }


def _arguments(program: Program) -> Iterator[tuple[tuple[Node, int], Node]]:
    """Each node but the first with its parent and its place among the parent's children."""
    parents: list[tuple[Node, int]] = []
    for node in program:
        if parents:
            parent, place = parents[-1]
            yield (parent, place), node
            parents[-1] = parent, place + 1
        parents.append((node, 0))
        while parents and parents[-1][1] == parents[-1][0].children:
            parents.pop()


def uncurried(program: Program, curried: Collection[str]) -> Program:
    """A program in which curried heads and their first arguments are one node."""
    if not curried:
        return program
    result: Program = []
    taken = False
    for place, node in enumerate(program):
        if taken:
            taken = False
            continue
        if node.kind == "apply" and node.text in curried and node.children:
            first = program[place + 1]
            if first.kind == "atom":
                node = Node("curried", f"{node.text} {first.text}", node.children - 1)
                taken = True
        result.append(node)
    return result


def list_heads(programs: Iterable[Program]) -> tuple[set[Head], set[str]]:
    """Heads that take any number of children, and the texts of other heads with several numbers of them."""
    arities: defaultdict[Head, set[int]] = defaultdict(set)
    fillers: defaultdict[tuple[Head, int], set[Head]] = defaultdict(set)
    for program in programs:
        for node in program:
            arities[node.kind, node.text].add(node.children)
        for (parent, place), node in _arguments(program):
            fillers[(parent.kind, parent.text), place].add((node.kind, node.text))
    lists = {
        head
        for head, some in arities.items()
        if head[0] == "list"
        or (head[0] in ("apply", "curried") and (_varies(some) or _grows(head, some, fillers)))
    }
    kinds = Counter(text for _, text in arities)
    several = {
        text
        for (kind, text), some in arities.items()
        if kind in ("apply", "curried") and (kind, text) not in lists and (len(some) > 1 or kinds[text] > 1)
    }
    return lists, several


def _varies(arities: set[int]) -> bool:
    return len(arities) >= LIST_ARITIES or max(arities) > WIDEST


def _grows(head: Head, arities: set[int], fillers: Mapping[tuple[Head, int], set[Head]]) -> bool:
    """Whether a head takes n and n + 1 children, and the last two are alike.

    Where it takes one or two, most fillers must be alike. An operator such as `-` is then taken for a list,
    which only costs it a close.
    """
    most, least = max(arities), min(arities)
    if least < 1 or most == least or most - least != len(arities) - 1:
        return False
    last, before = (fillers.get((head, most - back), set()) for back in (1, 2))
    alike = last & before
    return bool(alike) if least > 1 else 2 * len(alike) > max(len(last), len(before))
