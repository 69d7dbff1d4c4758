"""Reports: what is in them, and that they can be read without a network, a mouse or eyes."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from ftor.metrics.significance import share
from ftor.show.report import Question, report
from ftor.show.report.elements import POLICY
from ftor.text.reading import Pair, read_pairs
from support.html import read_html


def table(page, caption):
    """The rows of the table with a caption that begins so."""
    (found,) = [one for one in page.all("table") if one.all("caption")[0].text.startswith(caption)]
    rows = found.all("tbody")[0].all("tr")
    return [[cell.text for cell in row.children] for row in rows]


class TestForm:
    def test_nothing_is_loaded(self, model, pairs):
        text = report(model, model.examine(pairs), Question("more.tsv"))
        page = read_html(text)
        assert not page.all("script") + page.all("link") + page.all("img") + page.all("iframe")
        assert not re.search(r"https?:|url\(|@import|\ssrc=", text)
        policies = [one.attributes.get("content") for one in page.all("meta")]
        assert POLICY in policies
        assert "width=device-width, initial-scale=1" in policies

    def test_links_lead_to_places_on_the_page(self, shown, pairs):
        page = shown(pairs)
        ids = [one.attributes["id"] for one in page.everything() if "id" in one.attributes]
        links = [one.attributes["href"] for one in page.all("a")]
        assert max(Counter(ids).values()) == 1
        assert len(links) > 5
        assert {link[0] for link in links} == {"#"}
        assert {link[1:] for link in links} <= set(ids)

    def test_headings_and_captions(self, shown, pairs):
        page = shown(pairs)
        assert [one.text for one in page.all("h1")] == ["transducer on more.tsv"]
        levels = [int(one.name[1]) for one in page.everything() if re.fullmatch("h[1-6]", one.name)]
        assert all(later <= level + 1 for level, later in pairwise(levels))
        assert all(len(one.all("caption")) == 1 for one in page.all("table"))
        assert all(one.attributes.get("scope") for one in page.all("th"))
        assert page.all("html")[0].attributes["lang"] == "en"

    def test_pictures_have_texts(self, shown, pairs):
        pictures = shown(pairs).all("svg")
        assert pictures
        assert {one.attributes["role"] for one in pictures} == {"img"}
        assert all("from" in one.attributes["aria-label"] for one in pictures)

    def test_texts_are_no_markup(self, shown):
        odd = '<script>alert("1")</script>'
        page = shown([Pair((odd, "&amp;"), ("</style>", "<b>"), 1)])
        assert not page.all("script") + page.all("b")
        assert odd in page.text
        assert "&amp;" in page.text


class TestContent:
    def test_the_summary(self, shown, model, pairs):
        right = model.examine(pairs).right
        estimate = share(right)
        summary = shown(pairs).all("section")[0].text
        assert f"exact match {100 * estimate.value:.1f} %" in summary
        assert f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}" in summary
        assert f"wrong answers {sum(~right)} of {len(pairs)}" in summary

    def test_lengths(self, shown, pairs, data):
        page = shown(pairs, training=read_pairs(data / "train.tsv"))
        rows = table(page, "Right answers by the number of words in the sentence. ↑ is longer")
        counts = Counter(len(pair.source) for pair in pairs)
        assert [(row[0], int(row[-1])) for row in rows] == [
            (f"{length} ↑" if length > 4 else str(length), counts[length]) for length in sorted(counts)
        ]

    def test_without_training_pairs_nothing_is_longer(self, shown, pairs):
        page = shown(pairs, missing="they are elsewhere")
        assert "↑" not in page.text
        assert "Combinations of parts are not shown, because they are elsewhere." in page.text

    def test_what_is_new(self, shown):
        training = [Pair(("a", "b"), ("a", "b", "b", "a"), 1)]
        pairs = [
            Pair(("a", "b"), ("a", "b", "b", "a"), 1),
            Pair(("a", "b"), ("a", "a"), 2),
            Pair(("a", "new"), ("a", "b"), 3),
            Pair(("a", "name"), ("a", "name"), 4),
        ]
        rows = table(shown(pairs, training=training), "Right answers by what the training pairs lack")
        assert {row[0]: row[-1] for row in rows} == {
            "a new part in the gold": "1",  # the model cannot copy, so the name is one
            "a new word": "1",
            "a new combination of parts": "1",
            "nothing new": "1",
        }

    def test_classes_of_mistakes(self, shown, model, pairs):
        mistakes = Counter(filter(None, model.examine(pairs).mistakes))
        page = shown(pairs, examples=1)
        rows = table(page, f"{mistakes.total()} wrong answers by class")
        assert {row[0]: int(row[2]) for row in rows} == dict(mistakes)
        assert len(page.all("article")) == len(mistakes)
        assert len(page.all("svg")) == len(mistakes)

    def test_no_examples(self, shown, pairs):
        page = shown(pairs, examples=0)
        assert not page.all("article") + page.all("svg")
        assert page.all("h3")

    def test_everything_is_right(self, shown, model, pairs):
        pairs = [pair for pair, right in zip(pairs, model.examine(pairs).right, strict=True) if not right]
        predictions = model.predict([pair.source for pair in pairs])
        golds = [replace(pair, target=one.tokens) for pair, one in zip(pairs, predictions, strict=True)]
        page = shown(golds)
        assert "Every answer is right." in page.text
        assert "Words behind" not in page.text

    def test_differences_are_marked(self, shown, model):
        (prediction,) = model.predict(["a b"])
        page = shown([Pair(("a", "b"), (*prediction.tokens, "c"), 7)])
        example = page.all("article")[0]
        assert [one.text for one in example.all("mark")] == ["c"]
        assert "line 7" in example.text
        assert table(page, "The most frequent edits") == [["c", "–", "1"]]

    def test_words_behind_mistakes(self, shown, model):
        sentences = [["a", "b", "c"]] * 6 + [["a", "d"]] * 6
        outputs = [one.tokens for one in model.predict(sentences)]
        golds = [
            (*output, "k") if "c" in source else output
            for source, output in zip(sentences, outputs, strict=True)
        ]
        page = shown([Pair(tuple(source), gold, 1) for source, gold in zip(sentences, golds, strict=True)])
        rows = table(page, "Words of sentences that wrong answers have more often than chance")
        assert [row[:3] for row in rows] == [["b", "6", "6"], ["c", "6", "6"]]

    def test_groups_of_the_task(self, model):
        pairs = [Pair(("a", "b"), ("GET", "a", "TOP", "1"), 1), Pair(("a",), ("GET", "b"), 2)]
        model.config = model.config.model_copy(
            update={"data": model.config.data.model_copy(update={"task": "okapi"})}
        )
        page = read_html(report(model, model.examine(pairs), Question("more.tsv")))
        rows = table(page, "Right answers by parameters")
        assert [(row[0], row[-1]) for row in rows] == [("1", "1"), ("2", "1")]
        assert "clause accuracy" in page.all("section")[0].text

    def test_very_long_outputs_are_cut(self, shown, model):
        letters = ("a", "b", "c") * 30
        page = shown([Pair(letters, ("k",) * 400, 1), Pair(("a",), ("k", "k"), 2)])
        example = (
            page.all("article")[0] if "line 1" in page.all("article")[0].text else page.all("article")[1]
        )
        assert "… and 250 more" in example.text
