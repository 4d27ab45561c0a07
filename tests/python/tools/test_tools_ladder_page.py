"""The page of a ladder: what is written between its marks, and what stays around them.

For: tools/ladder_page.py on a made-up run. Not for: sentences and figures (test_explain_views.py).
"""

from __future__ import annotations

from pathlib import Path

import ladder_page
import pytest
from explain_support import made_up_pilot, made_up_run

from ringtree.explain.ladder import ladder_of
from ringtree.results import RunWriter


def store(runs: Path) -> Path:
    """A ladder and its pilot as they are stored; returns the ladder's directory."""
    for stored in (made_up_pilot(), made_up_run()):
        with RunWriter(runs, stored.run) as writer:
            for launch in stored.launches:
                writer.append(launch)
    return writer.path


def test_what_is_measured_has_its_provenance_and_no_name_of_the_host() -> None:
    text = ladder_page.measured(ladder_of(made_up_run(), made_up_pilot()))
    assert "machine: cpu, 2 cores" in text
    assert "`ringtree compare`" in text
    assert "host_name" not in text
    assert "\n### 1 MB\n" in text
    assert "| Python → native code | `textbook-tcp:ring` ran ring/simple/64K | 1.99 ms" in text
    assert "| separate folds → fused |" in text
    assert "- depends on the others: separate folds → fused is 1.25× (" in text
    assert "Not measured: an interpreter" in text or "the engine has no links over TCP" in text


def test_a_page_keeps_what_people_wrote(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run, page = store(tmp_path / "runs"), tmp_path / "page.md"
    (tmp_path / "drawings").mkdir()
    page.write_text(f"# Mine\n{ladder_page.BEGIN}\nof another day\n{ladder_page.END}\nAnd mine.\n")
    ladder_page.write_page(page, run)
    text = page.read_text()
    assert text.startswith(f"# Mine\n{ladder_page.BEGIN}\n")
    assert text.endswith(f"{ladder_page.END}\nAnd mine.\n")
    assert "of another day" not in text
    assert "**1 MB: send-recv:ring" in text
    assert (tmp_path / "drawings" / ladder_page.PICTURE).exists()
    ladder_page.write_page(page, run)
    assert page.read_text() == text


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Mine\n")
    with pytest.raises(ValueError, match="has no place for what is written there"):
        ladder_page.write_page(page, store(tmp_path / "runs"))
    assert page.read_text() == "# Mine\n"
