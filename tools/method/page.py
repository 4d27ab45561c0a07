"""The summary of all tests of the method -> docs/method.md.

For: words and tables. Not for: computing anything that is not in the summary (study.py).

The page starts with the hash of the summary, which names the hashes of the data: a test compares all three.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from method.counts import Share
from method.live import VERDICTS
from method.study import LIVE, live_share

MARK = {True: "reached", False: "**missed**", None: "**no data**"}

# Texts are wrapped in the source; on the page a paragraph is wrapped by whoever shows it.
INTRODUCTION = """
A comparison here says “faster”, “slower”, “equivalent” or “inconclusive”. This page says how often that is wrong, how
small a difference is found, and whether intervals hold what they promise. Every figure is computed by
`make method-check` from the measurements in `docs/method-data`; `make method-data` takes them anew.

Unless said otherwise a run is {launches} launches, differences within {margin:.0%} count as none, and the family-wise
error is {error:.0%}. Shares are given as: share of draws (95 % interval of Clopper and Pearson). *Real* means launches
of the lab on the machine named at the end, *emulated* the engine over links slowed to a known latency and rate,
*simulated* random numbers. What the method must reach:
"""

ERRORS = """
Real launches of an arm against itself. *Permuted*: runs drawn without replacement from the stored blocks, the labels
of whole launches exchanged at random, so that “no difference” is exactly true; a run counts if anything in it is
claimed to be faster or slower. *As measured*: the same draws with the labels that the launches had, which also shows
whether real launches are symmetric enough; draws share blocks, so their interval is too narrow. *Disjoint*: as
measured, each block used once. *At the margin*: permuted, with every ratio moved to the end of the margin, the hardest
case in which neither “slower” nor “equivalent” may be claimed (half of the error each, as all cells lie on one side).
A draw takes its placements of the cores, near or far, from the probes of all stored blocks.
"""

POWER = """
The same real launches, the arm's times in one cell at a time multiplied by 1.05, 1.10 or 1.30: how often that cell is
found to be slower, over all cells and for the worst one. The scatter is the standard deviation of a launch's log
ratio, median over cells; it decides what can be found. Cells of a run share its launches, so the interval over all
cells is too narrow.
"""

CURVE = """
Simulated, for any other machine: nine cells, normal launch effects of a given scatter, one cell with an effect.
"""

NEEDED = """
An inconclusive cell says about how many launches would do, planned for 80 %. Simulated, scatter and effect known:
"""

COVERAGE = """
Emulated: the engine's own calls between four hosts of one rank, over links slowed to a latency α and a rate β. With
chunks of one slice (sizes S up to 32 KB) the times are known in closed form, `one_shot` α + 3 S/β, `two_shot`
2 α + 1.5 S/β, `ring` 6 α + 1.5 S/β, and so are the crossovers with `one_shot`, αβ·2/3 and αβ·10/3; the sliced
recurrence of `core/model` gives the same. Emulated links repeat themselves better than any network, so each launch
draws its own α and β (lognormal): that is what the intervals must cover. The truth is the closed form at the centres,
so what the engine needs beyond it (threads that must wake up on few cores) counts against the intervals; it is given as
bias. A run that finds no crossover counts as one whose interval does not hold it. Sizes of a run share its launches,
so “all” is worth little more than one size.
"""

LIVE_RUNS = """
`ringtree compare`, run again and again with fresh seeds, everything at its defaults but the arms and the options
named. As it should be: an arm against itself claims nothing; an arm whose calls are lengthened on purpose is found to
be slower somewhere and faster nowhere. *Ratios claimed*: of what was called faster or slower, median (range); where
ranks share cores, lengthening one rank's calls also delays the others, so it may be more than the name says.
"""

DATA = """
All of it is in `docs/method-data`; `numpy.load(file)["header"]` is a JSON text that says what a file holds. Real
launches (`aa-*.npz`): `medians` (blocks, sizes, arms, rounds), seconds, the median of one visit, and `probes` (the
same, 2), the core-to-core hand-off before and after it. Emulated ones: `seconds` (launches, sizes, arms, rounds) and
`links` (launches, 2), the α and β that a launch drew. NaN: not measured.
"""


def summary_text(summary: dict[str, Any]) -> str:
    """The summary as it is stored."""
    return json.dumps(summary, indent=1, ensure_ascii=False) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def page(text: str) -> str:
    """docs/method.md of a stored summary (`text`: the whole file)."""
    summary = json.loads(text)
    parts = [
        "<!-- Generated by tools/method from docs/method-data; do not edit (make method-check).",
        f"     summary.json {digest(text)} -->",
        "# The method, tested on itself",
        *_introduction(summary),
        "## How often a difference is claimed where there is none",
        ERRORS,
        *_errors(summary["banks"]),
        "## How small a difference is found",
        POWER,
        *_power(summary["banks"]),
        CURVE,
        *_curve(summary["curve"]),
        NEEDED,
        *_needed(summary["needed"]),
        "## Whether intervals hold the truth",
        COVERAGE,
        *_coverage(summary["emulated"]),
        "## Whole runs of the command",
        LIVE_RUNS,
        *_live(summary["live"]),
        "## Where the data come from",
        DATA,
        *_origins(summary),
    ]
    return _joined(parts)


def share_text(hits_and_draws: list[int]) -> str:
    """ "3.0% of 1,000 (2.0%–4.3%)" of [30, 1000]."""
    return str(Share(*hits_and_draws))


def _joined(parts: list[str]) -> str:
    """Lines of one table or list stay together, everything else gets an empty line between."""
    lines: list[str] = []
    for part in parts:
        block = part.strip("\n")
        together = lines and (lines[-1][:2] == block[:2] == "- " or lines[-1][:1] == block[:1] == "|" or "-->" in block)
        lines += [block] if together or not lines else ["", block]
    return "\n".join(lines) + "\n"


def _table(head: str, align: str, rows: list[str]) -> list[str]:
    """`align`: l or r for each column."""
    rule = "|" + "|".join("---:" if side == "r" else "---" for side in align) + "|"
    return [f"| {head} |", rule, *(f"| {row} |" for row in rows)]


def _introduction(summary: dict[str, Any]) -> list[str]:
    settings = summary["settings"]
    text = INTRODUCTION.format(launches=settings["launches"], margin=settings["margin"], error=1 - settings["level"])
    rows = [f"{bar['question']} | {bar['wanted']} | {bar['measured']} | {MARK[bar['met']]}" for bar in summary["bars"]]
    return [text, *_table("bar | wanted | measured | ", "llll", rows)]


def _errors(banks: dict[str, Any]) -> list[str]:
    keys = ("permuted", "as_measured", "disjoint", "slower_at_margin", "equivalent_at_margin")
    rows = [
        f"{name} | not measured yet | | | | | "
        if bank is None
        else f"{name} | {bank['cells']:.1f} | " + " | ".join(share_text(bank[key]) for key in keys)
        for name, bank in banks.items()
    ]
    head = (
        "data | cells a run | permuted | as measured | disjoint | “slower” at the margin | “equivalent” at the margin"
    )
    return _table(head, "lrrrrrr", rows)


def _power(banks: dict[str, Any]) -> list[str]:
    rows = []
    for name, bank in banks.items():
        if bank is None:
            rows.append(f"{name} | not measured yet | | | | ")
            continue
        rows += [
            f"{name} | {bank['deviation']:.1%} | +{at['effect']:.0%} | {share_text(at['found'])} "
            f"| {Share(*at['worst']).value:.0%} ({at['worst_cell']}) | {at['wrong_direction']}"
            for at in bank["power"]
        ]
    return _table("data | scatter | effect | found, all cells | worst cell | claimed faster", "lrrrrr", rows)


def _curve(curve: list[dict[str, Any]]) -> list[str]:
    effects = sorted({at["effect"] for at in curve})
    found = {(at["deviation"], at["effect"]): at["found"] for at in curve}
    rows = [
        f"{deviation:.0%} | " + " | ".join(share_text(found[deviation, effect]) for effect in effects)
        for deviation in sorted({at["deviation"] for at in curve})
    ]
    return _table(
        "scatter | " + " | ".join(f"+{effect:.0%} found" for effect in effects), "r" * (1 + len(effects)), rows
    )


def _needed(needed: list[dict[str, Any]]) -> list[str]:
    rows = [
        (f"+{at['effect']:.0%}" if at["effect"] else "none: equivalence")
        + f" | {at['deviation']:.1%} | {at['launches']} | {share_text(at['decided'])}"
        for at in needed
    ]
    return _table("effect | scatter | launches said | decided with so many", "rrrr", rows)


def _coverage(emulated: dict[str, Any]) -> list[str]:
    parts = []
    for name, at in emulated.items():
        parts.append(f"### {name}")
        parts += ["not measured yet"] if at is None else _experiment(at)
    return parts


def _experiment(at: dict[str, Any]) -> list[str]:
    arms, runs = at["arms"], at["crossover"][1]
    bias = ", ".join(f"{arm} {value:+.2%}" for arm, value in zip(arms, at["arm_bias"], strict=True))
    shift = at["crossover_median"] / at["crossover_truth"] - 1
    text = f"""
`{arms[0]}` against `{arms[1]}`, α {at["alpha"] * 1e3:g} ms and β {at["beta"] / 1e6:g} MB/s, each with a scatter
of {at["spread"]:.0%}; {runs} runs of {at["launches_per_run"]} launches of {at["num_rounds"]} rounds. Time beyond the
closed form, median: {bias}.

The crossover lies at {at["crossover_truth"]:,.0f} B. {at["crossings"]} of {runs} runs found one. Their intervals are
{at["width"]:.1%} wide (median) and hold it in {share_text(at["crossover"])}; the median estimate is off by
{shift:+.1%}. Runs that claimed the wrong arm at any size: {at["wrong"]}.
"""
    rows = [
        f"{row['size']:,} B | {row['true_ratio']:.4f} | {row['deviation']:.1%} | {row['bias']:+.2%} "
        f"| {share_text(row['covered'])}"
        for row in at["ratios"]
    ]
    rows.append(f"all | | | | {share_text(at['all_ratios'])}")
    head = "size | true ratio | scatter of a launch | bias of the ratio | intervals that hold the true ratio"
    return [text, *_table(head, "rrrrr", rows)]


def _live(live: dict[str, Any]) -> list[str]:
    rows = []
    for name, what in LIVE:
        stored = live[name]
        if stored is None:
            rows.append(f"{name}: {what} | not measured yet | | | | | | | ")
            continue
        runs = stored["runs"]
        share = live_share(stored, slowed=name == "live-slowed")
        counts = [str(sum(run[verdict] for run in runs)) for verdict in VERDICTS]
        seconds = [run["seconds"] for run in runs]
        command = " ".join(["--arms", stored["arms"], *stored["options"]])
        row = [f"{name}: {what}", f"`{command}`", f"{share.hits} of {share.draws}", *counts]
        claimed = [ratio for run in runs for ratio in run["claimed_ratios"]]
        ratios = f"{np.median(claimed):.2f} ({min(claimed):.2f}–{max(claimed):.2f})" if claimed else "none"
        rows.append(" | ".join([*row, ratios, f"{min(seconds):.0f}–{max(seconds):.0f} s"]))
    head = "data | command | runs as they should be | " + " | ".join(VERDICTS) + " | ratios claimed | time of a run"
    return _table(head, "llrrrrrrr", rows)


def _origins(summary: dict[str, Any]) -> list[str]:
    lines = []
    for name, bank in summary["banks"].items():
        if bank is not None:
            lines.append(
                f"- {name} ({bank['kind']}): {', '.join(bank['arms'])}; "
                f"{bank['collective']}, {bank['num_ranks']} ranks, "
                f"{bank['num_blocks']} blocks, {len(bank['sizes'])} sizes; {_machine(bank['origin'])}"
            )
    for name, at in summary["emulated"].items():
        if at is not None:
            lines.append(f"- {name} (emulated): {_machine(at['origin'])}")
    for name, _ in LIVE:
        if summary["live"][name] is not None:
            lines.append(f"- {name} (real): {_machine(summary['live'][name]['origin'])}")
    return lines + [f"- `{file}`: sha256 {content[:16]}…" for file, content in summary["data"].items()]


def _machine(origin: dict[str, Any]) -> str:
    if "cpu" not in origin:
        return "made up"
    versions = ", ".join(f"{name} {version}" for name, version in sorted(origin["versions"].items()) if version)
    commit = origin["commit"] or "unknown"
    return (
        f"{origin['date']}, {origin['cpu']}, {origin['cores']} cores, Linux {origin['kernel']}, {versions}, "
        f"commit {commit[:12]}{'+dirty' if commit.endswith('+dirty') else ''}"
    )


def write_page(data: Path, target: Path) -> str:
    """Writes the page of the stored summary in `data`, and returns it."""
    written = page((data / "summary.json").read_text())
    target.write_text(written)
    return written
