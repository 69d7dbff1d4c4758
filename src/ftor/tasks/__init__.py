"""What is particular to a dataset: how it is generated or read, and how its outputs are judged."""
