"""One launch of a native part: fresh processes of every arm, visited interleaved.

For: which arm is timed when, the probes between visits, and a Launch in the format of ringtree.results. Not for: the
processes (crew.py, driver.py), how long visits are (costs.py), storing (session.py).

All arms are started and idle; one at a time is visited. After a first timing of everything the launch goes over its
cells in passes, cells in shuffled order; at a cell there are ROUNDS_A_STAY rounds in a row, and in each every arm is
visited once, in shuffled order, with a probe of the hand-off between the two cores before and after. An arm that dies
or hangs at a size is not asked for that size or a larger one again in this launch; nothing waits without a limit.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.allowance import Allowance
from bench.cases import group_of, is_power_of_two, reference_of, split_label
from bench.costs import PASSES, ROUNDS_A_STAY, affordable, in_pass, is_hopeless, is_sampled, share_out, visiting
from bench.crew import Crew, Limits
from bench.driver import Answer, ArmFailed, PeerArm, Refused, Work
from bench.tracks import TOO_SLOW, WRONG, Track
from ringtree.lab.environment import CpuTimes
from ringtree.lab.plan import PlannedLaunch, data_seed, visit_order
from ringtree.lab.units import format_size, format_time
from ringtree.probe import Handoff
from ringtree.results import Launch, Plan, Visit

FEW_CALLS = 50
SHORT_CALL = 50e-6  # seconds; a shorter call is timed again, several together
EXTRAPOLATE = 32 << 20  # above it an arm is taken to need twice the time of half the size
LARGE = 1 << 20  # above it a call may take long
SECOND_LOOK = 4  # batches more for a call that seems to be too slow
FIRST_SHARE = 0.5  # of a launch's time, after which no further size is looked at
LEAST_SHARE = 0.3  # of it is for the passes in any case
OVERTIME = 1.5  # times what a launch may take, after which it ends with what it has
LEAST_FIRST, FIRST_LIMIT_SHARE = 2.0, 0.15  # seconds, and share of a launch's, that a first call may take
SECOND_SEED_STEP = 1 << 48  # data seeds of launches have 48 bits


class NativeLaunch:
    """Measures one launch; used once."""

    def __init__(
        self,
        plan: Plan,
        launch: PlannedLaunch,
        peers: Mapping[str, PeerArm],
        cores: Sequence[int],
        limits: Limits,
        say: Callable[[str], None],
        allowance: Allowance,
    ) -> None:
        """`peers`: the arms, by name; `cores`: ranks are pinned to them in turn."""
        self._plan, self._launch, self._cores = plan, launch, list(cores)
        self._peers, self._limits, self._say = peers, limits, say
        self._allowance = allowance
        self._tracks = {
            (size.size_bytes, arm.label): Track(arm.label, size)
            for size in self._plan.sizes
            if allowance.sizes is None or size.size_bytes in allowance.sizes
            for arm in self._plan.arms
            if split_label(arm.label)[1].takes_part(size.size_bytes)
        }
        for key, why in allowance.given_up.items():
            if key in self._tracks:
                self._tracks[key].fail(why)
        # The first of what may hang must not cost a short launch all of its time.
        self._first_limit = min(limits.first, max(LEAST_FIRST, FIRST_LIMIT_SHARE * allowance.seconds))
        self._probe = Handoff(self._cores)
        self._position = 0
        self._seed = data_seed(self._plan, launch.launch)

    def measure(self) -> Launch:
        """Runs it all and returns the record; the arms' processes are gone then, also after an exception."""
        started, clock, load = time.gmtime(), time.monotonic(), os.getloadavg()[0]
        before = CpuTimes.now(self._cores)
        with self._arms_started() as self._crew:
            # Whatever starting and the first timing took, some of the time is for what counts.
            seconds = self._allowance.seconds
            self._time_first(max(clock + FIRST_SHARE * seconds, time.monotonic() + LEAST_SHARE * seconds))
            self._spend(max(clock + seconds - time.monotonic(), LEAST_SHARE * seconds))
            self._go_over(max(clock + OVERTIME * seconds, time.monotonic() + LEAST_SHARE * seconds))
        after = CpuTimes.now(self._cores)
        return Launch(
            launch=self._launch.launch,
            block=self._launch.block,
            arms=[arm.label for arm in self._launch.arms],
            seed=self._seed,
            pids=self._crew.pids,
            started_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", started),
            wall_seconds=round(time.monotonic() - clock, 3),
            load_average=load,
            stolen=after.stolen_since(before) if before and after else None,
            cells=[
                track.cell(self._crew.versions.get(track.arm))
                for track in self._tracks.values()
                if track.visits or track.error is not None
            ],
        )

    @contextlib.contextmanager
    def _arms_started(self) -> Iterator[Crew]:
        arms = list(dict.fromkeys(arm.name for arm in self._plan.arms))
        with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
            crew = Crew(self._peers, self._plan.num_ranks, self._cores, Path(folder), self._limits, self._say)
            try:
                for arm, why in crew.start(arms).items():
                    self._lose(arm, why)
                yield crew
            finally:
                crew.close()

    def _lose(self, arm: str, why: str) -> None:
        """Nothing more is to be had of `arm` in this launch."""
        for track in self._tracks.values():
            if track.arm == arm:
                track.fail(why)
                track.stays = 0

    def _fail(self, failed: Track, why: str) -> None:
        """What failed at a size is not asked for larger ones again, nor are variants if it was an ordinary call; an odd
        size stands for itself."""
        size_bytes = failed.size.size_bytes
        for (other, _), track in self._tracks.items():
            alike = track.label == failed.label or (track.arm == failed.arm and not failed.variant.name)
            if track is failed or (alike and other >= size_bytes and is_power_of_two(size_bytes)):
                track.fail(why)
                track.stays = 0

    # -- the first timing ---------------------------------------------------------------------------------------------

    def _time_first(self, until: float) -> None:
        """Finds out what a call takes, sizes ascending, the engine first; sizes not reached by `until` are dropped."""
        hopeless: set[str] = set()
        for size_bytes in sorted({size_bytes for size_bytes, _ in self._tracks}):
            tracks = [track for key, track in self._tracks.items() if key[0] == size_bytes and track.error is None]
            if time.monotonic() > until:
                self._drop(size_bytes)
                return
            for track in sorted(tracks, key=lambda track: track.label != reference_of(track.label)):
                if track.label in hopeless and not is_sampled(size_bytes):
                    track.fail(f"{TOO_SLOW}, as at smaller sizes")
                elif self._time_one(track):
                    hopeless.add(track.label)
                else:
                    hopeless.discard(track.label)

    def _time_one(self, track: Track) -> bool:
        """Decides how a track is visited, if it can be; True if it is too slow for all but a few sizes."""
        size_bytes = track.size.size_bytes
        half, engine = (self._tracks.get(key) for key in self._relatives(track))
        if size_bytes > EXTRAPOLATE and half is not None and half.visiting is not None:
            track.call, track.around = 2 * half.call, 2 * half.around
        elif not self._time_call(track):
            return False
        slow = engine is not None and engine.visiting is not None and is_hopeless(track.call, engine.call)
        if slow and engine is not None:
            again = self._run(track, self._work(size_bytes, 1, SECOND_LOOK, 0), self._first_limit)
            track.call = min(track.call, *again.slowest()) if again is not None else track.call
            slow = is_hopeless(track.call, engine.call)
        if (track.call > self._limits.call and size_bytes <= LARGE) or (slow and not is_sampled(size_bytes)):
            track.fail(f"{TOO_SLOW}: a call took {format_time(track.call)}")
        if track.error is None:
            ranks_a_core = self._plan.num_ranks / len(self._cores)
            track.visiting = visiting(track.size, track.call, track.around, ranks_a_core)
        return slow

    def _relatives(self, track: Track) -> tuple[tuple[int, str], tuple[int, str]]:
        """Keys of the same label at half the size, and of the engine's calls that this one is compared with."""
        return (track.size.size_bytes // 2, track.label), (track.size.size_bytes, reference_of(track.label))

    def _time_call(self, track: Track) -> bool:
        """Fills in `call` and `around`; False if the arm can't."""
        first = self._run(track, self._work(track.size.size_bytes, 1, 2, 1), self._first_limit)
        if first is None:
            return False
        track.call = min(first.slowest())
        if track.call < SHORT_CALL:
            several = self._run(track, self._work(track.size.size_bytes, FEW_CALLS, 1, 0), self._first_limit)
            if several is None:
                return False
            track.call = several.slowest()[0] / FEW_CALLS
        track.around = max(0.0, first.seconds / 3 - track.call)
        return True

    def _drop(self, from_size: int) -> None:
        """Takes a size and all larger ones from the launch."""
        self._tracks = {key: track for key, track in self._tracks.items() if key[0] < from_size}

    def _spend(self, seconds: float) -> None:
        """Shares the time that is left out over the cells; sizes that can't be afforded are taken from the launch."""
        timed = [track for track in self._tracks.values() if track.visiting is not None and self._is_paired(track)]
        floors: dict[int, float] = {}
        for track in timed:
            floors[track.size.size_bytes] = floors.get(track.size.size_bytes, 0.0) + track.stay_seconds
        if not floors:
            return
        self._drop(max(affordable(floors, seconds)) + 1)
        timed = [track for track in timed if track.size.size_bytes in {size for size, _ in self._tracks}]
        for track, stays in zip(timed, share_out([track.stay_seconds for track in timed], seconds), strict=True):
            track.stays = stays
        for track in timed:
            # The engine is there whenever another arm of its cell is: what is not paired is worth nothing.
            engine = self._tracks[self._relatives(track)[1]]
            engine.stays = max(engine.stays, track.stays)

    def _is_paired(self, track: Track) -> bool:
        engine = self._tracks.get(self._relatives(track)[1])
        return engine is not None and engine.visiting is not None and engine.error is None

    # -- the passes ---------------------------------------------------------------------------------------------------

    def _go_over(self, deadline: float) -> None:
        before = self._probe.measure()
        for pass_ in range(PASSES):
            rounds = [pass_ * ROUNDS_A_STAY + i for i in range(ROUNDS_A_STAY)]
            orders = {round_: visit_order(self._plan, self._launch, round_) for round_ in rounds}
            # The first round's order is also that of the cells; each round has its own order of the arms in a cell.
            for cell in dict.fromkeys((size_bytes, group_of(label)) for size_bytes, label in orders[rounds[0]]):
                if time.monotonic() > deadline:
                    return
                for round_, order in orders.items():
                    for size_bytes, label in order:
                        track = self._tracks.get((size_bytes, label))
                        if (size_bytes, group_of(label)) == cell and track is not None and self._is_due(track, pass_):
                            before = self._visit(track, round_, before)

    def _is_due(self, track: Track, pass_: int) -> bool:
        offset = self._seed + track.size.size_bytes.bit_length()  # not all dear cells in the same pass
        return track.stays > 0 and track.arm in self._crew and in_pass(pass_, track.stays, offset)

    def _visit(self, track: Track, round_: int, before: float | None) -> float | None:
        """One visit; returns the probe after it."""
        how = track.visiting
        assert how is not None, "only what was timed has stays"
        position = self._position
        work = self._work(track.size.size_bytes, how.calls, how.batches, how.warm_up)
        answer = self._run(track, work, self._limits.visit + 10 * how.seconds)
        after = self._probe.measure()
        if answer is not None:
            handoff = None if before is None or after is None else (before, after)
            track.add(answer, Visit(round=round_, position=position, num_iterations=how.batches, handoff=handoff))
        return after

    def _work(self, size_bytes: int, calls: int, batches: int, warm_up: int) -> Work:
        """Calls of the plan's collective; which data and variant _run() fills in."""
        return Work(self._plan.collective, size_bytes, calls, batches, warm_up, seed=0)

    def _run(self, track: Track, work: Work, timeout: float) -> Answer | None:
        """Runs `work` as the track's variant, on fresh data; None if it failed, which is noted."""
        if track.arm not in self._crew:
            return None
        variant, size_bytes = track.variant, work.size_bytes
        self._position += 1
        seed = self._seed + self._position + (SECOND_SEED_STEP if variant.second_seed else 0)
        work = replace(work, seed=seed, offset=variant.offset, shared=variant.shared)
        try:
            answer = self._crew.run(track.arm, work, timeout)
        except Refused as refused:
            track.error, track.stays = str(refused), 0
            return None
        except ArmFailed as failed:
            track.error = f"{failed} at {format_size(size_bytes)}"
            if track.arm in self._crew:
                self._fail(track, track.error)
            else:
                self._lose(track.arm, track.error)
            return None
        if any(answer.wrong):
            rank = next(rank for rank, wrong in enumerate(answer.wrong) if wrong)
            track.error, track.stays = f"{WRONG}{answer.wrong[rank]} elements on rank {rank}", 0
            self._say(f"{track.label} at {format_size(size_bytes)}: {track.error}")
            return None
        return answer
