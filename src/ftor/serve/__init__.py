"""Models behind HTTP: an API for programs, and a page for people."""

from ftor.errors import FtorError

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
except ModuleNotFoundError as error:
    raise FtorError(f"{error.name} is not installed: pip install 'ftor[serve]'") from None
