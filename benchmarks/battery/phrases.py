"""Phrases of one language to phrases of another, with swapped adjectives that agree with their noun."""

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Lexicon:
    """Words and their translations, as (masculine, feminine) where the noun decides.

    Attributes:
        nouns: the translation, and 0 for masculine or 1 for feminine.
        after: adjectives that follow the noun in the translation.
        before: adjectives that stay before it.
        determiners: words before a noun phrase.
        links: words between two noun phrases.
    """

    nouns: dict[str, tuple[str, int]]
    after: dict[str, tuple[str, str]]
    before: dict[str, tuple[str, str]]
    determiners: dict[str, tuple[str, str]]
    links: dict[str, str]


FRENCH = Lexicon(
    nouns={
        **{"cat": ("chat", 0), "book": ("livre", 0), "garden": ("jardin", 0)},
        **{"table": ("table", 1), "car": ("voiture", 1), "door": ("porte", 1)},
    },
    after={"red": ("rouge", "rouge"), "green": ("vert", "verte"), "black": ("noir", "noire")},
    before={"small": ("petit", "petite"), "big": ("grand", "grande")},
    determiners={"the": ("le", "la"), "a": ("un", "une")},
    links={"and": "et", "with": "avec"},
)
SPANISH = Lexicon(
    nouns={
        **{"dog": ("perro", 0), "hat": ("sombrero", 0), "boat": ("barco", 0)},
        **{"house": ("casa", 1), "chair": ("silla", 1), "shirt": ("camisa", 1)},
    },
    after={"blue": ("azul", "azul"), "white": ("blanco", "blanca"), "yellow": ("amarillo", "amarilla")},
    before={"good": ("buen", "buena"), "first": ("primer", "primera")},
    determiners={"this": ("este", "esta"), "our": ("nuestro", "nuestra")},
    links={"or": "o", "without": "sin"},
)


def french(random: Random, hard: bool) -> tuple[str, str]:
    """`the red car and a cat` to `la voiture rouge et un chat`."""
    return _phrase(FRENCH, random, hard)


def spanish(random: Random, hard: bool) -> tuple[str, str]:
    """`our blue hat without this dog` to `nuestro sombrero azul sin este perro`."""
    return _phrase(SPANISH, random, hard)


def _phrase(words: Lexicon, random: Random, hard: bool) -> tuple[str, str]:
    """Make one or two noun phrases; two or three in test."""
    number = random.randint(2, 3) if hard else random.randint(1, 2)
    source, target = _noun_phrase(words, random)
    for _ in range(number - 1):
        link = random.choice(list(words.links))
        more = _noun_phrase(words, random)
        source, target = f"{source} {link} {more[0]}", f"{target} {words.links[link]} {more[1]}"
    return source, target


def _noun_phrase(words: Lexicon, random: Random) -> tuple[str, str]:
    determiner, noun = random.choice(list(words.determiners)), random.choice(list(words.nouns))
    translated, gender = words.nouns[noun]
    source, target = [noun], [translated]
    if random.random() < 0.7:
        adjective = random.choice(list(words.after))
        source.insert(0, adjective)
        target.append(words.after[adjective][gender])
    if random.random() < 0.3:
        adjective = random.choice(list(words.before))
        source.insert(0, adjective)
        target.insert(0, words.before[adjective][gender])
    return f"{determiner} {' '.join(source)}", f"{words.determiners[determiner][gender]} {' '.join(target)}"
