"""The page about pairs that `ftor data look` prints."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ftor.reporting import percent
from ftor.tuning.look import Finding, Look
from ftor.tuning.look.findings import Lengths, Value, Words


def look_page(look: Look, files: Mapping[str, str]) -> Group:
    """Return the page: numbers, warnings, other findings, and the settings that follow.

    Args:
        look: what was found.
        files: the name of the file of each split.
    """
    parts: list[RenderableType] = [_numbers(look), *_ratio_and_copies(look)]
    others = [finding for finding in look.findings if not finding.warning]
    for title, findings in (("Warnings", look.warnings), ("Findings", others)):
        if findings:
            parts += [Text(f"\n{title}", style="bold"), *(_finding(finding, files) for finding in findings)]
    return Group(*parts, Text("\nSettings that follow", style="bold"), *_settings(look))


def _numbers(look: Look) -> Table:
    table = Table(Column(""), "least", "median", "mean", "most", "words", "seen once")
    table.add_row("source tokens", *_lengths(look.source), *_words(look.source_words))
    target_words = ("", "") if look.units else _words(look.target_words)
    table.add_row("target tokens", *_lengths(look.target), *target_words)
    if look.units is not None:
        table.add_row("target units", *_lengths(look.units), *_words(look.target_words))
    table.title = ", ".join(f"{split}: {count} pairs" for split, count in look.pairs.items() if count)
    return table


def _ratio_and_copies(look: Look) -> Iterator[Text]:
    part, copies = "token" if look.units is None else "unit", look.copies
    yield Text(f"target {part}s for each source token: {look.ratio:.2f}")
    kinds = {
        "written in the same way": copies.same,
        "in another case": copies.other_case,
        "in quotes": copies.quoted,
    }
    shares = ", ".join(f"{percent(share, 0)} {kind}" for kind, share in kinds.items())
    numbers = percent(copies.numbers, 0)
    yield Text(f"target {part}s that are words of their source: {shares}; {numbers} are numbers")


def _lengths(lengths: Lengths) -> tuple[str, ...]:
    return str(lengths.least), f"{lengths.median:g}", f"{lengths.mean:.1f}", str(lengths.most)


def _words(words: Words) -> tuple[str, ...]:
    return str(words.types), percent(words.seen_once, 0)


def _finding(finding: Finding, files: Mapping[str, str]) -> RenderableType:
    # as Text, because rich would read words such as [red] as markup
    text = Text("! " if finding.warning else "- ", style="yellow" if finding.warning else "")
    text.append(f"{finding.kind}: ", style="bold")
    text.append(finding.text, style="")
    lines = [Padding(text, (0, 0, 0, 2))]
    if finding.lines:
        file, numbers = files.get(finding.split, finding.split), ", ".join(map(str, finding.lines))
        more = ", …" if finding.more_lines else ""
        lines.append(Padding(Text(f"{file}: line {numbers}{more}", style="dim"), (0, 0, 0, 4)))
    follows = [setting(key, value) for key, value in finding.settings.items()]
    advice = " ".join(filter(None, [finding.advice, ", ".join(follows)]))
    if advice:
        lines.append(Padding(Text(f"→ {advice}"), (0, 0, 0, 4)))
    return Group(*lines)


def _settings(look: Look) -> Iterator[Text]:
    for key, value in look.settings.items():
        yield Text(f"  {setting(key, value)}")
    for key, values in look.open.items():
        yield Text(f"  {key}: to be tried: {' or '.join(toml(value) for value in values)}")


def setting(key: str, value: Value) -> str:
    """Format a setting as `--set` takes it."""
    return f"{key}={toml(value)}"


def toml(value: Value) -> str:
    """Format a value as TOML does."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
