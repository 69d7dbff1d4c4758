"""Names in quotes that come from the sentences: programs of other sentences have other names."""

from collections.abc import Sequence

from ftor.text.programs import ProgramError, Programs
from ftor.text.reading import Pair

LEAST_NAMES = 8
"""So many different names must stand in quotes."""
FROM_SENTENCES = 0.95
"""At least this share of the names in quotes stands in its sentence, word for word."""


def names_from_sentences(pairs: Sequence[Pair], programs: Programs) -> list[str]:
    """The names in quotes, if nearly all stand in their sentences. In JSON quotes are no sign of a name."""
    if programs.short_names:
        return []
    found, said = list[str](), 0
    for pair in pairs:
        try:
            program = programs.notation.read(pair.target_text)
        except ProgramError:
            continue
        sentence = f" {' '.join(pair.source)} "
        for place, node in enumerate(program, 1):
            if node.kind == "quoted" and node.children:
                name = " ".join(word.text for word in program[place : place + node.children])
                found.append(name)
                said += f" {name} " in sentence
    different = list(dict.fromkeys(found))
    return different if len(different) >= LEAST_NAMES and said >= FROM_SENTENCES * len(found) else []
