"""Packages that a module's tests need: without them the module is skipped, with them they are not imported yet.

For: packages that are slow to import: every worker collects every module, whatever it will run. transformers and ray
took 0.9 s of the 9 s of a core that collecting takes. Not for: what a module imports at its top anyway
(pytest.importorskip).
"""

from __future__ import annotations

import importlib.util

import pytest


def needs(package: str, how_to_get_it: str | None = None) -> None:
    """Called at the top of a module of tests: skips it where `package` is not installed."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(how_to_get_it or f"{package} is not installed", allow_module_level=True)
