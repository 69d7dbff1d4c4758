"""The benchmark of growth: fitted exponents, one real row, and the documented table."""

import re
from pathlib import Path

import pytest

import growth
import timing

DOCS = Path(__file__).parents[2] / "docs" / "concepts" / "model.md"


@pytest.mark.parametrize("exponent", [0, 1, 2.5, 4])
def test_the_exponent_of_a_power_is_found(exponent):
    sizes = [10, 20, 40, 80]
    assert timing.fitted_exponent(sizes, [3 * size**exponent for size in sizes]) == pytest.approx(exponent)


def measured(time: float, memory: float) -> dict[str, object]:
    documented = {"time_documented": 3, "memory_documented": 2}
    return {"what": "search", "size": "l", "time": time, "memory": memory, **documented}


def test_growth_above_the_documented_is_a_complaint():
    assert growth.too_fast(measured(2.1, 2.2)) == []
    assert growth.too_fast(measured(3.5, 1.0)) == ["search: time grows as l^3.50, documented is 3"]
    assert len(growth.too_fast(measured(3.5, float("nan")))) == 2


def test_a_row_is_measured(monkeypatch):
    def peaks(prepare, warm_up, cases):  # a new process takes seconds
        for case in [warm_up, *cases]:
            prepare(*case)()
        return [1.0, 4.0]

    monkeypatch.setattr(timing, "peaks_megabytes", peaks)
    row = next(row for row in growth.ROWS if row.size == "grammar rules")
    found = growth.measure(row._replace(sizes=(10, 20)), repeats=1)
    assert found["memory"] == pytest.approx(2)
    assert isinstance(found["time"], float)
    assert min(found["seconds"]) > 0
    assert growth.too_fast(found)[-1].startswith("best string of a grammar: memory grows")


def test_grammars_have_the_wanted_number_of_rules():
    found = growth.grammar_of(12)
    assert "12 rules" in str(found)
    assert found.accepts(["w3", "w0", "w1"])
    assert not found.accepts(["w0", "w2"])


def test_the_docs_have_the_same_exponents():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| (\d) \| (\d) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert rows == [(row.what, row.size, f"{row.time:g}", f"{row.memory:g}") for row in growth.ROWS]
