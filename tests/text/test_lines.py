import codecs
import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.reporting import Report
from ftor.text import lines
from ftor.text.lines import LONGEST, line_problem, lines_between, stream_lines


class Messages(Report):
    def __init__(self):
        self.warned = []

    def warn(self, text):
        self.warned.append(text)


def read(content):
    report = Messages()
    found = list(stream_lines(io.BytesIO(content), "f", report))
    return [(line.number, line.text) for line in found], report.warned


def all_at_once(raw):
    """The oracle: lines of the whole text, as numbered texts, and how many are not UTF-8."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raw = raw.decode("utf-16", "replace").encode()
    if b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")
    parts = raw.removeprefix(codecs.BOM_UTF8).split(b"\n")
    if not parts[-1]:  # after the end of the last line, or in an empty file
        parts.pop()
    texts, guessed = [], 0
    for part in parts:
        try:
            texts.append(part.rstrip(b"\r").decode())
        except UnicodeDecodeError:
            texts.append(part.rstrip(b"\r").decode("cp1252", "replace"))
            guessed += 1
    return list(enumerate(texts, 1)), guessed


PIECES = [
    b"a",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xc3\xbc",
    b"\xfc",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\x85",
    b"\0",
]
MARKS = [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE]


@given(st.sampled_from(MARKS), st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
def test_a_stream_has_the_lines_of_the_whole_text(mark, content):
    found, warned = read(mark + content)
    wanted, guessed = all_at_once(mark + content)
    assert found == wanted
    assert sum("not UTF-8; such lines" in text for text in warned) == (guessed > 0)
    assert (f"f: {guessed} lines are not UTF-8" in warned) == (guessed > 1)


@given(st.lists(st.text("ab \n", max_size=30), max_size=4).map("".join))
def test_a_long_line_is_cut_and_the_others_are_whole(content):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONGEST", 5)
        found, _ = read(content.encode())
        problems = [line_problem(text) for _, text in found]
    wanted = [text for _, text in all_at_once(content.encode())[0]]
    assert [text for _, text in found] == [text[:6] for text in wanted]
    assert problems == ["longer than 5 characters" if len(text) > 5 else "" for text in wanted]


@given(st.lists(st.sampled_from([*PIECES, b"\n"]), max_size=40).map(b"".join), st.data())
def test_any_part_of_a_file_can_be_read_alone(content, data):
    content = codecs.BOM_UTF8 * data.draw(st.booleans()) + content + b"\nend"
    found = list(stream_lines(io.BytesIO(content), "f", Report()))
    assert found[-1].end == len(content)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(found)))) | {len(found)})
    begin, texts = 0, []
    for first, last in zip([0, *cuts], cuts, strict=False):
        texts.append(lines_between(io.BytesIO(content), begin, found[last - 1].end))
        assert len(texts[-1]) == last - first
        begin = found[last - 1].end
    assert [text for some in texts for text in some] == [line.text for line in found]


@pytest.mark.parametrize(
    ("content", "texts"),
    [(b"", []), (b"a", ["a"]), (b"a\n", ["a"]), (b"a\n\n\n", ["a", "", ""]), (b"\r\n\n ", ["", "", " "])],
)
def test_blank_lines_at_the_end_are_lines(content, texts):
    assert [text for _, text in read(content)[0]] == texts


def test_nul_is_no_text():
    assert line_problem("a\0b") == "not a line of text"


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.write(b"x" * (24 * LONGEST) + b"\n")  # a line that is never held as a whole
        file.writelines([b"\n"] * 20_000)
        file.writelines([b"a b c d e f g h\n"] * 20_000)
    tracemalloc.start()
    with path.open("rb") as file:
        count = sum(1 for _ in stream_lines(file, "f", Messages()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40_001
    assert peak < 16 * LONGEST < path.stat().st_size
