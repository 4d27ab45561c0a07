"""A small web app over the store, for the machine that it runs on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringtree.errors import UsageError

HOW_TO_GET = "the web app needs FastAPI and uvicorn: pip install 'ringtree[serve]'"


def make_app(runs: Path) -> Any:
    """Returns the ASGI application over the store `runs`. Raises UsageError if the extra `serve` is not installed."""
    try:
        from ringtree.show.serve.routes import make_app as make
    except ImportError as error:
        raise UsageError(HOW_TO_GET) from error
    return make(runs)


__all__ = ["make_app"]
