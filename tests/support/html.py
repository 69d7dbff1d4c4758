"""Reads pages as a browser's outline would: elements, texts, ids and links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


@dataclass
class Node:
    """An element of a page."""

    name: str
    attributes: dict[str, str | None]
    children: list["Node"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, name: str) -> list["Node"]:
        """The elements of a name in this one, in the order of the page."""
        found = [self] if self.name == name else []
        return found + [node for child in self.children for node in child.all(name)]

    @property
    def text(self) -> str:
        """All texts in it, in the order in which they were read."""
        return " ".join(" ".join(self.texts).split())

    def everything(self) -> list["Node"]:
        """It and all elements in it."""
        return [self] + [node for child in self.children for node in child.everything()]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> ends <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for node in self.open:
            node.texts.append(data)


def read_html(page: str) -> Node:
    """The elements of a page. Each must be closed."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1
    return reader.open[0]
