"""Rules over the words of programs, checked so that each rule derives whole parts of programs."""

from collections.abc import Iterator, Mapping, Sequence

from ftor.grammar.reading import COPY, GrammarError, Part, Rule, Words, closure
from ftor.text.programs.notations import Notation
from ftor.text.programs.parsing import CLOSING

Form = tuple[Part, ...]
"""Parts in a row: a rule, or a piece of one."""
Commas = tuple[bool, bool, bool] | None
"""Of a string: whether it starts with a comma, ends with one, and has one, outside brackets. None: empty."""
NO_COMMA: Commas = (False, False, False)
BRACKETS = {"s-expression": "(", "calls": "([", "json": "[{", "prefix": ""}
QUOTES = "'\""


class PhraseRules:
    """The rules of a grammar over words, by name.

    In a program no rule may derive a piece of a tree and something outside of that tree. The brackets of each
    rule therefore match, and what a rule derives has its commas where the notation has them.

    Raises:
        GrammarError: if a rule derives such a piece; says which.
    """

    def __init__(self, rules: Sequence[Rule], notation: Notation, name: str) -> None:
        self.notation, self._name = notation, name
        self.start = rules[0].name
        self._quotes = "" if notation.name == "prefix" else QUOTES
        self.closing = {opening: CLOSING[opening] for opening in BRACKETS[notation.name]}
        self.closing |= {quote: quote for quote in self._quotes}
        self.marks = {*self.closing, *self.closing.values()}
        if notation.separator is not None:
            self.marks |= {","} | ({":"} if notation.name == "json" else set())
        self.left_out: list[str] = []
        """Alternatives that no program of the notation has."""
        self._lines: dict[str, int] = {}
        self.alternatives: dict[str, list[Form]] = {}
        for rule in rules:
            self._lines.setdefault(rule.name, rule.line)
            self.alternatives.setdefault(rule.name, []).append(self._with_quotes_apart(rule.parts))
        self.nullable = nullable_names(self.alternatives)
        self._check_brackets(rules)
        self.commas: dict[str, set[Commas]] = {name: set() for name in self.alternatives}
        self._trees: dict[str, int] = {}
        self._operators: dict[str, int] = {}
        if notation.name == "prefix":
            self._count_trees()
        elif notation.separator is not None:
            self._find_commas()

    def word(self, part: Part) -> str | None:
        """The one word of a part, if it is one."""
        return part.words[0] if isinstance(part, Words) and len(part.words) == 1 and not part.copy else None

    def is_atom(self, part: Part) -> bool:
        """Whether a part is a leaf of a tree."""
        if not isinstance(part, Words) or self.marks.intersection(part.words):
            return False
        return self.notation.name != "prefix" or self._arity(part) == 0

    def items(self, form: Form) -> list[Form] | None:
        """The parts outside brackets, and what is in brackets as one item. None if brackets do not match."""
        items: list[Form] = []
        open_marks: list[str] = []
        start = 0
        for place, part in enumerate(form):
            word = self.word(part)
            if open_marks and word == open_marks[-1]:
                open_marks.pop()
                if not open_marks:
                    items.append(form[start : place + 1])
            elif word in self.closing:
                start = start if open_marks else place
                open_marks.append(self.closing[word])
            elif word in self.closing.values():
                return None
            elif not open_marks:
                items.append((part,))
        return None if open_marks else items

    def is_whole(self, form: Form) -> bool:
        """Whether several parts can be one tree."""
        if self.notation.name == "prefix":
            return self._simulate(form) == 1
        items = self.items(form)
        if items is None:
            return False
        if self.notation.separator is None:
            return len(items) == 1
        return not any(self.may_have_comma(item) for item in items)

    def may_have_comma(self, item: Form) -> bool:
        """Whether an item is a comma or may derive one outside brackets."""
        part = item[0]
        if isinstance(part, str):
            return any(value is not None and value[2] for value in self.commas.get(part, ()))
        return self.word(part) == ","

    def _with_quotes_apart(self, parts: Form) -> Form:
        """`"rome"` as three parts, unless it is the key of an object."""
        apart: list[Part] = []
        for place, part in enumerate(parts):
            word = self.word(part)
            is_key = place + 1 < len(parts) and self.word(parts[place + 1]) == ":"
            if word is None or is_key or len(word) < 3 or word[0] not in self._quotes or word[0] != word[-1]:
                apart.append(part)
            else:
                apart += [Words((word[0],)), Words((word[1:-1],)), Words((word[0],))]
        return tuple(apart)

    def _error(self, name: str, problem: str) -> GrammarError:
        return GrammarError(
            f"{self._name}:{self._lines[name]}: rule {name!r}: {problem}; to be used with units, each rule "
            "has to derive whole parts of programs"
        )

    def _check_brackets(self, rules: Sequence[Rule]) -> None:
        for rule in rules:
            for form in self.alternatives[rule.name]:
                if self.items(form) is None:
                    raise self._error(rule.name, f"its brackets do not match: {shown(form)}")

    def _find_commas(self) -> None:
        size = -1
        while size != (size := sum(map(len, self.commas.values()))):
            for name, forms in self.alternatives.items():
                for form in forms:
                    self.commas[name] |= self._commas_of(form, name)
        if any(value is not None and value[2] for value in self.commas[self.start]):
            raise self._error(self.start, "its programs may have a comma outside brackets")

    def _commas_of(self, form: Form, name: str) -> set[Commas]:
        states: set[tuple[Commas, bool]] = {(None, False)}  # so far, and whether the last item has commas
        for item in self.items(form) or ():
            if isinstance(item[0], str):
                options = self.commas[item[0]]
            elif self.word(item[0]) == ",":
                options = {(True, True, True)}
            else:
                options = {NO_COMMA}
                if len(item) > 1 and self.word(item[0]) not in set(QUOTES):
                    for value in self._commas_of(item[1:-1], name):
                        if value is not None and (value[0] or value[1]):
                            raise self._error(name, "a comma may stand beside a bracket")
            states = {self._joined(state, option, name) for state in states for option in options}
        return {value for value, _ in states}

    def _joined(self, state: tuple[Commas, bool], value: Commas, name: str) -> tuple[Commas, bool]:
        before, last_has = state
        if value is None:
            return state
        if before is None:
            return value, value[2]
        if before[1] and value[0]:
            raise self._error(name, "two commas may follow each other")
        if not before[1] and not value[0] and (last_has or value[2]):
            raise self._error(name, "a part with commas stands beside another part without a comma between")
        return (before[0], value[1], before[2] or value[2]), value[2]

    def _count_trees(self) -> None:
        """In prefix order: how many trees each name derives, or the arity of the one symbol it derives.

        Words that training lacks have no arity. What needs one is left out.
        """
        unsure: set[str] = set()
        kept: set[tuple[str, Form]] = set()
        for with_unknown in (False, True):
            before = -1
            while before != (before := len(kept)):
                for name, form in _productions(self.alternatives):
                    sure = not unsure.intersection(form) and self.notation.arities.keys() >= set(
                        words_of(form)
                    )
                    ready = all(isinstance(part, Words) or self._is_known(part) for part in form)
                    if (name, form) in kept or not ready or not (sure or with_unknown):
                        continue
                    if not self._is_known(name) and not sure:
                        unsure.add(name)
                    if self._count(name, form):
                        kept.add((name, form))
                    elif sure and len(form) > 1 and self._simulate(form) is None and _has_names(form):
                        raise self._error(name, f"the tree does not end where the rule ends: {shown(form)}")
        for name, form in _productions(self.alternatives):
            if (name, form) not in kept:
                self.left_out.append(f"{name} -> {shown(form)}")
        self.alternatives = {
            name: [form for form in forms if (name, form) in kept]
            for name, forms in self.alternatives.items()
        }

    def _count(self, name: str, form: Form) -> bool:
        """Note what a name derives. False if this alternative derives something else than the others."""
        arity = self._arity(form[0]) if len(form) == 1 else None
        counts, other = (self._operators, self._trees) if arity else (self._trees, self._operators)
        count = arity or self._simulate(form)
        return count is not None and name not in other and counts.setdefault(name, count) == count

    def _is_known(self, name: str) -> bool:
        return name in self._trees or name in self._operators

    def _arity(self, part: Part) -> int | None:
        """The number of children of the one symbol that a part derives, if it is one."""
        if isinstance(part, str):
            return self._operators.get(part)
        arities = {self.notation.arities.get(word, 0) for word in part.words} | ({0} if part.copy else set())
        return arities.pop() if len(arities) == 1 else None

    def _simulate(self, form: Form) -> int | None:
        """How many whole trees parts in prefix order are, or None."""
        open_slots: list[int] = []
        trees = 0
        for part in form:
            arity, count = self._arity(part), 1
            if isinstance(part, str) and arity is None:
                arity, count = 0, self._trees.get(part, -1)
            if arity is None or count < 0 or (open_slots and open_slots[-1] < count):
                return None
            if open_slots:
                open_slots[-1] -= count
            else:
                trees += count
            if arity:
                open_slots.append(arity)
            while open_slots and not open_slots[-1]:
                open_slots.pop()
        return None if open_slots else trees


def words_of(form: Form) -> Iterator[str]:
    """The words of a form."""
    return (word for part in form if isinstance(part, Words) for word in part.words)


def _has_names(form: Form) -> bool:
    return any(isinstance(part, str) for part in form)


def shown(form: Form) -> str:
    """A form as text."""
    return " ".join(map(str, form)) or "()"


def _productions(alternatives: Mapping[str, Sequence[Form]]) -> list[tuple[str, Form]]:
    return [(name, form) for name, forms in alternatives.items() for form in forms]


def nullable_names(alternatives: Mapping[str, Sequence[Form]]) -> set[str]:
    """The names from which the empty string derives."""
    return closure(_productions(alternatives), set())


def first_words(alternatives: Mapping[str, Sequence[Form]], nullable: set[str]) -> dict[str, set[str]]:
    """By name, the words that its strings may start with. `@copy` stands for any word of the sentence."""
    firsts: dict[str, set[str]] = {name: set() for name in alternatives}
    size = -1
    while size != (size := sum(map(len, firsts.values()))):
        for name, forms in alternatives.items():
            for form in forms:
                for part in form:
                    if isinstance(part, Words):
                        firsts[name].update(part.words, {COPY} if part.copy else ())
                        break
                    firsts[name] |= firsts[part]
                    if part not in nullable:
                        break
    return firsts
