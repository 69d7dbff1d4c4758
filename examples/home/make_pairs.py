"""Write a small dataset of commands for a house: sentence, tab, program.

    python examples/home/make_pairs.py [FOLDER]

Training sentences have one to three commands, dev sentences three, test sentences four to six. The folder
`programs` gets the same pairs with s-expressions as targets.
"""

import random
import sys
from pathlib import Path

ROOMS = ("kitchen", "garage", "bedroom", "hall", "office", "attic")
VERBS = {"switch on": "on", "switch off": "off", "open": "open", "close": "close"}
THINGS = {
    **dict.fromkeys(("lamp", "heater", "radio"), ("switch on", "switch off")),
    **dict.fromkeys(("window", "door", "blind"), ("open", "close")),
}
SPLITS = {"train": (250, (1, 2, 2, 3)), "dev": (50, (3,)), "test": (100, (4, 5, 6))}


def command(draw: random.Random) -> tuple[str, str]:
    """One command and its program, which names the thing before the room."""
    thing = draw.choice(list(THINGS))
    verb, room = draw.choice(THINGS[thing]), draw.choice(ROOMS)
    return f"{verb} the {room} {thing}", f"{VERBS[verb]} {thing} {room}"


def pair(draw: random.Random, commands: int) -> tuple[str, str]:
    """Commands in order, joined by `and`, or in reverse, joined by `after you`."""
    sentences, programs = zip(*(command(draw) for _ in range(commands)), strict=True)
    if commands == 1 or draw.random() < 0.5:
        return " and ".join(sentences), " ; ".join(programs)
    return " after you ".join(sentences), " ; ".join(reversed(programs))


def s_expression(program: str) -> str:
    """The same program with brackets: a list of settings, each of a device in a room."""
    settings = [
        f"(set (device {thing} (room {room})) (state {state}))"
        for state, thing, room in (command.split() for command in program.split(" ; "))
    ]
    return f"(run {' '.join(settings)})"


def main() -> None:
    """Write train.tsv, dev.tsv and test.tsv, and the same in `programs`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    (folder / "programs").mkdir(parents=True, exist_ok=True)
    for seed, (split, (size, commands)) in enumerate(SPLITS.items()):
        draw = random.Random(seed)
        pairs: dict[str, str] = {}
        while len(pairs) < size:
            pairs.update([pair(draw, draw.choice(commands))])
        text = "".join(f"{source}\t{target}\n" for source, target in pairs.items())
        (folder / f"{split}.tsv").write_text(text, "utf-8")
        text = "".join(f"{source}\t{s_expression(target)}\n" for source, target in pairs.items())
        (folder / "programs" / f"{split}.tsv").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
