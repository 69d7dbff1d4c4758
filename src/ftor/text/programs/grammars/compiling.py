"""Compiles a grammar over the words of a notation into a grammar over units, by parsing what units write.

A *type* is a piece of a rule that can be one tree, such as `'(' 'not' Test ')'`, or the name of a rule. Each
single node is parsed by each type: the pieces of rules that cover its slots are the types of its children.
Units are matched with the nodes that they consist of. The children of a list are a *row*: a piece of a rule
whose names derive any number of trees.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ftor.grammar import Grammar, GrammarError
from ftor.grammar.reading import COPY, Part, Words, closure
from ftor.grammar.writing import quoted
from ftor.text.programs.codec import CLOSE_NAME, Programs
from ftor.text.programs.grammars.phrases import Form, PhraseRules, words_of
from ftor.text.programs.grammars.pieces import Pieces
from ftor.text.programs.grammars.unknown_heads import alternatives_without_units
from ftor.text.programs.parsing import CLOSING, NAME_KINDS
from ftor.text.programs.units import ANY, Symbol, Unit, unit_of

Pattern = tuple[str | int, ...]
"""The words that a node writes, with numbers where its children stand."""
Types = tuple[Form, ...]
ANY_WORD = Words((), copy=True)
LEFT_OUT = "# Left out, because training has no such programs: "


@dataclass(frozen=True)
class Row:
    """What the children of a list derive from, and whether they are the words of a name."""

    form: Form
    name: bool


Body = list["str | Words | Form | Row"]
"""One alternative over units: names of units, `ANY_WORD`, types and rows."""


def compiled(grammar: Grammar, programs: Programs) -> Grammar:
    """The grammar of the same programs in units. A grammar that already derives units is given back.

    Heads that training lacks have no units, so programs with such heads are left out. Comments name the
    alternatives: see `left_out`.

    Raises:
        GrammarError: if a rule derives no whole parts of programs, or if nothing can be written in units.
    """
    if _derives_units(grammar, programs):
        return grammar
    if programs.notation.dialect.between is not None:
        raise GrammarError(
            f"{grammar.name}: targets have several programs in a line; then a grammar must be over units, "
            "like grammar.cfg in the model folder"
        )
    rules = PhraseRules(grammar.rules, programs.notation, grammar.name)
    text = _Compiler(rules, programs).text()
    if text is None:
        raise GrammarError(f"{grammar.name}: it derives no program in the units of the training programs")
    without = dict.fromkeys([*rules.left_out, *alternatives_without_units(rules, programs)])
    notes = [f"{LEFT_OUT}{rule}\n" for rule in without]
    return Grammar.parse("".join(notes) + text, grammar.name)


def left_out(grammar: Grammar) -> list[str]:
    """The alternatives that a compiled grammar is without."""
    lines = grammar.text.splitlines()
    return [line.removeprefix(LEFT_OUT) for line in lines if line.startswith(LEFT_OUT)]


def _derives_units(grammar: Grammar, programs: Programs) -> bool:
    """Whether all words are units, and some of them, or how brackets stand, are not of the notation."""
    terminals, notation = set(grammar.terminals), programs.notation
    if not programs.units.keys() >= terminals:
        return False
    if not terminals <= {
        word for symbol in programs.symbols for word in programs.spell_unit(unit_of(symbol))
    }:
        return True
    try:
        PhraseRules(grammar.rules, notation, grammar.name)
    except GrammarError:
        return notation.name != "prefix"
    return notation.name != "prefix" and not terminals.intersection(CLOSING)


class _Compiler:
    def __init__(self, rules: PhraseRules, programs: Programs) -> None:
        self.rules, self.programs = rules, programs
        self.pieces = Pieces(rules)
        words = {word for forms in rules.alternatives.values() for form in forms for word in words_of(form)}
        atoms = {Symbol("atom", word, 0) for word in words - rules.marks if self._is_leaf(word)}
        self.nodes = {
            symbol: tuple(programs.spell_unit(unit_of(symbol))) for symbol in sorted(programs.symbols | atoms)
        }
        copies = any(COPY in firsts for firsts in self.pieces.firsts.values())
        self.nodes = {
            symbol: pattern
            for symbol, pattern in self.nodes.items()
            if copies or words.issuperset(part for part in pattern if isinstance(part, str))
        }
        self.units = [unit for unit in programs.units.values() if unit]
        known = set(self.units)
        self.units += [unit_of(symbol) for symbol in self.nodes if unit_of(symbol) not in known]
        self._productions: dict[Form, dict[Symbol, set[Types | Row]]] = {}
        self._charts: dict[Pattern, _Chart] = {}

    def _is_leaf(self, word: str) -> bool:
        return not self.programs.notation.arities.get(word, 0)

    def text(self) -> str | None:
        """The text of the grammar, or None if it derives nothing."""
        start: Form = (self.rules.start,)
        names = _Names(self.pieces.alternatives)
        rules: dict[str, list[tuple[str, ...]]] = {}
        waiting: list[Form | Row] = [start]
        while waiting:
            what = waiting.pop()
            name = names.of(what)
            if name in rules:
                continue
            rules[name] = []
            for body in self._rows(what) if isinstance(what, Row) else self._bodies(what):
                rules[name].append(tuple(map(names.written, body)))
                waiting += [part for part in body if isinstance(part, tuple | Row)]
        return _written(rules, names.of(start))

    def _bodies(self, form: Form) -> Iterator[Body]:
        """Each unit that a type can begin with, and what follows in its slots."""
        for unit in self.units:
            for filled in self._matches(form, unit):
                body: Body = [self.programs.name(unit)]
                for slot in filled:
                    body += [slot, CLOSE_NAME] if isinstance(slot, Row) else [slot]
                yield body
        if any(part.copy for part in self._leaves(form)):
            yield [ANY_WORD]

    def _leaves(self, form: Form) -> Iterator[Words]:
        """The words that a type can be, if it is one leaf."""
        for (part,) in (explicit for explicit in self.pieces.explicit(form) if len(explicit) == 1):
            if isinstance(part, Words) and self.rules.is_atom(part):
                yield part

    def _matches(self, form: Form, unit: Unit) -> set[tuple[Form | Row, ...]]:
        """The types and rows of the open slots of a unit that a type derives."""
        states: set[tuple[tuple[Form | Row, ...], tuple[Form | Row, ...]]] = {((form,), ())}
        for part in unit:
            new = set()
            for waiting, filled in states:
                if not isinstance(part, Symbol):
                    new.add((waiting[1:], (*filled, waiting[0])))
                    continue
                top = waiting[0]
                if isinstance(top, Row):
                    continue
                for children in self._derived(top, part):
                    taken = (children,) if isinstance(children, Row) else children
                    new.add(((*taken, *waiting[1:]), filled))
            states = new
            if not states:
                break
        return {filled for _, filled in states}

    def _derived(self, form: Form, symbol: Symbol) -> set[Types | Row]:
        """The types of the children of a node that a type derives, or the row of a list."""
        known = self._productions.setdefault(form, {})
        if symbol not in known:
            pattern = self.nodes.get(symbol)
            if pattern is None:
                known[symbol] = set()
            elif symbol.arity == ANY:
                known[symbol] = set(self._list_rows(form, symbol, pattern))
            else:
                chart = self._charts.setdefault(pattern, _Chart(pattern, self.rules, self.pieces))
                known[symbol] = set(chart.types(form))
        return known[symbol]

    def _list_rows(self, form: Form, symbol: Symbol, pattern: Pattern) -> Iterator[Row]:
        place = next(number for number, part in enumerate(pattern) if isinstance(part, int))
        before, after = pattern[:place], pattern[place + 1 :]
        name = symbol.kind in NAME_KINDS
        for explicit in self.pieces.explicit(form):
            if (
                len(explicit) < 2
                or tuple(map(self.rules.word, explicit[len(explicit) - len(after) :])) != after
            ):
                continue
            forms = {explicit[: len(explicit) - len(after)]}
            for word in before:
                forms = {rest for one in forms for rest in self.pieces.after(one, str(word))}
            yield from (Row(one, name) for one in forms if self.rules.items(one) is not None)

    def _rows(self, row: Row) -> Iterator[Body]:
        """What a row derives: trees and rows, one after the other."""
        first = row.form[0] if len(row.form) == 1 else None
        for form in self.pieces.alternatives[first] if isinstance(first, str) else [row.form]:
            yield from self._row(form, row.name)

    def _row(self, form: Form, name: bool) -> Iterator[Body]:
        items = self.rules.items(form)
        if items is None or (name and any(len(item) > 1 for item in items)):
            return
        apart = name or self.rules.notation.separator is None
        runs: list[list[Form]] = [[]]
        for item in items:
            if apart or self.rules.may_have_comma(item):
                runs += [[item], []]
            else:
                runs[-1].append(item)
        bodies: list[Body] = [[]]
        for run in runs:
            whole = tuple(part for item in run for part in item)
            if not run or (not name and self.rules.word(whole[0]) == ","):
                continue
            options: list[Body] = []
            if len(run) > 1 or len(whole) > 1:
                options += [[whole], []] if self.pieces.is_empty(whole) else [[whole]]
            elif isinstance(whole[0], str):
                options.append([Row(whole, name)])
            elif self.rules.is_atom(whole[0]):
                options.append([whole])
            bodies = [body + option for body in bodies for option in options]
        yield from bodies


class _Chart:
    """Which types derive the words of one node, and how."""

    def __init__(self, pattern: Pattern, rules: PhraseRules, pieces: Pieces) -> None:
        self.pattern, self.rules, self.pieces = pattern, rules, pieces
        self._known: dict[tuple[str, int, int], set[Types]] = {}
        self._forms: set[tuple[str, int, int]] = set()

    def types(self, form: Form) -> set[Types]:
        """The types of the children of the node, if `form` derives it."""
        while True:  # names that derive themselves need what is found only later
            self._forms = set()
            size = sum(map(len, self._known.values()))
            found = self._sequence(form, 0, len(self.pattern))
            if sum(map(len, self._known.values())) == size:
                return found

    def _sequence(self, form: Form, start: int, end: int) -> set[Types]:
        reached: list[dict[int, set[Types]]] = [{} for _ in range(len(form) + 1)]
        reached[0][start] = {()}
        for place, part in enumerate(form):
            for at, before in reached[place].items():
                for stop in range(at, end + 1):
                    types = self._part(part, at, stop)
                    if types:
                        reached[place + 1].setdefault(stop, set()).update(
                            a + b for a in before for b in types
                        )
                if at < end and isinstance(self.pattern[at], int):
                    for after in range(place + 2, len(form) + 1):
                        if self.rules.is_whole(form[place:after]):
                            reached[after].setdefault(at + 1, set()).update(
                                (*types, form[place:after]) for types in before
                            )
        return reached[-1].get(end, set())

    def _part(self, part: Part, start: int, end: int) -> set[Types]:
        is_slot = end == start + 1 and isinstance(self.pattern[start], int)
        if isinstance(part, Words):
            if is_slot:
                return {((part,),)} if self.rules.is_atom(part) else set()
            return {()} if end == start + 1 and self.pattern[start] in part.words else set()
        if is_slot:
            return {((part,),)}
        if start == end:
            return {()} if part in self.rules.nullable else set()
        key = part, start, end
        if key in self._forms:
            return self._known[key]
        self._forms.add(key)
        known = self._known.setdefault(key, set())
        first = self.pattern[start]
        if isinstance(first, int) or first in self.pieces.firsts[part]:
            for form in self.pieces.alternatives[part]:
                known |= self._sequence(form, start, end)
        return known


class _Names:
    """Names of the rules over units."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken, self._names = set(taken), dict[Form | Row, str]()

    def of(self, what: Form | Row) -> str:
        """The name of the rules of a type or row. A type that is a rule of the grammar keeps its name."""
        if what not in self._names:
            self._names[what] = self._new(what)
        return self._names[what]

    def written(self, part: str | Words | Form | Row) -> str:
        """A part of a rule as the notation of grammars writes it."""
        if isinstance(part, Words):
            return COPY
        return quoted(part) if isinstance(part, str) else self.of(part)

    def _new(self, what: Form | Row) -> str:
        form = what.form if isinstance(what, Row) else what
        base = next((part.split("/")[0] for part in form if isinstance(part, str)), "")
        if base and what == (base,):
            return base
        base += "List" if isinstance(what, Row) else "Part"
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}{number}"
        self._taken.add(name)
        return name


def _written(rules: dict[str, list[tuple[str, ...]]], start: str) -> str | None:
    """The rules that derive something and that the start needs, as text."""
    pairs = [
        (name, [part for part in body if part in rules]) for name, bodies in rules.items() for body in bodies
    ]
    productive = closure(pairs, set())
    if start not in productive:
        return None
    used, waiting = {start}, [start]
    lines = []
    while waiting:
        name = waiting.pop()
        bodies = [
            body
            for body in dict.fromkeys(rules[name])
            if productive.issuperset(part for part in body if part in rules)
        ]
        new = dict.fromkeys(part for body in bodies for part in body if part in rules and part not in used)
        used |= new.keys()
        waiting += new
        lines.append(f"{name} -> " + "\n  | ".join(" ".join(body) or "()" for body in bodies))
    return "\n\n".join(lines) + "\n"
