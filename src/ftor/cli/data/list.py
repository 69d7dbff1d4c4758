"""`ftor data list`."""

from ftor.cli.options import DataDir
from ftor.cli.output import show


def list_(data_dir: DataDir = None) -> None:
    """List the shipped experiments, the datasets that they use, and where their files are."""
    from ftor.show.data import datasets_table, experiments_table, splits_table  # here for start-up time

    for table in [experiments_table(), datasets_table(data_dir), splits_table(data_dir)]:
        show(table)
