"""Errors that a user can mend."""


class FtorError(ValueError):
    """Says what was expected and what was found; the command line shows it without a traceback."""
