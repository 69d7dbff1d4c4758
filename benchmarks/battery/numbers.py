"""Numbers in digits to numbers in words, in groups of three digits."""

from random import Random

ENGLISH = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
ENGLISH_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
GERMAN = (
    *("null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf"),
    *("zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"),
)
GERMAN_TENS = ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")


def english_numbers(random: Random, hard: bool) -> tuple[str, str]:
    """`1 2 , 3 4 5` to `twelve thousand three hundred forty five`."""
    groups = _groups(random, hard)
    words: list[str] = []
    for place, group in zip(range(len(groups) - 1, -1, -1), groups, strict=True):
        if group:
            words += [*_english(group), *(["thousand"] if place == 1 else ["million"] if place == 2 else [])]
    return _digits(groups, ","), " ".join(words or ["zero"])


def german_numbers(random: Random, hard: bool) -> tuple[str, str]:
    """`1 2 . 3 4 5` to `zwölf tausend drei hundert fünf und vierzig`: tens and ones are swapped."""
    groups = _groups(random, hard)
    words: list[str] = []
    for place, group in zip(range(len(groups) - 1, -1, -1), groups, strict=True):
        if group:
            words += [*_german(group), *(["tausend"] if place == 1 else ["millionen"] if place == 2 else [])]
    return _digits(groups, "."), " ".join(words or ["null"])


def _groups(random: Random, hard: bool) -> list[int]:
    """Groups of three digits: up to eight digits in training, nine in test."""
    digits = 9 if hard else random.choices(range(1, 9), (1, 1, 2, 2, 2, 2, 2, 2))[0]
    # Zeros are frequent, because they change the words.
    text = "".join(random.choice("0123456789012" if place else "123456789") for place in range(digits))
    padded = text.zfill(-(-digits // 3) * 3)
    return [int(padded[i : i + 3]) for i in range(0, len(padded), 3)]


def _digits(groups: list[int], separator: str) -> str:
    first, *rest = groups
    return f" {separator} ".join([" ".join(str(first)), *(" ".join(f"{group:03}") for group in rest)])


def _english(group: int) -> list[str]:
    words = [ENGLISH[group // 100], "hundred"] if group >= 100 else []
    tens, ones = divmod(group % 100, 10)
    if tens < 2:
        return words + ([ENGLISH[group % 100]] if group % 100 else [])
    return [*words, ENGLISH_TENS[tens - 2], *([ENGLISH[ones]] if ones else [])]


def _german(group: int) -> list[str]:
    words = [GERMAN[group // 100], "hundert"] if group >= 100 else []
    tens, ones = divmod(group % 100, 10)
    if tens < 2:
        return words + ([GERMAN[group % 100]] if group % 100 else [])
    return [*words, *([GERMAN[ones], "und"] if ones else []), GERMAN_TENS[tens - 2]]
