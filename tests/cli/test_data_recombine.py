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


def test_a_grammar_takes_plain_tokens_apart(tmp_path):
    grammar = tmp_path / "filters.cfg"
    rules = ["Query -> Clause | Clause Query", "Clause -> 'get' Source | 'filter' Key Value"]
    words = ["Source : files | mails", "Key : owner | size | colour", "Value : @copy"]
    grammar.write_text("\n".join(rules + words), "utf-8")
    parts = [(f"by {one}", f"filter owner {one}") for one in ("anna", "paul")]
    parts += [(f"sized {one}", f"filter size {one}") for one in ("huge", "tiny")]
    parts += [(f"painted {one}", f"filter colour {one}") for one in ("red", "blue")]
    two = [(f"{a} {c}", f"{b} {d}") for a, b in parts for c, d in parts if b[:9] < d[:9]]
    rows = [f"show {one} {a}\tget {one} {b}" for one in ("files", "mails") for a, b in parts + two]
    path = write_lines(tmp_path / "a.tsv", *rows)
    finished = run_here("data", "recombine", path, "--count", "20", "--grammar", grammar)
    assert finished.code == 0
    targets = [line.split("\t")[1] for line in finished.out.splitlines()]
    assert max(target.count("filter") for target in targets) == 3
    longer = run_here("data", "recombine", path, "--count", "20", "--grammar", grammar, "--lists")
    targets = [line.split("\t")[1] for line in longer.out.splitlines()]
    assert sum(target.count("filter") == 3 for target in targets) >= 10
    assert run_here("data", "recombine", path, "--lists").code == 2


def test_targets_that_the_grammar_does_not_derive_are_counted(tmp_path):
    grammar = tmp_path / "clauses.cfg"
    grammar.write_text("Query -> 'get' Source\nSource : files | mails\n", "utf-8")
    rows = ["show files\tget files", "show mails\tget mails", "count files\tcount files"]
    path = write_lines(tmp_path / "a.tsv", *rows)
    some = run_here("data", "recombine", path, "--grammar", grammar)
    assert some.code == 0
    why = "word 1: expected 'get', found 'count'"
    counts = f"derives 2 of 3 targets; the first that it does not derive is {path}:3: {why}"
    assert counts in " ".join(some.err.split())
    path = write_lines(tmp_path / "b.tsv", *rows[2:], "count mails\tcount mails")
    none = run_here("data", "recombine", path, "--grammar", grammar)
    assert (none.code, none.out) == (1, "")
    reason = f"derives 0 of 2 targets; the first that it does not derive is {path}:1: {why}"
    assert reason in " ".join(none.err.split())
    assert "0 recombined pairs" not in none.err


COMMANDS = [f"open the {room} {thing}\t{{}}" for room in ("hall", "attic") for thing in ("door", "blind")]


def test_one_very_deep_program_does_not_stop_it(tmp_path):
    rows = [row.format(f"(f (open {' '.join(row.split()[2:4])}))") for row in COMMANDS]
    deep = "open all\t" + "(f " * 2_000 + "a" + ")" * 2_000
    finished = run_here("data", "recombine", write_lines(tmp_path / "a.tsv", *rows, deep), "--count", "5")
    assert finished.code == 0


def test_a_target_too_deep_for_the_trees_of_a_grammar_is_named(tmp_path):
    grammar = tmp_path / "open.cfg"
    words = ["Room : hall | attic", "Thing : door | blind"]
    grammar.write_text("\n".join(["Do -> 'f' Do | 'open' Thing Room | 'a'", *words]), "utf-8")
    rows = [row.format(f"f open {' '.join(row.split()[3:1:-1])}") for row in COMMANDS]
    deep = "open all\t" + "f " * 2_000 + "a"
    path = write_lines(tmp_path / "a.tsv", *rows, deep)
    finished = run_here("data", "recombine", path, "--count", "5", "--grammar", grammar)
    assert finished.code == 1
    assert "line 5: it is nested too deeply" in finished.err
