"""The shape of a bench's JSON file: nccl-tests' version 3, field by field.

For: the records. Not for: filling or writing them (json_report.py). As in nccl-tests, booleans are the strings "true"
and "false", and a root is as wide as its column. Fields that are not set are not written.
"""

from __future__ import annotations

from ringtree.results import Record

FILE_VERSION = 3


class Device(Record):
    rank: int
    group: int
    pid: int
    hostname: str
    device: int
    device_hex: str
    device_info: str


class Config(Record):
    """Of step_factor and step_bytes the one that counts is there."""

    nthreads: int
    ngpus: int
    minimum_bytes: int
    maximum_bytes: int
    step_factor: int = 0
    step_bytes: int = 0
    warmup_iters: int
    iterations: int
    aggregated_iterations: int
    validation: int
    graph: int
    blocking_collectives: str
    per_iter_timing: str
    per_iter_skip: int
    parallel_init: str
    devices: list[Device]


class SideRecord(Record):
    """Microseconds and GB/s; nwrong null: not checked."""

    time: float
    alg_bw: float
    bus_bw: float
    nwrong: float | None


class IterationsRecord(Record):
    """Microseconds; the summaries leave `skipped_iterations` out, the lists do not."""

    skipped_iterations: int
    min_us: float
    max_us: float
    avg_us: float
    p50_us: float
    p95_us: float
    p99_us: float
    stdev_us: float
    cv_pct: float
    times_us: list[float]
    per_process_max_times_us: list[list[float]] | None = None


class RowRecord(Record):
    size: int
    count: int
    type: str
    redop: str
    root: str
    out_of_place: SideRecord
    out_of_place_per_iter: IterationsRecord | None = None
    in_place: SideRecord
    in_place_per_iter: IterationsRecord | None = None
    actual_iterations: int
    experiment_name: str


class OutOfBounds(Record):
    count: int
    okay: str


class AverageBusBandwidth(Record):
    bandwidth: float
    okay: str


class Origin(Record):
    """What nccl-tests has no field for. `executed`: algorithm and protocol of each row, out of place and in place."""

    version: str
    collective: str
    arm: str
    num_ranks: int
    seed: int
    executed: list[tuple[str, str]]


class Report(Record):
    """The file. `results` and what follows say how far it came, also if `errors` says why not further."""

    version: int
    start_time: str
    args: list[str]
    env: list[str]
    nccl_version: int
    ringtree: Origin
    config: Config
    results: list[RowRecord]
    out_of_bounds: OutOfBounds
    average_bus_bandwidth: AverageBusBandwidth
    errors: list[str]
    end_time: str
