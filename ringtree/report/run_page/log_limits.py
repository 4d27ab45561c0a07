"""Lines of what the hardware permits, beside the curves of logs.

For: the audit's limits by size. Not for: what exceeds them (ringtree.audit).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringtree.audit import Ceiling
from ringtree.audit.words import listed
from ringtree.report.run_page.figures import rounded
from ringtree.report.run_page.log_arm import LogArm


def limit_lines(labels: Sequence[str], arms: Sequence[LogArm], held: Sequence[Ceiling | None]) -> list[dict[str, Any]]:
    """Lines of what the links permit, each once: [size, seconds, busbw] by size."""
    found: dict[str, dict[str, Any]] = {}
    for label, arm, top in zip(labels, arms, held, strict=True):
        if top is None:
            continue
        kinds = [("any algorithm", top.top)]
        if top.ring is not None and top.ring.algbw != top.top.algbw:
            kinds.append(("a ring", top.ring))
        for what, limit in kinds:
            points = {}
            for row, _ in arm.sides:
                size = arm.subject.size(row)
                if row.size_bytes and size is not None and limit.algbw:
                    seconds = rounded(size.middle / limit.algbw)
                    points[row.size_bytes] = [row.size_bytes, seconds, rounded(limit.busbw)]
            known = found.setdefault(
                limit.arithmetic, {"name": f"limit of {what}", "for": [], "machine": top.machine, "points": {}}
            )
            known["for"].append(label)
            known["points"].update(points)
    lines = []
    for arithmetic, one in found.items():
        name = one["name"] if len(set(one["for"])) == len(labels) else f"{one['name']}: {listed(one['for'], 2)}"
        steps = [one["points"][size] for size in sorted(one["points"])]
        lines.append({"name": name, "place": None, "arithmetic": f"{one['machine']}: {arithmetic}", "points": steps})
    return lines
