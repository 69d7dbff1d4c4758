"""Recombined pairs of the battery are right: a race chooses by them and trains on them."""

import pytest

import battery
from ftor.text.reading import Pair
from ftor.text.recombining import recombined
from oracles import battery as oracle

MEANINGS = {
    "home": oracle.home,
    "scan": oracle.scan,
    "postfix": oracle.postfix,
    "numbers": oracle.numbers,
}
WRONG = 0.01
"""Share of the made pairs that may be wrong."""


@pytest.mark.parametrize("task", MEANINGS)
@pytest.mark.parametrize("share", [1.0, 0.75], ids=["all pairs", "pairs of a race"])
def test_made_pairs_are_right_and_some_are_longer(task, share):
    meaning = MEANINGS[task]
    train, _ = battery.find(task, "a").split(0)
    assert all(meaning(source) == target for source, target in train)
    train = train[: round(share * len(train))]
    pairs = [Pair(tuple(s.split()), tuple(t.split()), line) for line, (s, t) in enumerate(train, 1)]
    made = recombined(pairs, None, len(pairs), seed=5, iterations=30)
    wrong = [pair for pair in made if meaning(" ".join(pair.source)) != pair.target_text]
    assert len(made) > len(pairs) / 2
    assert len(wrong) <= WRONG * len(made)
    assert any(len(pair.target) > max(len(one.target) for one in pairs) for pair in made)
