"""Pieces of rules over words: what is left of them after a word, and which of them are one tree."""

from collections.abc import Iterator

from ftor.grammar.reading import Words
from ftor.text.programs.grammars.phrases import Form, PhraseRules, first_words, nullable_names


class Pieces:
    """The alternatives of rules, and of rules that are made for what is left after a word.

    Attributes:
        alternatives: by name.
        firsts: by name, the words that its strings may start with.
    """

    def __init__(self, rules: PhraseRules) -> None:
        self._rules = rules
        self.alternatives = dict(rules.alternatives)
        self.firsts = first_words(self.alternatives, rules.nullable)

    def after(self, form: Form, word: str) -> Iterator[Form]:
        """What is left of a form after its first word."""
        for place, part in enumerate(form):
            if isinstance(part, Words):
                if word in part.words:
                    yield form[place + 1 :]
                return
            if word in self.firsts[part]:
                rest = self._name_after(part, word)
                options = self.alternatives[rest]
                yield (*options[0], *form[place + 1 :]) if len(options) == 1 else (rest, *form[place + 1 :])
            if part not in self._rules.nullable:
                return

    def _name_after(self, name: str, word: str) -> str:
        """A rule for what is left of a name after its first word."""
        rest = f"{name}/{word}"
        if rest not in self.alternatives:
            self.alternatives[rest] = []
            forms = [left for form in self.alternatives[name] for left in self.after(form, word)]
            self.alternatives[rest] = list(dict.fromkeys(forms))
            self._rules.nullable = nullable_names(self.alternatives)
            self.firsts = first_words(self.alternatives, self._rules.nullable)
            self._rules.commas[rest] = self._rules.commas[name]
        return rest

    def is_empty(self, form: Form) -> bool:
        """Whether the empty string derives from a form."""
        return self._rules.nullable.issuperset(form)

    def explicit(self, form: Form) -> set[Form]:
        """The pieces of rules that are one tree and that a type derives: several parts, or one leaf."""
        found: set[Form] = set()
        seen, waiting = {form}, [form]
        while waiting:
            piece = waiting.pop()
            if len(piece) == 1 and isinstance(piece[0], str):
                new = {
                    alternative[start:end]
                    for alternative in self.alternatives[piece[0]]
                    for start in range(len(alternative))
                    for end in range(start + 1, len(alternative) + 1)
                    if self.is_empty(alternative[:start] + alternative[end:])
                    and (end == start + 1 or self._rules.is_whole(alternative[start:end]))
                }
            else:
                found.add(piece)
                new = {
                    (part,)
                    for place, part in enumerate(piece)
                    if len(piece) > 1 and self.is_empty(piece[:place] + piece[place + 1 :])
                }
            waiting += new - seen
            seen |= new
        return found
