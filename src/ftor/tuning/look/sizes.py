"""Settings that follow from the number and the lengths of the pairs."""

import math
from collections import Counter
from collections.abc import Sequence

from ftor.reporting import counted
from ftor.text.lengths import percentile
from ftor.text.reading import Pair
from ftor.tuning.look.examples import lines_of
from ftor.tuning.look.findings import Fertility, Finding, Part, Value
from ftor.tuning.look.linking import Links

MOST = 0.99
"""Share of the pairs, or of the words, that a fertility has to be enough for."""
LEAST_FERTILITY = 4
MOST_FERTILITY = 40
STEPS = 6000
"""About so many gradient steps train a small task."""
MOST_EPOCHS, LEAST_EPOCHS = 200, 20
FEW_PAIRS = 3000
SMALL: dict[str, Value] = {
    "model.width": 64,
    "model.scorer_hidden": 128,
    "model.fertility_hidden": 64,
    "model.decoder_hidden": 64,
    "training.learning_rate": 0.002,
}
"""A network for few pairs. It learns as much as a larger one, in a third of the time."""
CUBES = 4e7
"""Most Σ l³ of a batch: about 500 MB for reorderings."""


def needed_fertility(source: int, target: int) -> int:
    """The least d such that a source of so many tokens and a start token reaches the target."""
    return math.ceil(target / (source + 1))


def fertility(pairs: Sequence[Pair], links: Sequence[Links]) -> Fertility:
    """How many copies of each source position the targets need."""
    needed = sorted(needed_fertility(len(pair.source), len(pair.target)) for pair in pairs)
    of_words = sorted(
        count
        for one in links
        for position, count in Counter(position for position in one.positions if position).items()
    )
    without_start = sorted(math.ceil(len(pair.target) / len(pair.source)) for pair in pairs)
    return Fertility(
        all=needed[-1],
        most=percentile(needed, MOST),
        without_start=percentile(without_start, MOST),
        of_a_word=percentile(of_words or [1], MOST),
    )


def max_fertility(need: Fertility, pairs: Sequence[Pair], part: Part) -> Finding:
    """The value of `model.max_fertility`, and why. The start token is one of the positions that it counts."""
    wanted = need.all if need.all <= 2 * need.most else need.most
    value = min(max(wanted, need.without_start, need.of_a_word, LEAST_FERTILITY), MOST_FERTILITY)
    text = (
        f"Targets have up to {counted(need.all, part)} for each source token ({need.without_start} without "
        f"the start token, in 99 % of the pairs); single words write up to {need.of_a_word}."
    )
    beyond = [pair for pair in pairs if needed_fertility(len(pair.source), len(pair.target)) > value]
    if beyond:
        text += f" Left out of training: {counted(len(beyond), 'pair')} with more than {value}."
    return Finding(
        kind="fertility",
        text=text,
        warning=bool(beyond),
        settings={"model.max_fertility": value, "data.start_token": True},
        **lines_of(beyond),
        left_out=len(beyond),
    )


def by_size(pairs: Sequence[Pair], part: Part) -> Finding:
    """Batch size, epochs and width for training pairs whose targets are in units if they are programs."""
    count, longest = len(pairs), max(len(pair.target) for pair in pairs)
    batch = 8 if count < 200 else 16 if count < FEW_PAIRS else 32
    batch = max(1, min(batch, int(CUBES // longest**3)))
    epochs = round(STEPS * batch / count)
    settings: dict[str, Value] = {
        "training.batch_size": batch,
        "training.epochs": min(max(epochs, LEAST_EPOCHS), MOST_EPOCHS),
    }
    if count < FEW_PAIRS:
        settings |= SMALL
    text = f"{counted(count, 'training pair')}, the longest target has {counted(longest, part)}."
    if count > 1:
        return Finding(kind="size", text=text, settings=settings)
    advice = "Give more pairs: from one pair nothing can be learnt."
    return Finding(kind="size", text=text, warning=True, settings=settings, advice=advice, **lines_of(pairs))
