"""Every short text of a GBNF grammar, by brute force. Independent of the library's reader.

It knows a little more than what is exported: strings, classes, names, groups, `? * +` and `|`.
"""

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[\w-]+\s*::=|[\w-]+|[()|?*+]|\s+|#[^\n]*')


def texts(grammar: str, longest: int, copied: tuple[str, ...] = ()) -> set[str]:
    """The texts of at most `longest` characters. A negated class with + is one of `copied`."""
    tokens = [token for token in _TOKEN.findall(grammar) if token.strip() and not token.startswith("#")]
    rules: dict[str, object] = {}
    while tokens:
        head = tokens.pop(0).removesuffix("::=").strip()
        rules[head] = _alternatives(tokens)
    found: dict[str, set[str]] = {name: set() for name in rules}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for name, body in rules.items():
            found[name] |= _enumerate(body, found, longest, copied)
    return found["root"]


def _alternatives(tokens):
    options = [[]]
    while tokens and tokens[0] != ")" and not tokens[0].endswith("::="):
        token = tokens.pop(0)
        if token == "|":
            options.append([])
            continue
        if token == "(":
            part = _alternatives(tokens)
            tokens.pop(0)
        else:
            part = token
        while tokens and tokens[0] in ("?", "*", "+"):
            part = (tokens.pop(0), part)
        options[-1].append(part)
    return options


def _enumerate(part, found, longest, copied):
    if isinstance(part, list):  # alternatives of sequences
        result = set()
        for sequence in part:
            strings = {""}
            for each in sequence:
                more = _enumerate(each, found, longest, copied)
                strings = {a + b for a in strings for b in more if len(a) + len(b) <= longest}
            result |= strings
        return result
    if isinstance(part, tuple):
        mark, inner = part
        if mark == "+" and isinstance(inner, str) and inner.startswith("[^"):
            return {word for word in copied if len(word) <= longest}
        once = _enumerate(inner, found, longest, copied)
        strings = {""} if mark in "?*" else set()
        if mark == "?":
            return strings | once
        strings |= once
        before = -1
        while before != (before := len(strings)):
            strings |= {a + b for a in strings for b in once if len(a) + len(b) <= longest}
        return strings
    if part.startswith('"'):
        return {re.sub(r"\\(.)", r"\1", part[1:-1])} if len(part) - 2 <= longest else set()
    if part.startswith("["):
        return set(part[1:-1])
    return found[part]
