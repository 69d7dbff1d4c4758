"""A report in a real browser: it loads nothing, has no errors, and fits a phone."""

import shutil

import pytest

from ftor.show.report import Question, write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
OPTIONS += ["--disable-background-networking", "--disable-component-update"]


@pytest.fixture
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium brings it")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield opened
        opened.close()


@pytest.mark.slow
def test_a_report_is_looked_at(model, pairs, tmp_path, browser):
    path = tmp_path / "report.html"
    write_report(path, model, model.examine(pairs), Question("more.tsv"))
    for size, scheme in (((1200, 900), "light"), ((375, 700), "dark")):
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        requests, messages = [], []
        page.on("request", lambda request, seen=requests: seen.append(request.url))
        page.on("console", lambda message, seen=messages: seen.append(message.text))
        page.on("pageerror", lambda error, seen=messages: seen.append(str(error)))
        page.goto(path.as_uri())
        assert (requests, messages) == ([path.as_uri()], [])
        assert page.get_by_role("heading", level=1).inner_text() == "transducer on more.tsv"
        names = page.get_by_role("heading", level=2).all_inner_texts()
        assert {"Summary", "By length", "New words and parts", "Mistakes"} <= set(names)
        assert page.get_by_role("img", name="Alignment: ").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 20, 24)"
        assert dark == (scheme == "dark")
        page.get_by_role("link", name="Mistakes", exact=True).click()
        assert page.evaluate("location.hash") == "#mistakes"
        page.close()
