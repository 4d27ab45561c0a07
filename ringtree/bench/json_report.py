"""The JSON file of a bench: made at the start, written at the end, whatever that is.

For: filling the records (json_records.py) from what was measured. Not for: text (show/bench_text.py).

As in nccl-tests a file that exists is never written over. Unlike there, the environment holds only settings without
secrets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path

from ringtree.bench.figures import BenchSide, Iterations, MeasuredRow, Summary
from ringtree.bench.json_records import (
    FILE_VERSION,
    AverageBusBandwidth,
    Config,
    Device,
    IterationsRecord,
    Origin,
    OutOfBounds,
    Report,
    RowRecord,
    SideRecord,
)
from ringtree.bench.machine import device_of
from ringtree.bench.options import Options
from ringtree.errors import UsageError, os_errors
from ringtree.measure.environment import allowed
from ringtree.storable import storable_command
from ringtree.version import __version__

NO_NCCL = 0  # of the field nccl_version: a number there
_TIME = "%Y-%m-%d %H:%M:%S"


class JsonFile:
    """The file that -J names, or, where that exists, the same name with .0, .1 and so on; `path` says which.

    Made before the ranks start, so that a run of hours does not end without it. Raises UsageError.
    """

    def __init__(self, path: str) -> None:
        if not path.lower().endswith(".json"):
            raise UsageError(f"-J writes JSON, so give it a name that ends in .json, not {path}")
        self._file = self._create(path)
        self.path = self._file.name
        self._started = datetime.now()

    def write(
        self,
        options: Options,
        pids: Sequence[int],
        rows: Sequence[MeasuredRow],
        summary: Summary,
        errors: Sequence[str],
    ) -> None:
        """Writes the report and closes the file. Raises UsageError if that can't be done."""
        report = make_report(options, pids, rows, summary, errors, self._started, datetime.now())
        with os_errors(f"can't write {self.path}"), self._file as file:
            file.write(report.model_dump_json(exclude_unset=True, indent=1) + "\n")

    @staticmethod
    def _create(path: str) -> TextIOWrapper:
        attempt, number = Path(path), 0
        while True:
            try:
                return attempt.open("x", encoding="utf-8")
            except FileExistsError:
                attempt, number = Path(f"{path}.{number}"), number + 1
            except OSError as error:
                raise UsageError(f"can't write {attempt}: {error.strerror}") from error


def make_report(
    options: Options,
    pids: Sequence[int],
    rows: Sequence[MeasuredRow],
    summary: Summary,
    errors: Sequence[str],
    started: datetime,
    ended: datetime,
) -> Report:
    """Returns the report of a run, also of one that did not get to its end. Only fields that are set are written."""
    return Report(
        version=FILE_VERSION,
        start_time=started.strftime(_TIME),
        args=storable_command(sys.argv),
        env=[f"{name}={value}" for name, value in allowed(dict(os.environ)).items()],
        nccl_version=NO_NCCL,
        ringtree=Origin(
            version=__version__,
            collective=options.asked.collective,
            arm=options.arm,
            num_ranks=options.num_ranks,
            seed=options.seed,
            executed=[(row.out_of_place.executed, row.in_place.executed) for row in rows],
        ),
        config=_config(options, pids),
        results=[_row(options, row) for row in rows],
        out_of_bounds=OutOfBounds(count=summary.num_failed, okay=_bool(summary.num_failed == 0)),
        average_bus_bandwidth=AverageBusBandwidth(
            bandwidth=summary.busbw / 1e9,
            okay="unchecked" if summary.required is None else _bool(summary.is_fast_enough),
        ),
        errors=list(errors),
        end_time=ended.strftime(_TIME),
    )


def _config(options: Options, pids: Sequence[int]) -> Config:
    step = (
        {"step_factor": options.asked.stepfactor}
        if options.asked.stepfactor > 1
        else {"step_bytes": options.step_bytes}
    )
    return Config(
        nthreads=options.num_threads,
        ngpus=options.num_gpus,
        minimum_bytes=options.min_bytes,
        maximum_bytes=options.max_bytes,
        **step,
        warmup_iters=options.asked.warmup_iters,
        iterations=options.asked.iters,
        aggregated_iterations=options.asked.agg_iters,
        validation=options.asked.check,
        graph=0,
        blocking_collectives=_bool(options.asked.blocking != 0),
        per_iter_timing=_bool(bool(options.asked.per_iter_timing)),
        per_iter_skip=options.asked.per_iter_skip,
        parallel_init=_bool(False),
        # One of each process, as there: whoever reads per_process_max_times_us finds its processes by their place here.
        devices=[_device(options, rank, pid) for rank, pid in list(enumerate(pids))[:: options.num_threads]],
    )


def _device(options: Options, rank: int, pid: int) -> Device:
    found = device_of(rank, options.on_gpu)
    return Device(
        rank=rank,
        group=0,
        pid=pid,
        hostname=options.host_of(rank),
        device=found.number,
        device_hex=found.kind,
        device_info=found.name,
    )


def _row(options: Options, measured: MeasuredRow) -> RowRecord:
    row = measured.row
    per_iteration = {
        name: _iterations(options, side.iterations)
        for name, side in zip(("out_of_place_per_iter", "in_place_per_iter"), measured.sides, strict=True)
        if side.iterations is not None
    }
    return RowRecord(
        size=row.size_bytes,
        count=row.elements.count,
        type=row.combination.dtype,
        redop=row.combination.op,
        root=f"{row.combination.root:6d}",
        out_of_place=_side(measured.out_of_place),
        in_place=_side(measured.in_place),
        **per_iteration,
        actual_iterations=options.asked.iters,
        experiment_name="",
    )


def _side(side: BenchSide) -> SideRecord:
    return SideRecord(
        time=side.seconds * 1e6,
        alg_bw=side.algbw / 1e9,
        bus_bw=side.busbw / 1e9,
        nwrong=None if side.num_wrong is None else float(side.num_wrong),
    )


def _iterations(options: Options, each: Iterations) -> IterationsRecord:
    rows: dict[str, list[list[float]]] = {}
    if options.num_processes > 1:
        rows["per_process_max_times_us"] = [_microseconds(times) for times in each.by_process]
    return IterationsRecord(
        skipped_iterations=options.asked.per_iter_skip,
        min_us=each.min * 1e6,
        max_us=each.max * 1e6,
        avg_us=each.average * 1e6,
        p50_us=each.p50 * 1e6,
        p95_us=each.p95 * 1e6,
        p99_us=each.p99 * 1e6,
        stdev_us=each.deviation * 1e6,
        cv_pct=100 * each.variation,
        times_us=_microseconds(each.times),
        **rows,
    )


def _microseconds(seconds: Sequence[float]) -> list[float]:
    return [value * 1e6 for value in seconds]


def _bool(value: bool) -> str:
    return "true" if value else "false"
