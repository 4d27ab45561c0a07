"""What each fault must bring, and whether it did: the bars of docs/reliability.md.

For: judging trials. Not for: showing them (table.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from faults.trial import Trial


@dataclass(frozen=True)
class Bar:
    """errors: of these each survivor must get one ("none": none at all). within_s: of the fault, or with `at_deadline`
    of the call's deadline, on either side. median_s: over all survivors. warns_s: so soon must stderr name the suspect.
    names: the error must name the rank."""

    errors: tuple[str, ...]
    within_s: float | None = None
    median_s: float | None = None
    at_deadline: bool = False
    warns_s: float | None = None
    names: bool = True

    def text(self) -> str:
        """As tables say it."""
        if self.errors == ("none",):
            warns = f"named on stderr in {self.warns_s:g} s, then " if self.warns_s else ""
            return f"{warns}no error"
        parts = ["named" if self.names else "told"]
        if self.warns_s is not None:
            parts.append(f"on stderr in {self.warns_s:g} s")
        if self.at_deadline:
            parts.append(f"at the deadline ± {self.within_s:g} s")
        elif self.within_s is not None:
            parts.append(f"in {self.within_s:g} s")
        if self.median_s is not None:
            parts.append(f"half in {self.median_s:g} s")
        return ", ".join(parts)

    def missed(self, trial: Trial) -> list[str]:
        """What is wrong with a trial; empty if the bar was reached."""
        lines = [f"left behind: {what}" for what in trial.left]
        for survivor in trial.survivors:
            who = f"rank {survivor.rank}"
            if survivor.error not in self.errors:
                lines.append(f"{who} got {survivor.error}: {survivor.text}")
                continue
            if self.warns_s is not None and (survivor.warned_s is None or survivor.warned_s > self.warns_s):
                lines.append(f"{who} was warned after {survivor.warned_s} s")
            if survivor.error == "none":
                continue
            if self.names and not survivor.named:
                lines.append(f"{who} was not told who: {survivor.text}")
            start = trial.deadline_s or 0.0 if self.at_deadline else 0.0
            late = (survivor.seconds or 0.0) - start
            if self.within_s is not None and (late > self.within_s or (self.at_deadline and late < -self.within_s)):
                lines.append(f"{who} was told after {survivor.seconds:.3f} s: {survivor.text}")
        return lines


SAME_HOST = Bar(("PeerError",), within_s=1.0, median_s=0.1)
OTHER_HOST = Bar(("PeerError",), within_s=1.0)
GOES_ON = Bar(("goes on",), within_s=2.0)
NO_ALARM = Bar(("none",))
SUSPECTED = Bar(("none",), warns_s=6.0)
AT_DEADLINE = Bar(("DeadlineError",), within_s=0.5, at_deadline=True, warns_s=6.0)
BROKEN = Bar(("PeerError",), within_s=1.0)
DISAGREE = Bar(("MismatchError",), within_s=0.1)
NO_BAR = Bar(("PeerError", "DeadlineError", "MismatchError", "error"), names=False)


def misses(bar: Bar, trials: Sequence[Trial]) -> list[str]:
    """What is wrong with the trials of a row."""
    lines = [f"{trial.cell.world}, {trial.cell.collective}: {line}" for trial in trials for line in bar.missed(trial)]
    times = sorted(s.seconds for trial in trials for s in trial.survivors if s.seconds is not None)
    if bar.median_s is not None and times and times[len(times) // 2] > bar.median_s:
        lines.append(
            f"half of the survivors were told after more than {bar.median_s:g} s: {times[len(times) // 2]:.3f}"
        )
    return lines
