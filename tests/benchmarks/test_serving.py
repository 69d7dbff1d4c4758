"""The long run of benchmarks/serving.py, made short: bad requests among good ones change no answer."""

import asyncio

import psutil
import pytest

from ftor.model.model import Model
from serving import BODY, Server, Soak, load
from support.served import Served


@pytest.mark.slow
def test_bad_requests_among_good_ones(trained):
    model = Model.load(trained)
    sentences = [f"{first} {second}" for first in "abcdef" for second in "ghijk"]
    direct = model.predict(sentences, structure=False)
    expected = {sentence: one.text for sentence, one in zip(sentences, direct, strict=True)}
    with Served({"tiny": model}, body=BODY, seconds=2) as served:
        soak = Soak(Server(psutil.Process(), served.port), expected)
        asyncio.run(soak.run(300))
        assert asyncio.run(load(served.port, 2, 10, sentences))["per_s"] > 0
    assert (soak.wrong, soak.unexplained) == (0, 0)
    assert set(soak.statuses) == {"good 200", "malformed 422", "oversized 413", "slow 408", "dropped"}
    assert sum(soak.statuses.values()) == 300
