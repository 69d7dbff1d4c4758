"""Views and pictures of predictions in all orders of their steps, made by hand."""

import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from ftor.model.prediction import Prediction, Step, Structure
from ftor.show.explain import picture, view
from ftor.show.explain.labels import shortened
from ftor.show.explain.tree import draw_tree
from ftor.trees import Node, PermutationTree


def copying(fertilities):
    """(n, l), each token copied as often as said."""
    return np.repeat(np.eye(len(fertilities)), fertilities, axis=1)


def moving(tree):
    return np.eye(tree.length)[:, np.argsort(tree.permutation)]


def softened(marginals):
    """The same columns, each with a tenth of its mass spread out."""
    return 0.9 * marginals + 0.1 / len(marginals)


def predicted(source, output, steps, fertilities, tree):
    alignment = np.linalg.multi_dot([np.eye(len(source)), *(step.marginals for step in steps)])
    structure = Structure(tuple(steps), alignment, tuple(fertilities), tree)
    return Prediction(tuple(source), tuple(output), np.log(0.25), np.log(0.5), structure)


def fertility_first():
    tree, copies = PermutationTree.parse("(△ (∧ show₁ show₂) (∧ flights to))")
    output = ["_flight", "_to", "answer", "list"]
    fertility = Step("fertility", softened(copying([2, 1, 1])), tuple(copies))
    reordering = Step("reordering", moving(tree), tuple(output))
    return predicted(["show", "flights", "to"], output, [fertility, reordering], [2, 1, 1], tree)


def reordering_first():
    tree, source = PermutationTree.parse("(∧ the (△ longest river))")
    output = ["river", "long", "est"]
    reordering = Step("reordering", moving(tree), ("the", "river", "longest"))
    fertility = Step("fertility", softened(copying([0, 1, 2])), tuple(output))
    return predicted(source, output, [reordering, fertility], [0, 2, 1], tree)


def fertility_alone():
    step = Step("fertility", copying([1, 3]), ("a", "b", "b", "b"))
    return predicted(["x", "y"], step.labels, [step], [1, 3], None)


def mirrored(size):
    """As many tokens copied twice, mirrored: the tree is a chain of alternating nodes."""
    source = [f"w{i}" for i in range(size)]
    copies = tuple(f"w{i}{copy}" for i in range(size) for copy in "₁₂")
    tree = PermutationTree(2 * size, tuple(Node(i, i + 1, 2 * size, i % 2) for i in range(2 * size - 1)))
    output = tuple(source + source[::-1])
    steps = [Step("fertility", copying([2] * size), copies), Step("reordering", moving(tree), output)]
    return predicted(source, output, steps, [2] * size, tree)


ORDERS = [fertility_first, reordering_first, fertility_alone]


def shown(prediction, width=80):
    """The view's lines as in a pipe."""
    console = Console(width=width, file=io.StringIO())
    console.print(view(prediction))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def section(lines, name):
    """The lines below the one that begins with the name, up to an empty one."""
    start = next(place for place, line in enumerate(lines) if line.startswith(name)) + 1
    return lines[start : lines.index("", start) if "" in lines[start:] else None]


def program():
    """A program in two units, the second of which is copied."""
    prediction = fertility_alone()
    structure = replace(
        prediction.structure, copied=(False, False, False, True), written=("( f … )", "( g … … )", "b", "b")
    )
    return replace(prediction, structure=structure, program="(f (g b b))")


class TestView:
    def test_copies_and_units_are_marked(self):
        lines = shown(program())
        assert any(line.split() == ["units", "a", "b", "b", "b"] for line in lines)
        assert any(line.split() == ["program", "(f", "(g", "b", "b))"] for line in lines)
        table = [line.split() for line in section(lines, "alignment")]
        assert ["b", "2", "y", "1.00", "copied", "b"] in [row[:6] for row in table]
        assert ["a", "1", "x", "1.00", "(", "f", "…", ")"] in [row[:8] for row in table]
        assert not any("copied" in line for line in shown(fertility_alone()))

    def test_fertility_first(self):
        lines = shown(fertility_first())
        assert lines[:6] == [
            "source       show flights to",
            "fertilities  show×2 flights×1 to×1",
            "copies       show₁ show₂ flights to",
            "reordered    flights to show₁ show₂",
            "output       _flight _to answer list",
            "probability  0.25 (of this length: 0.5)",
        ]
        assert section(lines, "reordering tree") == [
            "△ swap",
            "├─∧ keep  show₁ show₂",
            "└─∧ keep  flights to",
        ]
        assert section(lines, "alignment") == [
            "output   from           P      1 2 3",
            "_flight     2  flights  0.93    ██",
            "_to         3  to       0.93      ██",
            "answer      1  show     0.93  ██",
            "list        1  show     0.93  ██",
        ]

    def test_reordering_first(self):
        lines = shown(reordering_first())
        assert "reordered    the river longest" in lines
        assert "fertilities  the×0 longest×2 river×1" in lines
        assert section(lines, "reordering tree") == ["∧ keep  the", "└─△ swap  longest river"]
        assert section(lines, "alignment")[3] == "est        2  longest  0.93    ██"

    def test_fertility_alone_has_no_tree(self):
        text = "\n".join(shown(fertility_alone()))
        assert "fertilities  x×1 y×3" in text
        assert "copies" not in text
        assert "tree" not in text

    def test_shades_say_how_likely(self):
        step = Step("fertility", np.array([[0.1, 0.25, 0.5], [0.9, 0.75, 0.5]]), ("a", "b", "c"))
        prediction = predicted(["x", "y"], step.labels, [step], [1, 2], None)
        rows = section(shown(prediction), "alignment")
        assert [row[-4:] for row in rows[1:]] == ["  ██", "░░▓▓", "▒▒▒▒"]

    def test_heat_map_only_where_it_fits(self):
        prediction = mirrored(20)
        assert any("█" in line for line in shown(prediction, width=80))
        assert not any("█" in line for line in shown(prediction, width=60))
        assert "w19       20  w19  1.00" in shown(prediction, width=60)

    def test_no_line_is_wider_than_the_terminal(self):
        for width in (60, 80, 200):
            assert max(map(len, shown(mirrored(20), width))) <= width

    def test_tokens_are_not_taken_for_markup(self):
        step = Step("fertility", copying([1, 1]), ("[/bold]", ":smile:"))
        prediction = predicted(["[red]", "b"], step.labels, [step], [1, 1], None)
        text = "\n".join(shown(prediction))
        assert "[red]×1" in text
        assert "[/bold] :smile:" in text

    def test_colours_only_in_a_terminal(self):
        terminal = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
        terminal.print(view(fertility_first()))
        assert "\x1b[" in terminal.file.getvalue()
        assert "\x1b" not in "\n".join(shown(fertility_first()))

    def test_long_tokens_are_shortened(self):
        step = Step("fertility", copying([1]), ("z" * 50,))
        text = "\n".join(shown(predicted(["y" * 50], step.labels, [step], [1], None)))
        assert "y" * 20 + "…yyy" in text
        assert "y" * 21 not in text
        assert "z" * 21 not in text


class TestTree:
    def lines(self, text, width=80):
        tree, leaves = PermutationTree.parse(text)
        return [str(line) for line in draw_tree(tree, leaves, width)]

    def test_neighbours_of_one_kind_are_one_node(self):
        assert self.lines("(∧ (∧ a b) (∧ c (∧ d e)))") == ["∧ keep  a b c d e"]
        assert self.lines("(△ (△ a b) (△ c d))") == ["△ swap  a b c d"]

    def test_leaves_between_inner_nodes(self):
        assert self.lines("(∧ (∧ (△ a b) (∧ c d)) (∧ (△ e (∧ f g)) h))") == [
            "∧ keep",
            "├─△ swap  a b",
            "├─c d",
            "├─△ swap  e",
            "│ └─∧ keep  f g",
            "└─h",
        ]

    def test_a_single_leaf(self):
        assert self.lines("word") == ["word"]

    def test_long_runs_of_leaves_are_wrapped(self):
        leaves = [f"leaf{i}" for i in range(9)]
        text = "(△ " + "".join(f"(∧ {leaf} " for leaf in leaves[:-1]) + leaves[-1] + ")" * 8 + " z)"
        assert self.lines(text, width=32) == [
            "△ swap",
            "├─∧ keep  leaf0 leaf1 leaf2",
            "│         leaf3 leaf4 leaf5",
            "│         leaf6 leaf7 leaf8",
            "└─z",
        ]

    @pytest.mark.parametrize("width", [20, 40, 80])
    def test_what_is_too_deep_is_continued_below(self, width):
        size = 300
        tree = PermutationTree(size, tuple(Node(i, i + 1, size, i % 2) for i in range(size - 1)))
        lines = [str(line) for line in draw_tree(tree, [f"w{i}" for i in range(size)], width)]
        assert max(map(len, lines)) <= max(width, 40)
        continued = [line for line in lines if "continued as" in line]
        begun = [line for line in lines if line.startswith("(")]
        assert [line.split()[-1] for line in continued] == [line.split()[0] for line in begun]
        assert [word for line in lines for word in line.split() if word[0] == "w"] == [
            f"w{i}" for i in range(size)
        ]


class TestPicture:
    def test_copies_are_green_and_the_program_is_below(self, tmp_path):
        picture(program(), tmp_path / "a.svg")
        text = (tmp_path / "a.svg").read_text()
        assert "<!-- program  (f (g b b)) -->" in text
        assert "<!-- copied from the source -->" in text
        assert text.count("fill: #1a7f37") == 2  # the word and the note

    @pytest.mark.parametrize("order", ORDERS)
    def test_png(self, order, tmp_path):
        picture(order(), tmp_path / "a.png")
        with Image.open(tmp_path / "a.png") as image:
            assert image.format == "PNG"
            assert 400 < min(image.size) < max(image.size) < 2000
            pixels = np.asarray(image.convert("RGB")).reshape(-1, 3).astype(int)
        assert (pixels == 255).all(axis=1).mean() > 0.5
        for colour, present in (
            ((0x1B, 0x5E, 0x9E), True),
            ((0xC4, 0x51, 0x1B), order is not fertility_alone),
        ):
            assert (abs(pixels - colour).max(axis=1) < 10).any() == present

    @pytest.mark.parametrize("order", ORDERS)
    def test_svg(self, order, tmp_path):
        prediction = order()
        picture(prediction, str(tmp_path / "a.SVG"))
        text = (tmp_path / "a.SVG").read_text()
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        labels = {label for step in prediction.structure.steps for label in step.labels}
        for label in {*prediction.source, *prediction.tokens, *labels}:
            assert f"<!-- {label} -->" in text
        for step in prediction.structure.steps:
            assert f"<!-- {step.name} -->" in text
        assert ("copies" in text) == (order is fertility_first)
        assert ("<!-- reordered -->" in text) == (order is reordering_first)

    def test_weights_below_two_percent_are_not_drawn(self, tmp_path):
        def lines(weight):
            step = Step("fertility", np.array([[1 - weight, 0.0], [weight, 1.0]]), ("a", "b"))
            picture(predicted(["x", "y"], step.labels, [step], [1, 1], None), tmp_path / "a.svg")
            drawn = ElementTree.parse(tmp_path / "a.svg").iterfind(".//*[@id='LineCollection_1']/")
            return [path.get("style") for path in drawn if path.tag.endswith("path")]

        assert len(lines(0.019)) == 2
        assert len(lines(0.021)) == 3
        assert any("stroke-opacity: 0.4" in style for style in lines(0.4))

    @pytest.mark.parametrize("size", [1, 30], ids=["2 output tokens", "60 output tokens"])
    def test_sizes(self, size, tmp_path):
        picture(mirrored(size), tmp_path / "a.svg")
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        width, height = (float(root.get(side).removesuffix("pt")) / 72 for side in ("width", "height"))
        assert 2 < width < 20
        assert 2 < height < 20

    def test_any_token_can_be_drawn(self, tmp_path):
        source = ["<s>", "a&b", "--", "$x$", "世界", "x_1^2", "\\frac", "long" * 20]
        step = Step("fertility", copying([1] * len(source)), tuple(source))
        prediction = predicted(source, source, [step], [1] * len(source), None)
        picture(prediction, tmp_path / "a.png")
        picture(prediction, tmp_path / "a.svg")
        text = (tmp_path / "a.svg").read_text()
        ElementTree.fromstring(text)
        for label in ("$x$", "x_1^2", "□□", "longlonglong…ong"):
            assert f"<!-- {label} -->" in text

    def test_settings_of_matplotlib_are_neither_used_nor_changed(self, tmp_path):
        picture(fertility_first(), tmp_path / "a.svg")
        with mpl.rc_context(
            {"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "none", "axes.grid": True}
        ):
            before = dict(mpl.rcParams)
            picture(fertility_first(), tmp_path / "b.svg")
            assert dict(mpl.rcParams) == before
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


class TestErrors:
    def test_without_a_structure(self, tmp_path):
        prediction = Prediction(("a",), ("b",), -1.0, -0.5)
        with pytest.raises(ValueError, match="has no structure"):
            view(prediction)
        with pytest.raises(ValueError, match="has no structure"):
            picture(prediction, tmp_path / "a.png")

    def test_no_output(self, tmp_path):
        step = Step("fertility", np.zeros((1, 0)), ())
        with pytest.raises(ValueError, match="has no output token"):
            picture(predicted(["a"], [], [step], [0], None), tmp_path / "a.png")


def test_shortened_tokens_keep_their_ends():
    assert shortened("intersection₁", 13) == "intersection₁"
    assert shortened("intersection₁", 12) == "intersec…on₁"
