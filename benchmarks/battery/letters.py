"""Inflection, letter by letter, of invented words that follow the rules."""

from random import Random

ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "br", "st", "pl", "tr")
VOWELS = ("a", "e", "i", "o", "u")
CODAS = ("n", "r", "l", "t", "m", "p", "sh", "ch", "x", "s", "e", "y", "ay", "nk")
BACK, FRONT = "aıou", "eiöü"


def english_endings(random: Random, hard: bool) -> tuple[str, str]:
    """`s t a r y PLURAL` to `s t a r i e s`: words of one or two syllables, in test three or four."""
    syllables = random.randint(3, 4) if hard else random.randint(1, 2)
    word = "".join(random.choice(ONSETS) + random.choice(VOWELS) for _ in range(syllables))
    coda = random.choice(CODAS)
    word = word[:-1] + "ay" if coda == "ay" else word + random.choice("nrlt") * (coda in "ey") + coda
    form = random.choice(("PLURAL", "PAST", "ING"))
    return f"{' '.join(word)} {form}", " ".join(english(word, form))


def english(word: str, form: str) -> str:
    """Inflect a regular word. No consonant is doubled."""
    consonant_y = word[-1] == "y" and word[-2] not in "aeiou"
    if form == "PLURAL":
        if consonant_y:
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "sh", "ch")) else "s")
    if form == "PAST":
        return word[:-1] + "ied" if consonant_y else word + ("d" if word.endswith("e") else "ed")
    return (word[:-1] if word.endswith("e") else word) + "ing"


def turkish_endings(random: Random, hard: bool) -> tuple[str, str]:
    """`LOC k i t a p` to `k i t a p t a`: endings follow the last vowel and the last consonant."""
    syllables = random.randint(3, 4) if hard else random.randint(1, 2)
    word = "".join(random.choice("bdgklmnprstvyz") + random.choice(BACK + FRONT) for _ in range(syllables))
    word += random.choice("klmnprstz")
    form = random.choice(("PL", "LOC", "PL LOC"))
    return f"{form} {' '.join(word)}", " ".join(turkish(word, form))


def turkish(word: str, form: str) -> str:
    """Add the plural, the locative or both."""
    vowel = "a" if [letter for letter in word if letter in BACK + FRONT][-1] in BACK else "e"
    if form.startswith("PL"):
        word += f"l{vowel}r"
    if form.endswith("LOC"):
        word += ("t" if word[-1] in "fstkçşhp" else "d") + vowel
    return word
