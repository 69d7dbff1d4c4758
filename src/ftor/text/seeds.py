"""Seeds that are derived from a seed and a place, so that each place draws numbers of its own."""

from random import Random


def derived_seed(*parts: object, bits: int = 63) -> int:
    """A seed with at most `bits` bits. The same parts give the same seed on every machine.

    Models and generated data depend on these numbers, so the function must not change.
    """
    return Random(" ".join(map(str, parts))).getrandbits(bits)
