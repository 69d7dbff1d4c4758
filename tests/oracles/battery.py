"""The meaning of sentences of four tasks of the battery, variant a, by parsers that know their grammar."""

import re

ROOM = "(?:kitchen|bedroom|office|hall|garage|attic)"
DEVICE, COVER = "(?:lamp|heater|radio|fan)", "(?:blinds|window|door)"
COMMANDS = (
    (rf"play (?P<x>\w+)(?: in the (?P<room>{ROOM}))?", "play {x}"),
    (rf"set the temperature(?: in the (?P<room>{ROOM}))? to (?P<x>\d+) degrees", "heat {x}"),
    (rf"make it (?P<x>\d+) degrees(?: in the (?P<room>{ROOM}))?", "heat {x}"),
    (rf"(?:turn|switch) (?P<y>on|off) the (?P<x>{DEVICE})(?: in the (?P<room>{ROOM}))?", "switch {y} {x}"),
    (rf"(?:turn|switch) (?P<y>on|off) the (?P<room>{ROOM}) (?P<x>{DEVICE})", "switch {y} {x}"),
    (rf"(?P<y>open|close) the (?P<x>{COVER})(?: in the (?P<room>{ROOM}))?", "move {y} {x}"),
    (rf"(?P<y>open|close) the (?P<room>{ROOM}) (?P<x>{COVER})", "move {y} {x}"),
)


def home(sentence):
    """The program of commands. `after you` swaps its two before anything else joins them."""
    groups = [group.split(" after you ")[::-1] for group in re.split(" (?:and|, then) ", sentence)]
    programs = [_command(command) for group in groups for command in group]
    return None if None in programs else " ; ".join(programs)


def _command(sentence):
    what, hour, minutes = re.fullmatch(r"(.*?)(?: at (\d+) o'clock| in (\d+) minutes)?", sentence).groups()
    when = f"at {hour} " if hour else f"delay {minutes} " if minutes else ""
    for pattern, target in COMMANDS:
        if match := re.fullmatch(pattern, what):
            found = match.groupdict()
            return when + target.format(**found) + (f" room {found['room']}" if found["room"] else "")
    return None


def scan(sentence):
    """The steps of phrases that are joined by one `and` or `after`, or several of the same."""
    for word, order in (("and", 1), ("after", -1)):
        if f" {word} " in sentence:
            parts = [scan(part) for part in sentence.split(f" {word} ")][::order]
            return None if None in parts else " ".join(parts)
    phrase = r"(walk|run|jump|look|turn)(?: (opposite|around))?(?: (left|right))?(?: (twice|thrice))?"
    match = re.fullmatch(phrase, sentence)
    if match is None:
        return None
    verb, manner, side, times = match.groups()
    step = [] if verb == "turn" else [verb.upper()]
    turn = [f"{side[0].upper()}TURN"] if side else []
    steps = {"around": 4 * (turn + step), "opposite": 2 * turn + step, None: turn + step}[manner]
    return " ".join({None: 1, "twice": 2, "thrice": 3}[times] * steps)


def postfix(expression):
    """An expression with precedence and brackets, by two stacks."""
    ranks = {"+": 1, "-": 1, "*": 2, "/": 2}
    done, waiting = [], []
    for token in expression.split():
        if token == "(":
            waiting.append(token)
        elif token == ")":
            while waiting[-1] != "(":
                done.append(waiting.pop())
            waiting.pop()
        elif token in ranks:
            while waiting and waiting[-1] != "(" and ranks[waiting[-1]] >= ranks[token]:
                done.append(waiting.pop())
            waiting.append(token)
        else:
            done.append(token)
    return " ".join(done + waiting[::-1])


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def numbers(source: str) -> str:
    """The words of a number."""
    left, words = int(source.replace(" ", "").replace(",", "")), list[str]()
    for unit, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (1, "")):
        group, left = divmod(left, unit)
        words += [*_below_thousand(group), *([name] if name else [])] if group else []
    return " ".join(words) or _ONES[0]


def _below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [_ONES[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(_TENS[rest // 10 - 1])
        rest %= 10
    return [*words, _ONES[rest]] if rest else words
