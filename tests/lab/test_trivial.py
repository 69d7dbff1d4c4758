"""Outputs that need no model."""

import pytest

from ftor.lab.trivial import evaluate_trivial
from ftor.text.reading import read_pairs

pytest.importorskip("pycocoevalcap")


def test_copies_of_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    (tmp_path / "a.tsv").write_text("a b c d ; b\ta b c d\nx y z w ; x\ty z w x\n")
    metrics = evaluate_trivial("style", read_pairs(tmp_path / "a.tsv", emphasis=True))
    copy, all_but_last = metrics.values()
    assert copy.exact_match == 0.5
    assert copy.scores["BLEU-1"] == pytest.approx(1)
    assert all_but_last.length_error == 1
    assert all_but_last.scores["BLEU-1"] == pytest.approx(2.718281828459045 ** (1 - 8 / 6))
