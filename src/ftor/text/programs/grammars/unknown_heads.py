"""Alternatives of a grammar over words whose heads or keys training lacks, so that no unit writes them."""

from collections import defaultdict
from collections.abc import Iterator

from ftor.grammar.reading import Part, Words
from ftor.text.programs.codec import Programs
from ftor.text.programs.grammars.phrases import Form, PhraseRules, shown

_OPENING = {"s-expression": ("(", 1), "calls": ("(", -1), "json": (":", -1)}
"""By notation, a mark and where the head or key stands beside it. `PhraseRules` looks at prefix order."""


def alternatives_without_units(rules: PhraseRules, programs: Programs) -> list[str]:
    """The alternatives, and the words of alternatives, that can only be heads or keys that training lacks."""
    if rules.notation.name not in _OPENING:
        return []
    heads = _Heads(rules, programs)
    found = []
    for name, forms in rules.alternatives.items():
        for form in forms:
            if name in heads.names and len(form) == 1 and isinstance(form[0], Words):
                new = tuple(word for word in form[0].words if word not in heads.known)
                found += [f"{name} -> {Words(new)}"] * bool(new)
            elif heads.lack(form):
                found.append(f"{name} -> {shown(form)}")
    return found


class _Heads:
    """The heads and keys of training, and the names of rules that derive only heads or keys."""

    def __init__(self, rules: PhraseRules, programs: Programs) -> None:
        self._rules = rules
        self._mark, self._side = _OPENING[rules.notation.name]
        self.known: defaultdict[str, set[str]] = defaultdict(set)
        """By head, the first arguments that are part of it. Empty text: none."""
        for symbol in programs.symbols:
            if symbol.kind == "key":
                self.known[symbol.text.split()[-1]].add("")
            elif symbol.kind in ("apply", "curried"):
                head, _, first = symbol.text.partition(" ")
                self.known[head].add(first)
        self.names = self._names()

    def lack(self, form: Form) -> bool:
        """Whether a form has a head that training lacks."""
        return any(self._lacks(*both) for both in self._of(form))

    def _lacks(self, head: Part, first: Part | None) -> bool:
        words = self._options(head)
        if words and self.known.keys().isdisjoint(words):
            return True
        firsts = self._options(first)
        needed = set[str]().union(*(self.known[word] for word in words if word in self.known))
        return bool(words and firsts) and "" not in needed and needed.isdisjoint(firsts)

    def _options(self, part: Part | None) -> tuple[str, ...]:
        """The words of a part. Empty if it may be something else."""
        if not isinstance(part, Words) or part.copy or self._rules.marks.intersection(part.words):
            return ()
        return part.words

    def _of(self, form: Form) -> Iterator[tuple[Part, Part | None]]:
        """Each head of a form, with what stands after it or, in calls, after its bracket."""
        for place, part in enumerate(form):
            head, first = place + self._side, place + max(1, self._side + 1)
            if self._rules.word(part) == self._mark and 0 <= head < len(form):
                yield form[head], form[first] if first < len(form) else None

    def _names(self) -> set[str]:
        forms = [form for forms in self._rules.alternatives.values() for form in forms]
        names = {head for form in forms for head, _ in self._of(form) if isinstance(head, str)}
        size = -1
        while size != (size := len(names)):
            names |= {
                form[0]
                for name in names
                for form in self._rules.alternatives[name]
                if len(form) == 1 and isinstance(form[0], str)
            }
        others = {
            part
            for form in forms
            for place, part in enumerate(form)
            if isinstance(part, str) and part not in (head for head, _ in self._of(form)) and len(form) > 1
        }
        return names - others
