"""`python -m ftor`, the same as `ftor`."""

from ftor.cli.main import main

main()
