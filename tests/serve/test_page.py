"""The page in a real browser: an answer and how it came about, by mouse and by keyboard."""

import shutil
from pathlib import Path

import pytest

from ftor.model.model import Model
from support.pages import ROOT
from support.served import Served

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = [
    *("--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(trained):
    models = {"tiny": Model.load(trained), "lstm": Model.load(ROOT / "tests/model/saved/0.1.0/lstm")}
    with Served(models) as server:
        yield server


def is_problem(message):
    """Whether a message of the console is an error other than a refused request."""
    return message.type == "error" and "the server responded with a status of 422" not in message.text


@pytest.fixture
def page(browser, served):
    """A page without errors, which asks no other server for anything."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    problems, elsewhere = [], []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if is_problem(message) else None)
    opened.on(
        "request",
        lambda request: None if request.url.startswith(served.url) else elsewhere.append(request.url),
    )
    opened.goto(served.url)
    opened.wait_for_selector("#n-best option", state="attached")
    yield opened
    opened.close()
    assert (problems, elsewhere) == ([], [])


def ask(page, sentence):
    page.fill("#sentence", sentence)
    page.press("#sentence", "Enter")
    page.locator("#status", has_text="Answered").wait_for()


def lit(page, column):
    """The labels of a column of the flow that are lit."""
    return page.eval_on_selector_all(
        f"#flow g[aria-label='{column}'] .lit > text:first-of-type",
        "texts => texts.map((text) => text.textContent)",
    )


def test_an_answer_and_how_it_came_about(page, served):
    ask(page, "a b c")
    (record,) = served.predict("a b c", structure=True).json["predictions"]
    assert page.text_content("#answer") == record["prediction"]
    words = page.locator("#flow g[aria-label=Words] .node")
    assert words.count() == len(record["source_tokens"]) == 4
    assert page.locator("#flow g[aria-label=Outputs] .node").count() == record["length"]
    counts = page.locator("#flow .count").all_text_contents()
    assert counts == [f"×{count}" for count in record["fertilities"]]
    assert page.locator("#tree .knot").count() == record["length"] - 1
    assert page.locator("#map .field").count() == 4 * record["length"]
    assert page.locator("#table tr").count() == 1 + record["length"]
    assert "curl" in page.text_content("#curl")


def test_pointing_at_a_word_lights_what_it_became(page, served):
    ask(page, "a b c")
    (record,) = served.predict("a b c", structure=True).json["predictions"]
    word = max(range(4), key=lambda row: max(record["alignment"][row]))
    linked = [
        record["written"][place] for place, weight in enumerate(record["alignment"][word]) if weight >= 0.1
    ]
    page.locator("#flow g[aria-label=Words] .node").nth(word).hover()
    assert len(lit(page, "Words")) >= 1
    assert set(lit(page, "Outputs")) >= set(linked)
    page.mouse.move(0, 0)
    assert lit(page, "Words") == []


def test_everything_can_be_reached_by_keyboard(page):
    ask(page, "a b c")
    seen = []
    page.focus("#sentence")
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('role')"))
    assert {"submit", "n-best", "copy", "option", "tree", "map"} <= set(seen)
    page.locator("#flow g[aria-label=Words] .node").first.focus()
    page.keyboard.press("ArrowDown")
    assert "a, fertility" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert "a" in lit(page, "Words")
    assert page.locator("#flow g[aria-label=Words] [tabindex='0']").count() == 1


def test_every_control_has_a_name_and_answers_are_announced(page):
    ask(page, "a b c")
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, textarea, svg, [role=option]")]
        .filter((part) => !part.getAttribute("aria-label") && !part.labels?.length)
        .filter((part) => !part.textContent.trim())
        .map((part) => part.outerHTML)"""
    )
    assert unnamed == []
    assert page.get_attribute("#status", "aria-live") == "polite"
    assert page.locator("h1, h2, h3").count() >= 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(page, scheme):
    page.emulate_media(color_scheme=scheme)
    ask(page, "a b c")
    weak = page.evaluate((Path(__file__).parent / "contrast.js").read_text("utf-8"))
    assert weak == []


def test_a_phone_scrolls_only_downwards(page):
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, "a b c d e f g h")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("#flow svg").bounding_box()["width"] < 360


def test_a_model_without_structure_and_a_refused_sentence(page):
    page.select_option("#model", "lstm")
    ask(page, "a b")
    assert page.locator("#structure").is_hidden()
    page.fill("#sentence", "a " * 200)
    page.press("#sentence", "Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert page.text_content("#problem") == "expected at most 100 words, found 200"


def test_a_link_to_an_answer(browser, served):
    page = browser.new_page()
    page.goto(f"{served.url}/#b%20c")
    page.wait_for_selector("#result:not([hidden])")
    assert page.input_value("#sentence") == "b c"
    page.close()


def test_the_description_of_the_api(browser, served):
    page = browser.new_page()
    page.goto(f"{served.url}/docs")
    page.wait_for_selector("article")
    assert {"/v1/predict", "/v1/models", "/health", "/metrics"} <= {
        text.removeprefix("POST").removeprefix("GET") for text in page.locator("h2").all_text_contents()
    }
    page.close()


def test_a_key_is_asked_for(browser, trained):
    with Served({"tiny": Model.load(trained)}, keys=["open"]) as locked:
        page = browser.new_page()
        page.goto(locked.url)
        page.wait_for_selector("#key:visible")
        page.fill("#key", "open")
        page.press("#key", "Tab")
        page.wait_for_selector("#n-best option", state="attached")
        ask(page, "a b")
        assert page.text_content("#answer")
        page.close()
