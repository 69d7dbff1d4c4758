"""Words that become ten tokens each, and strings that are written twice."""

from random import Random

MACHINE = {
    "home": "G28 X0 Y0 Z0 ; M400 ; G92 E0 ;",
    "drill": "M3 S800 ; G1 Z-5 F60 ; G1 Z5 ; M5",
    "lift": "G91 ; G1 Z10 F300 ; G90 ; M400 ;",
    "left": "G91 ; G1 X-10 F600 ; G90 ; M400 ;",
    "right": "G91 ; G1 X10 F600 ; G90 ; M400 ;",
    "cool": "M106 S255 ; G4 P500 ; M107 ; M105 ;",
    "probe": "G91 ; G38 Z-20 F30 ; G92 Z0 ; G90 ;",
    "pause": "M400 ; M0 ; M117 wait ; G4 P100 ; M105",
}
DANCE = {
    "waltz": "lf rf lf . rf lf rf . bow . .",
    "samba": "lf lf rf rf hip hip . turn lf . .",
    "tango": "rf rf rf lf . turn turn . bow rf .",
    "polka": "hop lf hop rf hop lf hop rf . .",
    "jig": "hop hop lf . hop hop rf . clap . .",
    "reel": "clap lf clap rf turn . turn . clap .",
    "swing": "rf turn lf turn . hip clap hip . lf",
}
LETTERS = ("a", "b", "c", "d", "e", "f", "g", "h")


def machine(random: Random, hard: bool) -> tuple[str, str]:
    """`home drill` to twenty tokens of machine code: one to three words, in test four or five."""
    return _expanded(MACHINE, random, random.randint(4, 5) if hard else random.randint(1, 3))


def dance(random: Random, hard: bool) -> tuple[str, str]:
    """`waltz jig` to about twenty steps."""
    return _expanded(DANCE, random, random.randint(4, 5) if hard else random.randint(1, 3))


def _expanded(words: dict[str, str], random: Random, number: int) -> tuple[str, str]:
    chosen = random.choices(list(words), k=number)
    return " ".join(chosen), " ".join(words[word] for word in chosen)


def doubling(random: Random, hard: bool) -> tuple[str, str]:
    """`a b c` to `a b c a b c`: no separable reordering makes it from three letters on."""
    letters = random.choices(LETTERS, k=random.randint(7, 9) if hard else random.randint(3, 6))
    return " ".join(letters), " ".join(2 * letters)


def two_scripts(random: Random, hard: bool) -> tuple[str, str]:
    """`m n o` to `m n o M N O`."""
    letters = random.choices("mnopqrst", k=random.randint(7, 9) if hard else random.randint(3, 6))
    return " ".join(letters), " ".join([*letters, *map(str.upper, letters)])
