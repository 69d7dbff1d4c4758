"""`python -m ftor`, the same as `ftor`."""

from ftor.cli import main

main()
