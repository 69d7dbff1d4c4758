"""Names of the rules of inferred grammars, from heads and keys, not from one of many constants."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

Place = tuple[str, int]
"""A unit and the number of one of its slots."""
START_NAME = "Program"
_LETTERS = re.compile(r"[^\W\d_]+")


class RuleNames:
    """Names that are not taken yet. A name also takes those of the rules that belong to it."""

    def __init__(self) -> None:
        self._taken = {START_NAME}
        self._numbers: Counter[str] = Counter()

    def free(self, base: str) -> str:
        """A name, or the name with a number if it is taken."""
        name = base
        while not self._take(name):
            self._numbers[base] += 1
            name = f"{base}{self._numbers[base] + 1}"
        return name

    def _take(self, name: str) -> bool:
        names = {name, *(name + more for more in ("List", "ListRest", "Items", "Words", "WordsRest"))}
        if names & self._taken:
            return False
        self._taken |= names
        return True


def type_names(
    order: Sequence[Place],
    fillers: Mapping[Place, Counter[str]],
    places: Mapping[Place, Counter[Place]],
    titles: Mapping[str, str],
    labels: Mapping[Place, str],
    names: RuleNames,
) -> dict[Place, str]:
    """A name for each type: that of its most frequent head, or else of the head whose argument it is.

    Args:
        order: the types.
        fillers: the units of each type, with their counts.
        places: the slots of each type, with the counts of what fills them.
        titles: the heads of units. A constant has none.
        labels: the head that a slot belongs to, if its unit has one.
        names: gives free names.
    """
    found: dict[Place, str] = {}
    for place in order:
        ranked = _ranked(fillers[place])
        base = next((name for unit in ranked if (name := camel(titles.get(unit, "")))), "")
        base = base or next((name for unit in ranked if (name := _namespace(unit))), "")
        if base:
            found[place] = names.free(base)
    heads = set(found.values())
    for place in order:
        if place not in found:
            base = _label(place, fillers, places, labels) or ("Root" if place == order[0] else "Value")
            found[place] = names.free(f"{base}Value" if base in heads else base)
    return found


def _ranked(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda unit: (-counts[unit], unit))


def _label(
    place: Place,
    fillers: Mapping[Place, Counter[str]],
    places: Mapping[Place, Counter[Place]],
    labels: Mapping[Place, str],
) -> str:
    """The head whose argument a type is. Where its slots belong to brackets, that of the brackets."""
    waiting, seen = [place], {place}
    for kind in waiting:
        for slot, _ in sorted(places[kind].items(), key=lambda item: (-item[1], item[0])):
            if name := camel(labels.get(slot, "")):
                return name
            around = [other for other, units in fillers.items() if slot[0] in units and other not in seen]
            waiting += around
            seen |= set(around)
    return ""


def camel(head: str) -> str:
    """`call SW.filter` gives `Filter`, `"due date"` gives `DueDate`."""
    words = [word for word in head.split() if _LETTERS.search(word)]
    if any("." in word for word in words):
        words = [next(word for word in words if "." in word)]
    elif not head.startswith('"'):
        words = words[:1]
    parts = [part for word in words for part in _LETTERS.findall(word.strip(".").rsplit(".", 1)[-1])]
    return "".join(part[:1].upper() + part[1:] for part in parts)


def _namespace(constant: str) -> str:
    """`en.block.block1` gives `Block`. Nothing for a constant without a namespace."""
    spaces = constant.strip(".").split(".")
    return camel(spaces[-2]) if len(spaces) > 2 else ""
