"""Small tasks as strangers bring them: twelve kinds in two variants. Every pair comes from a generator.

Settings are chosen with variant a. Variant b has other words and other grammars, and is only for measuring.
"""

from battery import (
    conversions,
    dates,
    formulas,
    home,
    letters,
    messages,
    numbers,
    phrases,
    queries,
    steps,
    strings,
)
from battery.task import Task


def _is_number(word: str) -> bool:
    return word.replace(".", "", 1).isdigit()


TASKS: tuple[Task, ...] = (
    Task("dates", "a", dates.iso_dates, 500),
    Task("dates", "b", dates.american_dates, 500),
    Task("numbers", "a", numbers.english_numbers, 1000),
    Task("numbers", "b", numbers.german_numbers, 1000),
    Task("postfix", "a", formulas.postfix, 1000),
    Task("postfix", "b", formulas.prefix, 1000),
    Task("scan", "a", steps.scan, 1000),
    Task("scan", "b", steps.drill, 1000),
    Task("home", "a", home.smart_home, 400),
    Task("home", "b", home.greenhouse, 400),
    Task("home-grammar", "a", home.smart_home, 400, grammar=home.SMART_HOME),
    Task("home-grammar", "b", home.greenhouse, 400, grammar=home.GREENHOUSE),
    Task("phrases", "a", phrases.french, 40, 100),
    Task("phrases", "b", phrases.spanish, 40, 100),
    Task("letters", "a", letters.english_endings, 600),
    Task("letters", "b", letters.turkish_endings, 600),
    Task("conversions", "a", conversions.conversions, 300, copied=_is_number),
    Task("conversions", "b", conversions.exchanges, 300, copied=_is_number),
    Task("s-expressions", "a", queries.places, 400),
    Task("s-expressions", "b", queries.flights, 400),
    Task("json", "a", messages.assistant, 400),
    Task("json", "b", messages.orders, 400),
    Task("expansion", "a", strings.machine, 150, 100),
    Task("expansion", "b", strings.dance, 150, 100),
    Task("doubling", "a", strings.doubling, 400, 100, separable=False),
    Task("doubling", "b", strings.two_scripts, 400, 100, separable=False),
)

NAMES: tuple[str, ...] = tuple(dict.fromkeys(task.name for task in TASKS))


def find(name: str, variant: str) -> Task:
    """Return a task."""
    (task,) = (task for task in TASKS if (task.name, task.variant) == (name, variant))
    return task
