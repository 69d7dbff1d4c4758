"""Elements of HTML and inline SVG. They are made as trees, so that every text is escaped."""

from collections.abc import Iterable, Sequence
from importlib import resources
from xml.etree.ElementTree import Element, SubElement, tostring

Child = Element | str | None
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A browser that reads it loads nothing, whatever else the page says."""


def tag(name: str, *children: Child, **attributes: object) -> Element:
    """Return an element.

    Args:
        name: its name.
        children: elements and texts. None is left out.
        attributes: `class_` stands for class and `aria_label` for aria-label. None is left out, and True is
            an attribute without a value.
    """
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    values = {key: "" if value is True else str(value) for key, value in named.items() if value is not None}
    made = Element(name, values)
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None:
            last = made[-1] if len(made) else None
            if last is None:
                made.text = (made.text or "") + child
            else:
                last.tail = (last.tail or "") + child
    return made


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Child]],
    numbers: Iterable[int] = (),
    class_: str | None = None,
) -> Element:
    """Return a table in a frame that scrolls if it is too wide.

    Args:
        caption: says what the table shows.
        header: the title of each column.
        rows: the cells of each row. The first one names the row.
        numbers: the columns that are aligned to the right.
        class_: class of the table.
    """
    right = set(numbers)
    made = tag("table", tag("caption", caption), class_=class_)
    head = SubElement(SubElement(made, "thead"), "tr")
    for column, title in enumerate(header):
        head.append(tag("th", title, scope="col", class_="number" if column in right else None))
    body = SubElement(made, "tbody")
    for cells in rows:
        row = SubElement(body, "tr")
        for column, cell in enumerate(cells):
            number = "number" if column in right else None
            row.append(
                tag("td", cell, class_=number) if column else tag("th", cell, scope="row", class_=number)
            )
    return tag("div", made, class_="scroll", tabindex=0, role="region", aria_label=caption)


def section(name: str, title: str, *children: Child) -> Element:
    """Return a section with a heading. Links lead to its name."""
    return tag(
        "section", tag("h2", title, id=f"{name}-title"), *children, id=name, aria_labelledby=f"{name}-title"
    )


def page(title: str, *children: Child) -> str:
    """Return a page that loads nothing: its style is in it, and it has no script."""
    style = resources.files("ftor.show.report").joinpath("report.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    html = tag("html", head, tag("body", *children), lang="en")
    return f"<!doctype html>\n{tostring(html, encoding='unicode', method='html')}\n"
