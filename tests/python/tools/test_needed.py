"""A package that tests need is looked for, not imported; without it the module says so and is skipped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from needed import needs


def test_a_package_that_is_there_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    needs("slow_to_import")
    assert "slow_to_import" not in sys.modules


@pytest.mark.parametrize(("hint", "said"), [(None, "no_such_package is not installed"), ("get it", "get it")])
def test_one_that_is_not_there_skips_the_module(hint: str | None, said: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=said) as skipped:
        needs("no_such_package", hint)
    assert skipped.value.allow_module_level
