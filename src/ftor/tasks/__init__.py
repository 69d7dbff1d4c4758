"""What is particular to a dataset: how its pairs are made, and how outputs are judged."""

from ftor.tasks import mirror

GENERATED = dict.fromkeys(mirror.SPLITS, mirror)
"""The tasks whose pairs can be made anywhere, and the module that makes them."""
TASKS = ("pairs", *GENERATED)
"""All tasks; "pairs" is anybody's own."""
