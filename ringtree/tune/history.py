"""What a tuning has measured so far, looked up by launch and cell.

For: turning the stored lines into scores. Not for: the file (state.py), deciding what to measure next (plan.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.comm.profile_format import AUTO, Configuration
from ringtree.stats import Placements, split_placements
from ringtree.tune.measured import CellPlan, Chosen, Dropped, LaunchDone, Line, Round, TuneLaunch
from ringtree.tune.scores import CellScores, TimedRound, score
from ringtree.tune.world import World

Key = tuple[str, int]  # collective, size in bytes


class History:
    """The lines of a state, in the order in which they were stored."""

    def __init__(self, stored: Iterable[Line] = ()) -> None:
        self.launches: list[TuneLaunch] = []
        self._over: dict[int, LaunchDone] = {}
        self._rounds: dict[tuple[int, Key], list[Round]] = {}
        self._dropped: dict[tuple[int, Key], dict[str, str]] = {}
        self._chosen: dict[tuple[int, Key], Chosen] = {}
        self._placements: dict[int, Placements] = {}  # of the rounds so far, once asked for
        for line in stored:
            self.add(line)

    def add(self, line: Line) -> None:
        """Takes one more line."""
        if isinstance(line, TuneLaunch):
            self.launches.append(line)
        elif isinstance(line, LaunchDone):
            self._over[line.launch] = line
        else:
            at = (line.launch, (line.collective, line.size_bytes))
            if isinstance(line, Round):
                self._rounds.setdefault(at, []).append(line)
                self._placements.clear()
            elif isinstance(line, Dropped):
                self._dropped.setdefault(at, {})[line.label] = line.reason
            else:
                self._chosen[at] = line

    @property
    def num_rounds(self) -> int:
        return sum(len(rounds) for rounds in self._rounds.values())

    @property
    def wall_seconds(self) -> float:
        return sum(over.wall_seconds for over in self._over.values())

    def open_launch(self) -> TuneLaunch | None:
        """Returns the launch that was begun and is not over."""
        return next((launch for launch in self.launches if launch.number not in self._over), None)

    def launches_of(self, stage: str, world: World) -> list[TuneLaunch]:
        return [one for one in self.launches if (one.stage, one.world) == (stage, world)]

    def rounds(self, launches: Iterable[TuneLaunch], key: Key) -> list[Round]:
        """Returns the rounds of a cell in these launches."""
        return [one for launch in launches for one in self._rounds.get((launch.number, key), ())]

    def dropped(self, launch: TuneLaunch, key: Key) -> dict[str, str]:
        """Returns label -> reason of what a launch dropped in a cell."""
        return self._dropped.get((launch.number, key), {})

    def chosen(self, launch: TuneLaunch, key: Key) -> Chosen | None:
        return self._chosen.get((launch.number, key))

    def placements(self, num_ranks: int) -> Placements:
        """Returns the placements of the cores that all rounds with so many ranks show, whatever their buffers: probes
        don't touch them."""
        if num_ranks not in self._placements:
            of = {launch.number for launch in self.launches if launch.world.num_ranks == num_ranks}
            rounds = [one for (number, _), them in self._rounds.items() if number in of for one in them]
            self._placements[num_ranks] = split_placements([handoff for one in rounds for handoff in one.handoffs])
        return self._placements[num_ranks]

    def scores(
        self, launches: list[TuneLaunch], key: Key, with_auto: bool = False, placements: Placements | None = None
    ) -> CellScores | None:
        """Returns the scores of a cell's candidates in these launches together; None if nothing was measured.

        Candidates that one of the launches dropped or did not have are left out, and so is auto unless it is asked
        for: it is not a candidate, but one of them under another name. `placements`: None for those of all rounds.
        """
        if not launches:
            return None
        labels: list[str] = []
        for position, launch in enumerate(launches):
            mine = [one.label for cell in launch.cells if key_of(cell) == key for one in cell.candidates]
            mine = [label for label in mine if label not in self.dropped(launch, key) and (with_auto or label != AUTO)]
            labels = [label for label in labels if label in mine] if position else mine
        rounds = [TimedRound(one.seconds, one.handoffs) for one in self.rounds(launches, key)]
        return score(rounds, labels, placements or self.placements(launches[0].world.num_ranks))

    def configurations(self) -> dict[str, Configuration]:
        """Returns every candidate of every launch by its label."""
        return {one.label: one for launch in self.launches for cell in launch.cells for one in cell.candidates}


def key_of(cell: CellPlan) -> Key:
    """Returns what a cell is looked up by."""
    return cell.collective, cell.size_bytes
