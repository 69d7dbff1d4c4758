import pytest

import ftor
from ftor.show.report import Question, report
from ftor.text.reading import read_pairs
from support.html import read_html


@pytest.fixture
def model(trained):
    return ftor.load(trained)


@pytest.fixture
def shown(model):
    """Give a function that reports about pairs and reads the page."""

    def show(pairs, examples=3, **question):
        evaluation = model.examine(pairs)
        return read_html(report(model, evaluation, Question("more.tsv", **question), examples))

    return show


@pytest.fixture
def pairs(data):
    return [pair for split in ("dev", "test") for pair in read_pairs(data / f"{split}.tsv")]
