"""docs/published-results.md from its template and the tables.

For: how numbers stand on the page, and what the template may ask. Not for: words, tables and their order
(published.md.j2).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import jinja2

from published import figures, hardware
from published.sheet import Sheet
from ringtree.audit.claims import Verdict, counting, judge_file
from ringtree.nccl import constants
from ringtree.stats.bandwidth import bus_factor

TEMPLATE = Path(__file__).with_name("published.md.j2")
VERDICTS = {Verdict.HOLDS: "hold", Verdict.FALLS: "fall", Verdict.OPEN: "are undecided"}


def page(folder: Path) -> str:
    """The page from the tables in `folder`."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "gb": lambda rate: "–" if rate is None else f"{rate / 1e9:.1f}",
        "times": lambda rate, factor: None if rate is None else rate * factor,
        "percent_of": lambda rate, limit: "–" if rate is None else f"{100 * (rate / limit):.0f} %",
        "change_from": lambda value, before: "–" if value is None else f"{100 * (value / before - 1):+.1f} %",
        "paragraphs": paragraphs,
        "plain": plain,
    }
    return environment.from_string(TEMPLATE.read_text()).render(
        sheet=partial(Sheet, folder),
        factor=partial(bus_factor, "all_reduce"),
        steps=partial(counting.hops, "all_reduce"),
        share=partial(counting.share, "all_reduce"),
        limit_of=lambda name, num_hosts: hardware.nccl(name, hardware.h100_nodes(num_hosts)).busbw,
        hops=hops,
        judged=judge_file(folder / "claims.toml").judgements,
        verdicts=VERDICTS,
        figures=figures,
        hardware=hardware,
        nccl=constants,
    )


def hops(protocol: str) -> str:
    """Microseconds of a ring's hop by NCCL's constants, over each kind of link."""
    index = ("LL", "LL128", "Simple").index(protocol)
    return " / ".join(f"{latencies['Ring'][index]:g}" for latencies in constants.HOP_LATENCIES.values())


def paragraphs(text: str) -> str:
    """A text wrapped in the source as one line a paragraph."""
    return "\n\n".join(" ".join(block.split()) for block in text.strip().split("\n\n")) + "\n"


def plain(text: str) -> str:
    """Underscores and stars of names are not emphasis, a tilde strikes nothing out."""
    for mark in ("\\", "*", "_", "~", "<", "["):
        text = text.replace(mark, f"\\{mark}")
    return text
