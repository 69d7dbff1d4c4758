"""SCAN: commands such as `walk around left twice` to sequences of actions.

The splits of the length of the actions and of unseen combinations are complete enumerations, so they can be
generated. The public files have the same pairs in another order.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

from ftor.datasets.published import Download, PublishedDataset, sha256sums
from ftor.files import write_text
from ftor.metrics import Grouping, Tokens
from ftor.text.reading import DataError

TextPair = tuple[str, str]
Part = Literal["train", "test"] | None
Split = Callable[[str, str], Part]
"""Says where a command with its actions belongs."""

HOME = "https://raw.githubusercontent.com/brendenlake/SCAN/c4b756cbc010d75c912f16c42c8f15dc6b7e6c8f"
ACTIONS = {"walk": "I_WALK", "look": "I_LOOK", "run": "I_RUN", "jump": "I_JUMP"}
DIRECTIONS = {"left": "I_TURN_LEFT", "right": "I_TURN_RIGHT"}
MANNERS = ("", "opposite", "around")
TIMES = {"": 1, "twice": 2, "thrice": 3}
LONGEST = 22
"""The most actions of a command in the training pairs of the length split."""
JUMPS = 1467
"""How often the command `jump` alone is repeated in training without other commands with it."""

_LINE = re.compile(r"IN: (.+) OUT: (.+)")


class Action(NamedTuple):
    """An action, and the position of the word that names it."""

    name: str
    word: int


def interpret(words: list[str]) -> list[Action]:
    """The actions of a command, or raise a `ValueError`."""
    for joint in ("and", "after"):
        if joint in words:
            place = words.index(joint)
            before = _repeated(words[:place], 0)
            after = _repeated(words[place + 1 :], place + 1)
            return before + after if joint == "and" else after + before
    return _repeated(words, 0)


def _repeated(words: list[str], start: int) -> list[Action]:
    if words and words[-1] in TIMES:
        return _phrase(words[:-1], start) * TIMES[words[-1]]
    return _phrase(words, start)


def _phrase(words: list[str], start: int) -> list[Action]:
    """The actions of a verb with a manner and a direction. `turn` has no action but the turns."""
    if len(words) == 1 and words[0] in ACTIONS:
        return [Action(ACTIONS[words[0]], start)]
    verb, *manner, direction = words if len(words) > 1 else ("", "")
    if verb not in (*ACTIONS, "turn") or direction not in DIRECTIONS or " ".join(manner) not in MANNERS:
        raise ValueError(f"not a phrase of SCAN: {' '.join(words)!r}")
    turn = Action(DIRECTIONS[direction], start + len(words) - 1)
    act = [Action(ACTIONS[verb], start)] if verb in ACTIONS else []
    turns = {"around": [turn, *act] * 4, "opposite": [turn, turn, *act]}
    return turns[manner[0]] if manner else [turn, *act]


def connective(command: Tokens, actions: Tokens) -> str:
    """What joins the clauses of a command."""
    return next((word for word in ("and", "after") if word in command), "none")


def manner(command: Tokens, actions: Tokens) -> str:
    """The hardest manner of a command."""
    return next((word for word in ("around", "opposite") if word in command), "plain")


def repetition(command: Tokens, actions: Tokens) -> str:
    """The largest repetition of a command."""
    return next((word for word in ("thrice", "twice") if word in command), "once")


def copies(command: Tokens, actions: Tokens) -> int:
    """The most actions that one word names: the fertility that it needs. 0 for what is no command."""
    try:
        found = Counter(action.word for action in interpret(list(command)))
    except ValueError:
        return 0
    return max(found.values())


GROUPINGS = (
    Grouping("connective", connective),
    Grouping("manner", manner),
    Grouping("repetition", repetition),
    Grouping("copies of a word", copies),
)


def commands() -> list[str]:
    """All 20,910 commands."""
    phrases = list(ACTIONS)
    phrases += [" ".join(filter(None, words)) for words in product((*ACTIONS, "turn"), MANNERS, DIRECTIONS)]
    clauses = [f"{phrase} {times}".strip() for phrase, times in product(phrases, TIMES)]
    joined = [f"{one} {joint} {other}" for one, joint, other in product(clauses, ("and", "after"), clauses)]
    return clauses + joined


def _pair(command: str) -> TextPair:
    return command, " ".join(action.name for action in interpret(command.split()))


def generate(split: Split, alone: str = "") -> dict[str, list[TextPair]]:
    """Divide all pairs by what `split` says of each. The command `alone` is repeated in training."""
    pairs = [_pair(command) for command in commands() if command != alone]
    parts = {name: [pair for pair in pairs if split(*pair) == name] for name in ("train", "test")}
    parts["train"] += [_pair(alone)] * JUMPS if alone else []
    return parts


def by_length(command: str, actions: str) -> Part:
    """Test on more actions than in training."""
    return "train" if len(actions.split()) <= LONGEST else "test"


def around_right(command: str, actions: str) -> Part:
    """Test on `around right`, which training lacks. `turn around right` is in neither."""
    if "around right" not in command:
        return "train"
    return None if "turn around right" in command else "test"


def jump(command: str, actions: str) -> Part:
    """Test on `jump` in commands. Training has it alone."""
    return "test" if "jump" in command.split() else "train"


def convert(path: Path) -> None:
    """Turn lines `IN: command OUT: actions` into pairs."""
    lines = path.read_text("utf-8").splitlines()
    if lines and not lines[0].startswith("IN: "):
        return
    pairs = list[str]()
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise DataError(f"{path}:{number}: expected IN: … OUT: …, found {line[:60]!r}")
        pairs.append("\t".join(found.groups()))
    write_text(path, "".join(f"{pair}\n" for pair in pairs))


def _dataset(name: str, folder: str, end: str, sums: str, split: Split, alone: str = "") -> PublishedDataset:
    """A split. `sums` has the checksums of the two public files, and of the pairs made of them."""
    names = [f"tasks_{part}_{end}.txt" for part in ("train", "test")]
    checksums = sha256sums(sums)
    files = {file: checksum for file, checksum in checksums.items() if file.endswith(".tsv")}
    return PublishedDataset(
        f"scan-{name}",
        files,
        tuple(Download(f"{HOME}/{folder}/{file}", checksums[file]) for file in names),
        other_names=dict(zip(names, files, strict=True)),
        convert=convert,
        groupings=GROUPINGS,
        generate=partial(generate, split, alone),
    )


DATASETS = (
    _dataset(
        "length",
        "length_split",
        "length",
        """
b034212dc7cf87ce62f3a067dd6ad49c4d5cd18d51d615d13825516bcb1ebbc2  tasks_train_length.txt
0760752ed34a75116ae11dcc1ee17526b7500060da1366540730fa24894d7db3  tasks_test_length.txt
77c132df46086dab737a88903196a8940f2af87d18c2e228ead0efdc491abdc4  scan/length_train.tsv
79c018f9d927ecf79b641d347e618dcc43d171baa3771bc6c336afe84cff2a24  scan/length_test.tsv
""",
        by_length,
    ),
    _dataset(
        "around-right",
        "template_split",
        "template_around_right",
        """
d5d35d174d557645fc61f289424afa0d95fde21422c59a9819e2d0fcfa9d419f  tasks_train_template_around_right.txt
fc78a5d1077dc2c206d6c42ed89fb9022867618c3f331179bafd3ec1ca699474  tasks_test_template_around_right.txt
2a4cd888d5692f5324f2779873f27eb9fa7274b7f663e723cc26ddd471634ae8  scan/around_right_train.tsv
9f14a8c6954f11428f95a660b81f325a4edabfb5d3b64c80b446bad481a06525  scan/around_right_test.tsv
""",
        around_right,
    ),
    _dataset(
        "jump",
        "add_prim_split",
        "addprim_jump",
        """
e3c78485692e028eed4205e1b8b3fd0e785ef2c12d45b5b89204dadf5b239e23  tasks_train_addprim_jump.txt
8147ae2651422c701162e174d9d66158daa57858a26b30317ac61797118ac7a5  tasks_test_addprim_jump.txt
f652c655088a6a8b73da4e62b140b26148507ba22c27c50dec1a3f42d46d1865  scan/jump_train.tsv
0e333598aed013235b2915f2f993abd85339ebb6ef09287205e91cf137f7a718  scan/jump_test.tsv
""",
        jump,
        alone="jump",
    ),
)
