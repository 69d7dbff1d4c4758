"""Spoken commands to programs of a few tokens, and the grammar that a user would write for them."""

from random import Random

from battery.task import joined

ROOMS = ("kitchen", "bedroom", "office", "hall", "garage", "attic")
DEVICES = ("lamp", "heater", "radio", "fan")
COVERS = ("blinds", "window", "door")
MUSIC = ("jazz", "rock", "news", "opera")
SMART_HOME = """\
# Programs of a smart home: commands with an optional time and room, separated by ;
Program -> Command | Command ';' Program
Command -> When Action | Action
When    -> 'at' Hour | 'delay' Minutes
Action  -> 'switch' State Device Place | 'move' Motion Cover Place | 'play' Music Place
         | 'heat' Degrees Place
Place   -> 'room' Room | ()
State   : on | off
Device  : lamp | heater | radio | fan
Motion  : open | close
Cover   : blinds | window | door
Music   : jazz | rock | news | opera
Room    : kitchen | bedroom | office | hall | garage | attic
Hour    : 1..12
Minutes : 5 | 10 | 15 | 20 | 30
Degrees : 16..25
"""

PLANTS = {"tomatoes": "tomato", "beans": "bean", "herbs": "herb", "roses": "rose", "melons": "melon"}
BAYS = ("north", "south", "front", "back", "middle")
GREENHOUSE = """\
# Programs of a greenhouse: jobs joined by then. Amounts come last.
Jobs   -> Job | Job 'then' Jobs
Job    -> Target Act | Target Act Amount | Target Act Amount 'daily'  | Target Act 'daily'
Target -> '#' Bay Plant | '*' Plant | '#' Bay 'all'
Act    : WATER | SHADE | FEED | VENT
Amount -> Number 'min' | Number 'g'
Plant  : tomato | bean | herb | rose | melon
Bay    : north | south | front | back | middle
Number : 5..60
"""


def smart_home(random: Random, hard: bool) -> tuple[str, str]:
    """`open the hall door after you play jazz` to `play jazz ; move open door room hall`.

    One to three commands, in test four or five. `after you` swaps the commands beside it.
    """
    commands = [_command(random) for _ in range(_number(random, hard))]
    spoken, programs = [], []
    while commands:
        source, target = commands.pop()
        if commands and random.random() < 0.3:
            other, first = commands.pop()
            source, target = f"{source} after you {other}", f"{first} ; {target}"
        spoken.append(source)
        programs.append(target)
    return joined(random, spoken, ("and", ", then")), " ; ".join(programs)


def _number(random: Random, hard: bool) -> int:
    return random.randint(4, 5) if hard else random.choices((1, 2, 3), (4, 4, 2))[0]


def _command(random: Random) -> tuple[str, str]:
    room = random.choice(ROOMS)
    kind = random.choice(("switch", "move", "play", "heat"))
    place = random.random() < 0.7
    if kind == "play":
        music = random.choice(MUSIC)
        source, target = f"play {music}", f"play {music}"
        source += f" in the {room}" if place else ""
    elif kind == "heat":
        degrees = random.randint(16, 25)
        target = f"heat {degrees}"
        inside = f" in the {room}" if place else ""
        source = random.choice(
            (f"set the temperature{inside} to {degrees} degrees", f"make it {degrees} degrees{inside}")
        )
    else:
        if kind == "switch":
            thing, state = random.choice(DEVICES), random.choice(("on", "off"))
            verb, target = f"{random.choice(('turn', 'switch'))} {state}", f"switch {state} {thing}"
        else:
            thing, verb = random.choice(COVERS), random.choice(("open", "close"))
            target = f"move {verb} {thing}"
        inside = random.choice((f"the {thing} in the {room}", f"the {room} {thing}"))
        source = f"{verb} {inside if place else f'the {thing}'}"
    target += f" room {room}" if place else ""
    when = random.random()
    if when < 0.2:
        hour = random.randint(1, 12)
        return f"{source} at {hour} o'clock", f"at {hour} {target}"
    if when < 0.4:
        minutes = random.choice((5, 10, 15, 20, 30))
        return f"{source} in {minutes} minutes", f"delay {minutes} {target}"
    return source, target


def greenhouse(random: Random, hard: bool) -> tuple[str, str]:
    """`every day give the beans in the north bay 5 minutes of water` to `# north bean WATER 5 min daily`."""
    jobs = [_job(random) for _ in range(_number(random, hard))]
    early = len(jobs) > 1 and random.random() < 0.3
    spoken, programs = [source for source, _ in jobs], [target for _, target in jobs]
    if early:  # said last, done first
        source = " , then ".join(spoken[:-1]) + f" but first {spoken[-1]}"
        return source, " then ".join([programs[-1], *programs[:-1]])
    return " , then ".join(spoken), " then ".join(programs)


def _job(random: Random) -> tuple[str, str]:
    plant, bay = random.choice(list(PLANTS)), random.choice(BAYS)
    which, target = random.choice(
        (
            (f"the {plant}", f"* {PLANTS[plant]}"),
            (f"the {plant} in the {bay} bay", f"# {bay} {PLANTS[plant]}"),
            (f"everything in the {bay} bay", f"# {bay} all"),
        )
    )
    number = random.randrange(5, 61, 5)
    source, act = random.choice(
        (
            (f"water {which}", "WATER"),
            (f"give {which} {number} minutes of water", f"WATER {number} min"),
            (f"shade {which}", "SHADE"),
            (f"shade {which} for {number} minutes", f"SHADE {number} min"),
            (f"put {number} grams of food on {which}", f"FEED {number} g"),
            (f"let air to {which}", "VENT"),
        )
    )
    if random.random() < 0.25:
        return f"every day {source}", f"{target} {act} daily"
    return source, f"{target} {act}"
