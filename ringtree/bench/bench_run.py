"""One run of a bench: the ranks, and what they are asked from row to row.

For: the order of rows and halves, warm-up before them, and rows of what the ranks answer. Not for: what ranks do
(ringtree.measure.timed_side), or what is printed or stored.
"""

from __future__ import annotations

from collections.abc import Callable

from ringtree.arms import common_boundary, kind_named, native_of
from ringtree.bench.figures import MeasuredRow, make_side
from ringtree.bench.options import Options, is_through_torch
from ringtree.bench.rows import BenchRow, Combination, combinations, make_row, rows, warm_up_sizes
from ringtree.measure.collective_data import shape_of
from ringtree.measure.crew import Crew
from ringtree.measure.messages import SetSpec, SetUp, TimeSide
from ringtree.measure.plan import label_arms
from ringtree.measure.process_set import SetFailed
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.measure.worker_sides import WorkerSides
from ringtree.nccl.nccl_tests import COLLECTIVES, DTYPES, NO_OP, OPS

OnJoined = Callable[[list[int]], None]
OnRow = Callable[[MeasuredRow], None]
# Seconds. A loop may take as long as it was asked to: every wait in it has a deadline of its own, and the death of a
# rank is noticed at once.
_STALL_LIMIT = 1e6


def run(options: Options, on_joined: OnJoined, on_row: OnRow, crew: Crew | None = None) -> None:
    """Runs the bench. `on_joined`: called once, with the ranks' pids; `on_row`: with each row when it is done.
    `crew`: who starts the ranks where a launcher has started processes.

    Call it from the main thread. Raises LaunchFailed if a rank dies or fails.
    """
    ranks = _ranks(options, crew)
    try:
        ranks.start()
        for number, combination in enumerate(combinations(options)):
            answers = ranks.ask(_set_up(options, combination, f"{number}"))
            if not number:
                on_joined([pid for pid in ranks.pids for _ in range(options.num_threads)])
            errors = [
                f"rank {rank} reported: {each.error}" for rank, each in enumerate(answers) if each.error is not None
            ]
            if errors:
                raise LaunchFailed("; ".join(errors))
            for size in warm_up_sizes(options):
                ranks.ask(_side(options, make_row(options, combination, size), f"{number}", is_warm_up=True))
            for row in rows(options, combination):
                sides = [
                    make_side(options, row, ranks.ask(_side(options, row, f"{number}", in_place)))
                    for in_place in (False, True)
                ]
                on_row(MeasuredRow(row, *sides))
        ranks.close()
    except SetFailed as failed:
        raise LaunchFailed(str(failed)) from None
    finally:
        ranks.kill()


def _ranks(options: Options, crew: Crew | None) -> RankSet | WorkerSides:
    boundary = common_boundary([options.arm])
    if boundary == "native":
        native = native_of(label_arms([options.arm])[0], COLLECTIVES[options.asked.collective])
        return WorkerSides(native, options.num_ranks, options.seed, options.timeout)
    return RankSet(
        [],
        SetSpec(
            num_ranks=options.num_ranks,
            seed=options.seed,
            boundary="torch" if is_through_torch(options) else boundary,
            timeout=options.timeout,
            idle_limit=options.timeout,
            num_threads=options.num_threads,
            shared_buffers=options.shared_buffers,
        ),
        kind_named(options.arm).environment(options.arm),
        crew,
        _STALL_LIMIT,
    )


def _set_up(options: Options, combination: Combination, arm: str) -> SetUp:
    return SetUp(
        arm=arm,
        name=options.arm,
        collective=COLLECTIVES[options.asked.collective],
        op=OPS.get(combination.op, NO_OP),
        dtype=DTYPES[combination.dtype],
        root=max(0, combination.root),
        all_arguments=False,
    )


def _side(options: Options, row: BenchRow, arm: str, in_place: bool = False, is_warm_up: bool = False) -> TimeSide:
    is_checked = not is_warm_up and (not in_place or shape_of(COLLECTIVES[options.asked.collective]).can_be_in_place)
    return TimeSide(
        arm=arm,
        size_bytes=row.size_bytes,
        in_place=in_place,
        buffer_bytes=options.max_bytes,
        first_element=options.asked.unalign,
        num_untimed=options.asked.warmup_iters if is_warm_up else 1,
        num_iterations=0 if is_warm_up else options.asked.iters,
        num_calls=options.asked.agg_iters,
        blocking=options.asked.blocking,
        each=bool(options.asked.per_iter_timing),
        num_checks=options.asked.check if is_checked else 0,
    )
