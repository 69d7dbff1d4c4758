"""How each run of a reproduction stands, and what a board has to show of it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ftor.lab.plan import Planned

State = Literal["waiting", "running", "done", "failed", "stopped"]


@dataclass
class Status:
    """How a run stands.

    Attributes:
        expected: seconds that it takes from beginning to end, if that is known.
        share: how much of it is done.
        left: seconds that it will still take, as it says itself.
        note: what else there is to know: where it runs, what came out, what went wrong.
        losses: how often the machine that carried it out was lost.
    """

    planned: Planned
    expected: float | None = None
    state: State = "waiting"
    share: float = 0.0
    left: float | None = None
    note: str = ""
    losses: int = 0

    @property
    def name(self) -> str:
        """What to call the run."""
        return self.planned.name

    @property
    def whole(self) -> float | None:
        """Seconds from beginning to end, if they can be told from what is left or are known."""
        if self.left is not None and self.share < 1:
            return self.left / (1 - self.share)
        return self.expected

    @property
    def seconds_left(self) -> float | None:
        """Until it is done, if that can be told."""
        if self.state == "running" and self.left is not None:
            return self.left
        if self.state in ("waiting", "running"):
            return None if self.expected is None else self.expected * (1 - self.share)
        return 0.0


class Board(Protocol):
    """Shows how all runs stand."""

    def shown(self) -> AbstractContextManager[None]:
        """Show the board while the context is open."""
        ...

    def changed(self, status: Status) -> None:
        """Show that a run is in another state."""
        ...

    def refresh(self) -> None:
        """Show the progress since the last call."""
        ...


def headline(record: dict[str, Any]) -> str:
    """What came out of a run, in a few words: its first share, with the grammar if there is one, or score."""
    test = record.get("test_grammar") or record["test"]
    if test.get("scores"):
        name = "BLEU-4"
        return f"{name} {100 * test['scores'][name]:.1f}"
    shares = {name: share for name, share in (test.get("shares") or {}).items() if name != "well_formed"}
    name, share = next(iter(shares.items()), ("exact_match", test["exact_match"]))
    with_grammar = " with the grammar" if "test_grammar" in record else ""
    return f"{name.replace('_', ' ')} {100 * share:.1f} %{with_grammar}"
