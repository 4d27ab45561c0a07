"""Stored runs of `ringtree compare` and `ringtree train`, one after another, and what each claimed.

For: the whole of the lab as a user meets it, an arm against itself and an arm slowed on purpose; all runs that are
given count, and are judged by the code as it is now. Not for: running them (real.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from method.counts import Share
from method.origin import origin_of

FORMAT = "ringtree.method-live/1"
VERDICTS = ("faster", "slower", "equivalent", "inconclusive")


@dataclass(frozen=True)
class Live:
    """Runs that all ask one question. `options`: of `ringtree COMMAND`; `share` of at least `number` runs must be as
    they should: claim nothing or, `slowed`, find the slowed arm."""

    name: str
    what: str
    options: tuple[str, ...]
    slowed: bool = False
    command: str = "compare"
    number: int = 20
    share: float = 1.0

    def as_it_should_be(self, runs: list[dict[str, Any]]) -> Share:
        """Runs that claim nothing; or, slowed, "slower" somewhere and "faster" nowhere."""
        return Share(sum(run["faster"] == 0 and (run["slower"] > 0) == self.slowed for run in runs), len(runs))


# Each of few tokens on two ranks: a sweep of the default models and ranks takes four times as long.
_TRAINED = ("--ranks", "2", "--sequence", "128")
LIVE = (
    Live("live-aa", "an arm against itself", ("--arms", "gloo,gloo")),
    Live(
        "live-slowed",
        "an arm slowed by 10 % on purpose",
        ("--arms", "ring,ring+10%", "--ranks", "2", "--sizes", "64K,1M"),
        slowed=True,
    ),
    Live(
        "live-train-aa",
        "a training's arm against itself",
        ("--arms", "gloo,gloo", *_TRAINED),
        command="train",
        number=10,
    ),
    Live(
        "live-train-slowed",
        "a training's arm slowed by 10 % of its step",
        ("--arms", "gloo,gloo+10%", *_TRAINED),
        slowed=True,
        command="train",
        share=0.95,
    ),
)


def collect(name: str, file: Path, runs: list[Path]) -> None:
    """Writes `file` from stored runs that asked the same question. Raises SystemExit if they did not, or if a run lacks
    launches.
    """
    # Loaded here: reading stored data must not need the lab.
    from ringtree.judge.summary import summarise
    from ringtree.judge.training import summarise_training
    from ringtree.results import read_run
    from ringtree.train.arms import ALONE  # which every training adds by itself

    stored = sorted((read_run(path) for path in runs), key=lambda one: one.run.run_id)
    questions = {
        (tuple(arm.name for arm in one.run.plan.arms if arm.name != ALONE), _options(one.run.provenance.command))
        for one in stored
    }
    lacking = [one.run.run_id for one in stored if len(one.launches) < one.run.plan.num_launches]
    if len(questions) != 1 or lacking:
        raise SystemExit(
            f"{len(questions)} different questions, runs without all launches: {', '.join(lacking) or 'none'}"
        )
    ((arms, options),) = questions
    record: dict[str, Any] = {"format": FORMAT, "name": name, "arms": ",".join(arms), "options": list(options)}
    record["origin"] = origin_of(stored[0].run)
    judged = summarise if stored[0].run.plan.training is None else summarise_training
    record["runs"] = [
        {
            "seed": one.run.plan.seed,
            "seconds": round(sum(launch.wall_seconds for launch in one.launches), 1),
            **verdicts(judged(one).model_dump(mode="json")),
        }
        for one in stored
    ]
    file.write_text(json.dumps(record, indent=1) + "\n")


def _options(command: list[str]) -> tuple[str, ...]:
    """The options of a `ringtree compare` or `train` that change what is measured."""
    left: list[str] = []
    words = iter(command[2:])
    for word in words:
        if word in ("--arms", "--seed", "--runs"):
            next(words)
        elif word != "--json":
            left.append(word)
    return tuple(left)


def verdicts(result: Any) -> dict[str, Any]:
    """How many comparisons of a result (`--json`) got which verdict, and the claimed ratios."""
    judged = [cell["versus_reference"] for cell in result["cells"] if cell["versus_reference"] is not None]
    if not judged:
        raise SystemExit("the result holds no comparison with a reference")
    counts = {verdict: sum(entry["verdict"] == verdict for entry in judged) for verdict in VERDICTS}
    claimed = [round(entry["ratio"], 4) for entry in judged if entry["verdict"] in ("faster", "slower")]
    return {**counts, "claimed_ratios": claimed}


def read_live(file: Path) -> dict[str, Any]:
    """Raises ValueError if the file is none of these."""
    record = json.loads(file.read_text())
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"{file.name} is no {FORMAT}")
    return record
