"""`ftor data recombine`."""

from pathlib import Path

from support.tiny import run_here, write_lines

HOME = Path(__file__).parents[2] / "examples" / "home" / "programs" / "train.tsv"


def test_pairs_go_to_stdout_or_to_a_file(tmp_path):
    shown = run_here("data", "recombine", HOME, "--count", "5")
    assert shown.code == 0
    assert "5 recombined pairs; " in shown.err
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert len(rows) == 5
    assert all(target.startswith("(run (set (device ") for _, target in rows)
    written = run_here("data", "recombine", HOME, "--count", "5", "--out", tmp_path / "made.tsv")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "made.tsv").read_text() == shown.out


def test_the_seed_matters():
    texts = [run_here("data", "recombine", HOME, "--count", "5", "--seed", seed).out for seed in "001"]
    assert texts[0] == texts[1] != texts[2]


def test_pairs_of_plain_tokens_stand_in_others(tmp_path):
    parts = [f"{a} {b}" for a in "abc" for b in "xyz"]
    sources = parts + [f"{one} and {other}" for one, other in zip(parts, parts[1:] + parts[:1], strict=True)]
    rows = [f"{source}\t{source.replace('and', ';').upper()}" for source in sources]
    finished = run_here("data", "recombine", write_lines(tmp_path / "a.tsv", *rows), "--count", "5")
    assert finished.code == 0
    made = [line.split("\t") for line in finished.out.splitlines()]
    assert len(made) == 5
    assert all(source.replace("and", ";").upper() == target for source, target in made)
