"""The page of all times, from recorded figures."""

import json
import sys

import performance

MACHINE = {
    **{"processor": "EPYC", "cores": 2, "threads": 1, "python": "3.11", "torch": "2.13", "load_average": 0.1}
}
ARITHMETIC = {
    "what": "mirror epoch",
    **{
        "seconds": 4.0,
        "gflop": 174.0,
        "mm_gflops": 87.0,
        "work_seconds": 2.0,
        "ratio": 2.0,
        "products": 40.0,
    },
}
GROWTH = {
    **{"what": "search", "size": "l", "time": 2.13, "time_documented": 3},
    **{"memory": 1.94, "memory_documented": 2},
}
FILES = {
    "arithmetic": {"machine": MACHINE, "rows": [{**ARITHMETIC, "what": "reordering"}, ARITHMETIC]},
    "latency": {"machine": MACHINE, "mirror, ms": {"answer": 5.71, "with structure": 10.7}},
    "import_time": {
        "machine": {**MACHINE, "threads": 2},
        "seconds": {"import torch": 1.5, "import ftor.nn, after torch": 0.05},
    },
    "growth": {"machine": MACHINE, "growth": [GROWTH]},
}


def test_every_row_has_its_time_work_and_ratio():
    lines = performance.page(FILES).splitlines()
    assert "| mirror epoch | 4 s | 2 s | 2.0 | 2.0 × its work | 39.5 s (two threads) |" in lines
    assert any(line.endswith("| 40 products of 1600² | 20 products of 1600² | 2.0 | 0.58 | 67 × as long "
                             "(published algorithm in torch) |") for line in lines)  # fmt: skip
    assert "| one sentence, mirror, 10 words | 5.7 ms | | | 4 ms | not measured |" in lines
    assert "| `import ftor.nn` beyond torch's own | 0.05 s | | | 0.06 s | not measured |" in lines
    assert "| search | l | 2.1 of 3 | 1.9 of 2 |" in lines
    assert "- import_time: EPYC, 2 cores, 2 threads, load 0.1, Python 3.11, torch 2.13" in lines


def test_what_is_missing_is_said():
    lines = performance.page(FILES).splitlines()
    assert "| Geoquery epoch | not measured | | | 2.0 × its work | 5 s (two threads) |" in lines
    assert len([line for line in lines if "| not measured | |" in line]) == 8
    assert "| the same, kernels that a wheel brings | not measured | | | 3 s | not measured |" in lines


def test_the_page_is_written(tmp_path, monkeypatch):
    for name, figures in FILES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(figures))
    out = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["performance", "--figures", str(tmp_path), "--out", str(out)])
    performance.main()
    assert out.read_text("utf-8") == performance.page(FILES)
