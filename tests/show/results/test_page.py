from pathlib import Path

import pytest

from ftor.errors import FtorError
from ftor.lab.ledger import append, read_ledgers
from ftor.lab.paper import TABLES
from ftor.lab.tables import FURTHER, further_tables
from ftor.lab.tables import tables as tables_of
from ftor.show.results.formats import as_markdown
from ftor.show.results.page import begin, update, updated
from support.made_up_runs import parsing_run, tables
from support.tiny import run_here

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def found():
    return tables([parsing_run("geo-iid", 0, 0.8, 0.9)])


def page(*names):
    return "# Results, between `<!-- ftor results: NAME -->` and `<!-- end -->`\n" + "".join(
        f"{begin(name)}\nold\n<!-- end -->\nprose\n" for name in names
    )


def test_tables_are_put_between_their_markers(tmp_path, found):
    path = tmp_path / "page.md"
    path.write_text(page(*TABLES), "utf-8")
    assert update(path, found.values())
    text = path.read_text("utf-8")
    shown = "".join(f"{begin(name)}\n{as_markdown(found[name])}\n<!-- end -->\nprose\n" for name in TABLES)
    assert text == page() + shown
    assert not update(path, found.values()), "a second time changes nothing"
    assert path.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_other_tables_stay(found):
    text = updated(page("mirror", "geo"), [found["geo"]], "page.md")
    assert text.startswith(page("mirror"))
    assert "old" not in text.removeprefix(page("mirror"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no markers", r"page.md: no marker <!-- ftor results: geo -->"),
        (page("Geo"), r"page.md:2: no table Geo; there are mirror, "),
        (page("geo", "geo"), r"page.md:6: the second marker <!-- ftor results: geo -->"),
        (
            page("geo") + "<!-- end -->",
            r"page.md:6: expected <!-- ftor results: TABLE -->, found <!-- end -->",
        ),
        (
            begin("geo") + "\n" + page("geo"),
            r"page.md:3: expected <!-- end -->, found <!-- ftor results: geo",
        ),
        (page("mirror") + begin("geo"), r"page.md: no <!-- end --> after <!-- .* geo -->"),
    ],
    ids=["missing", "unknown", "twice", "end alone", "no end between", "no end"],
)
def test_bad_markers_are_refused_and_nothing_is_changed(tmp_path, found, text, complaint):
    path = tmp_path / "page.md"
    path.write_text(text, "utf-8")
    with pytest.raises(FtorError, match=complaint):
        update(path, [found["geo"]])
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("name", [*TABLES, *FURTHER])
def test_the_page_is_up_to_date_with_the_ledgers(name):
    shown = (ROOT / "docs" / "results" / "index.md").read_text("utf-8")
    lines = read_ledgers(ROOT / "results")
    table = (tables_of(lines, [name]) if name in TABLES else further_tables(lines, [name]))[name]
    assert updated(shown, [table], "index.md") == shown, "run: ftor results --update docs/results/index.md"


def test_the_command_updates_a_page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page("geo"), "utf-8")
    arguments = ["results", "geo", "--ledgers", tmp_path, "--update", path]
    assert "updated" in run_here(*arguments).err
    assert "not run" in path.read_text("utf-8")
    again = run_here(*arguments)
    assert (again.code, again.out) == (0, "")
    assert "nothing to change" in again.err
    path.write_text(page("mirror"), "utf-8")
    refused = run_here(*arguments)
    assert (refused.code, refused.out) == (1, "")
    assert "no marker" in refused.err


def test_the_command_checks_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledgers, docs = tmp_path / "results", tmp_path / "docs" / "results"
    ledgers.mkdir()
    docs.mkdir(parents=True)
    nothing = run_here("results", "--check")
    assert (nothing.code, "no page below docs/ has a table" in nothing.err) == (1, True)
    (docs / "prose.md").write_text("no table")
    (docs / "index.md").write_text(page("geo", "mirror"), "utf-8")
    wrong = run_here("results", "--check")
    assert (wrong.code, wrong.out) == (1, "")
    assert "docs/results/index.md (mirror), docs/results/index.md (geo)" in " ".join(wrong.err.split())
    for name in ("geo", "mirror"):
        run_here("results", name, "--update", docs / "index.md")
    assert run_here("results", "--check").code == 0
    append(ledgers / "geo.jsonl", parsing_run("geo-iid", 0, 0.8, 0.9))
    again = run_here("results", "--check", "--update", docs / "index.md")
    assert (again.code, "index.md (geo)" in again.err, "mirror" in again.err) == (1, True, False)
    assert "80.0" not in (docs / "index.md").read_text("utf-8"), "--check writes nothing"
