"""Questions to s-expressions with any number of conditions."""

from random import Random

PLACES = {"restaurants": "restaurant", "hotels": "hotel", "museums": "museum", "bars": "bar"}
PRICES = ("cheap", "expensive", "moderate")
KINDS = ("italian", "french", "thai", "modern")
SPOTS = ("station", "river", "airport", "park", "harbour")
OFFERS = ("wine", "breakfast", "parking", "music")
CITIES = ("boston", "denver", "dallas", "miami", "seattle", "atlanta")
DAYS = ("monday", "tuesday", "friday", "sunday")
LINES = ("delta", "united", "lufthansa")
PARTS = ("morning", "evening", "afternoon")


def places(random: Random, hard: bool) -> tuple[str, str]:
    """`how many cheap hotels near the river have parking` to `( count ( hotel ( price cheap ) … ) )`.

    Up to two conditions in training, three to five in test. Their order is always the same.
    """
    number = random.randint(3, 5) if hard else random.randint(0, 2)
    chosen = sorted(random.sample(range(5), number))
    noun = random.choice(list(PLACES))
    price, kind, spot, offer = map(random.choice, (PRICES, KINDS, SPOTS, OFFERS))
    stars = random.randint(1, 5)
    said = {
        **{0: price, 1: kind},
        2: random.choice((f"near the {spot}", f"close to the {spot}")),
        3: random.choice((f"with {offer}", f"that have {offer}")),
        4: random.choice((f"with {stars} stars", f"rated {stars}")),
    }
    conditions = {
        **{0: f"( price {price} )", 1: f"( kind {kind} )", 2: f"( near {spot} )"},
        **{3: f"( offers {offer} )", 4: f"( stars {stars} )"},
    }
    before = [said[index] for index in chosen if index < 2]
    after = [said[index] for index in chosen if index >= 2]
    start, function = random.choice(
        (("show me", "list"), ("find", "list"), ("how many", "count"), ("what is the best of the", "best"))
    )
    ending = "are there" if function == "count" else ""
    source = " ".join([start, *before, noun, *after, ending]).strip()
    inside = " ".join([PLACES[noun], *(conditions[index] for index in chosen)])
    return source, f"( {function} ( {inside} ) )"


def flights(random: Random, hard: bool) -> tuple[str, str]:
    """`delta flights from boston on friday` to `(filter (on friday) (filter (by delta) …))`.

    Up to two conditions in training, three or four in test. The condition that is said last is outermost.
    """
    number = random.randint(3, 4) if hard else random.randint(0, 2)
    chosen = sorted(random.sample(range(5), number))
    here, there = random.sample(CITIES, 2)
    line, day, part = map(random.choice, (LINES, DAYS, PARTS))
    said = (line, f"from {here}", f"to {there}", f"on {day}", f"in the {part}")
    conditions = (f"(by {line})", f"(origin {here})", f"(goal {there})", f"(on {day})", f"(time {part})")
    before, after = [said[i] for i in chosen if i == 0], [said[i] for i in chosen if i > 0]
    target = "(all flights)"
    for index in chosen:
        target = f"(filter {conditions[index]} {target})"
    start, wrap = random.choice(
        (("which", "{}"), ("the earliest of the", "(first {})"), ("count", "(size {})"))
    )
    return " ".join([start, *before, "flights", *after]), wrap.format(target)
