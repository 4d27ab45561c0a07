"""For each code of the audit: tables in which it must be found, and near misses in which it must not.

For: test_audit_rules.py, and docs/audit.md, whose examples are what these tables give. Not for: real logs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from audit_support import (
    GIGABYTE,
    SIZES,
    average,
    make_table,
    side,
    usual_time,
    with_sides,
)

from ringtree.audit import Setup
from ringtree.logs import FAILED, IN_PLACE, OUT_OF_PLACE, Document, Format, Item, Printed, Row, Side, Skipped, Table
from ringtree.logs.records import Example
from ringtree.logs.tables.csv_file import FORMAT as CSV
from ringtree.logs.tables.markdown import FORMAT as MARKDOWN

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
GBIT = 1e9 / 8


@dataclass(frozen=True)
class Case:
    """What is audited. `skipped`: lines that no reader took; `setup`: what the user says."""

    items: Callable[[], list[Item]]
    skipped: tuple[Skipped, ...] = ()
    setup: Setup = field(default_factory=Setup)


@dataclass(frozen=True)
class Pair:
    """`fires`: the code must be found; `near`: almost the same, and it must not."""

    fires: Case
    near: Case


def _one(make: Callable[[], Item]) -> Case:
    return Case(lambda: [make()])


def _pair(fires: Callable[[], Item], near: Callable[[], Item]) -> Pair:
    return Pair(_one(fires), _one(near))


_DOTTED = "67108864 16777216 float sum -1 XXXX.X XX.XX XX.XX"
_NCCL_FAILURE = (
    "node-1: Test NCCL failure common.cu:401 'unhandled system error (run with NCCL_DEBUG=INFO for details) / '"
)


def _warned(text: str) -> Document:
    warning = {"where": "net.cc:1", "text": text, "num": 1, "line": 3, "host": "node-1", "pid": 7}
    data = {"num": 1, "num_error_returns": 0, "warnings": [warning], "error_returns": []}
    return Document(Format("nccl-info"), "nccl_warnings", 3, data)


def _decided(*ran: str) -> list[Item]:
    """A table of 1 GB that was forced to a tree, and NCCL's lines about as many calls of that size."""
    decisions = [
        {"collective": "all_reduce", "size_bytes": 1 << 30, "algorithm": one, "protocol": "Simple"} for one in ran
    ]
    data = {"decisions": decisions, "left_out": {}}
    table = make_table(sizes=[1 << 30], algorithm="Tree")
    return [table, Document(Format("nccl-info"), "nccl_communicator", 1, data)]


def _scaled(algbw: float = 1.0, busbw: float = 1.0, *, where: Callable[[Row], bool] | None = None) -> Table:
    """Returns a table whose rates are multiples of what they should be."""

    def change(row: Row, one: Side) -> Side:
        assert row.size_bytes is not None
        seconds = usual_time(row.size_bytes) * (0.99 if one.place == IN_PLACE else 1.0)
        return side("all_reduce", 8, row.size_bytes, seconds, one.place, algbw_times=algbw, busbw_times=busbw)

    table = with_sides(make_table(), change, where)
    table.average_busbw = average(table)
    return table


def _stated(num_ranks: int, made: int) -> Table:
    table = make_table(num_ranks=made)
    table.num_ranks, table.devices = num_ranks, table.devices[:1] * num_ranks
    return table


def _wrong(text: str, heading: str = "#wrong", place: str = OUT_OF_PLACE, okay: bool | None = None) -> Table:
    def change(row: Row, one: Side) -> Side:
        return one._replace(wrong=Printed(text)) if one.place == place else one

    table = with_sides(make_table(), change, lambda row: row.size_bytes == 32 * MB)
    table.columns["wrong"] = heading
    table.out_of_bounds_okay = okay
    table.num_out_of_bounds = {True: 0, False: 1, None: None}[okay]
    return table


def _all_to_all(in_place: Callable[[int], float], wrong: str) -> Table:
    table = make_table("all_to_all", in_place=in_place)
    return with_sides(table, lambda row, one: one._replace(wrong=Printed(wrong)) if one.place == IN_PLACE else one)


def _without_time(table: Table) -> Table:
    return with_sides(table, lambda row, one: one._replace(time=None, algbw=None))


def _named(table: Table, **fields: object) -> Table:
    for name, value in fields.items():
        setattr(table, name, value)
    return table


def _alone(number: int, first_line: int = 5, last_line: int = 40) -> Table:
    table = make_table(num_ranks=1, time=lambda size: 5e-6 + size / 1e12, in_place=lambda size: 0.1e-6)
    table.devices, table.first_line, table.last_line = ["NVIDIA A100-SXM4-80GB"], first_line + number, last_line
    return table


def _settings(**changed: str) -> Table:
    table = make_table()
    table.settings = {**table.settings, **{name.replace("_", " "): value for name, value in changed.items()}}
    return table


def _without(table: Table, *sizes: int) -> Table:
    table.rows = [row for row in table.rows if row.size_bytes not in sizes]
    return table


def _same_time(*sizes: int) -> Table:
    """Returns a table that has the time of its largest size at others, with the rates that belong to it."""

    def change(row: Row, one: Side) -> Side:
        assert row.size_bytes is not None
        return side("all_reduce", 8, row.size_bytes, 10756.6e-6, one.place)

    table = with_sides(make_table(), change, lambda row: row.size_bytes in sizes)
    table.average_busbw = average(table)
    return table


def _faster(factor: Callable[[int], float], **fields: Any) -> Table:
    return make_table(time=lambda size: usual_time(size) / factor(size), **fields)


def _arms(factor: Callable[[int], float], runs: int = 1) -> Callable[[], list[Item]]:
    """Returns tables of two algorithms, as somebody's comparison."""

    def make() -> list[Item]:
        tables: list[Item] = []
        for name, speed in (("Ring", lambda size: 1.0), ("Tree", factor)):
            for run in range(runs):
                table = _faster(lambda size, speed=speed, run=run: speed(size) * (1 + 0.01 * run), algorithm=name)
                tables.append(_named(table, format=MARKDOWN, title="Sweep", first_line=100 * len(tables) + 5))
        return tables

    return make


def _flat(floor: float, num_ranks: int = 2) -> Table:
    return make_table(num_ranks=num_ranks, time=lambda size: max(floor * (1 + 1e-9 * (size % 997)), size / 10e9))


def _slow_at(times: dict[int, float]) -> Table:
    return make_table(time=lambda size: usual_time(size) * times.get(size, 1.0))


def _row(line: int, size_bytes: int | None, **figures: Printed) -> Row:
    return Row(line, size_bytes, (Side("", **figures),))


def _throughput(factor: float) -> Table:
    """Returns what DeepSpeed's relatives print: no time, busbw, and a throughput of `factor` × size/time."""
    rows = []
    for line, size_bytes in enumerate((GB, 4 * GB), 9):
        rate = size_bytes / usual_time(size_bytes)
        busbw = Printed(f"{rate * 1.75 / GBIT:.6f}", GBIT)
        rows.append(Row(line, size_bytes, (Side("", busbw=busbw, others=(("tput", _gbit(rate * factor)),)),)))
    table = Table(Format("all_reduce_bench"), 8, rows=rows, collective="all_reduce", num_ranks=8)
    table.columns = {"tput": "tput_avg (Gbps)", "busbw": "busbw_avg (Gbps)"}
    return table


def _gbit(rate: float) -> Printed:
    return Printed(f"{rate / GBIT:.6f}", GBIT)


def _summary() -> Table:
    rows = [_row(line, None, busbw=Printed("265.63", GIGABYTE)) for line in (2, 3)]
    return Table(CSV, 1, rows=rows, collective="all_reduce", num_ranks=8)


def _training(
    *rates: str, algorithm: str | None = None, kind: str = "", measure: str = "items/s", title: str = ""
) -> Callable[[], list[Item]]:
    """Returns tables of a training on 1, 2, ... nodes, as the readers give them: one for each cell."""

    def make() -> list[Item]:
        tables: list[Item] = []
        for number, rate in enumerate(rates):
            row = Row(number + 2, None, (Side("", others=((measure, Printed(rate)),)),))
            table = Table(CSV, 1, rows=[row], num_hosts=number + 1, columns={measure: measure}, title=title)
            table.settings = {"arm": "default"} | ({"training": kind} if kind else {})
            table.algorithm = algorithm
            tables.append(table)
        return tables

    return make


CASES: dict[str, Pair] = {
    "scaling-above-one": Pair(Case(_training("19106", "41299")), Case(_training("19106", "38212"))),
    "scaling-not-stated": Pair(
        Case(_training("2.10", "1.80", measure="step time")),
        Case(_training("2.10", "1.80", measure="step time", title="Strong scaling")),
    ),
    "setting-without-effect": Pair(
        Case(_training("19106", "38000", algorithm="tree", kind="FSDP FULL_SHARD")),
        Case(_training("19106", "38000", algorithm="tree", kind="DDP")),
    ),
    "wrong-results": _pair(lambda: _wrong("288", okay=False), lambda: _wrong("7e-07", "error", okay=True)),
    "ranks-ran-alone": Pair(
        Case(lambda: [_alone(number) for number in range(8)]),
        # One run of one rank, and nothing says that more were meant.
        Case(lambda: [_alone(0, 5, 40)]),
    ),
    "one-rank": _pair(lambda: _alone(0), lambda: make_table(num_ranks=2)),
    "algbw-holds-other": _pair(lambda: _scaled(algbw=2.0), lambda: _scaled(algbw=1.0)),
    "throughput-holds-other": _pair(lambda: _throughput(2.0), lambda: _throughput(1.0)),
    "rank-count-differs": _pair(lambda: _stated(144, 128), lambda: _stated(128, 128)),
    "busbw-holds-other": _pair(
        lambda: _scaled(busbw=0.5),
        # An all-gather has that factor.
        lambda: make_table("all_gather"),
    ),
    "factor-varies": _pair(
        lambda: _scaled(busbw=1.02, where=lambda row: row.size_bytes == GB),
        lambda: _scaled(busbw=1.0, where=lambda row: row.size_bytes == GB),
    ),
    "factor-impossible": _pair(lambda: _scaled(busbw=0.57), lambda: make_table(num_ranks=2)),
    "figures-do-not-fit": _pair(
        lambda: _scaled(1.001, 1.001, where=lambda row: row.size_bytes == GB), lambda: _scaled(1.0, 1.0)
    ),
    "counts-disagree": _pair(
        lambda: _named(
            make_table(),
            rows=[
                row._replace(count=row.count and row.count + 4 * (row.size_bytes == MB)) for row in make_table().rows
            ],
        ),
        lambda: make_table("all_gather"),
    ),
    "average-differs": _pair(
        lambda: make_table(average_busbw=Printed("99.1234", GIGABYTE)),
        lambda: make_table("all_gather", 80),
    ),
    "average-of-more-rows": _pair(
        lambda: _without(make_table(), KB, 2 * KB), lambda: make_table(settings={}, complete=None)
    ),
    "copied-figures": _pair(lambda: _same_time(256 * MB, 512 * MB, GB), lambda: _same_time(512 * MB, GB)),
    "copied-tables": Pair(
        Case(lambda: [make_table(), make_table(first_line=100, algorithm="Tree")]),
        Case(lambda: [make_table(), _faster(lambda size: 1.01, first_line=100)]),
    ),
    "repeated-rows": _pair(
        lambda: _named(make_table(), rows=[*make_table().rows, make_table().rows[3]._replace(line=99)]),
        lambda: _named(make_table(), rows=[*make_table().rows, make_table().rows[3]._replace(line=99, op="max")]),
    ),
    "in-place-all-to-all": _pair(
        lambda: _all_to_all(lambda size: 9e-6, "1e+00"),
        lambda: _all_to_all(lambda size: 1.01 * usual_time(size), "0e+00"),
    ),
    "sides-disagree": _pair(
        lambda: make_table(in_place=lambda size: 3 * usual_time(size)),
        # Six neighbours that differ happen; and single rows of any factor.
        lambda: make_table(in_place=lambda size: usual_time(size) * (1.4 if KB <= size <= 32 * KB else 1.0)),
    ),
    "forced-plan": _pair(
        lambda: make_table(environment={"MSCCL_XML_FILES": "/plans/allpairs.xml"}),
        lambda: make_table(environment={"RCCL_MSCCL_ENABLE": "0"}),
    ),
    "algorithm-unsupported": _pair(
        lambda: make_table("all_gather", environment={"NCCL_ALGO": "Tree"}),
        lambda: make_table("all_gather", environment={"NCCL_ALGO": "allreduce:tree"}),
    ),
    "algorithm-without-effect": _pair(
        lambda: make_table("all_to_all", environment={"NCCL_ALGO": "Ring"}),
        lambda: make_table("all_reduce", environment={"NCCL_ALGO": "Ring"}),
    ),
    "other-algorithm-ran": Pair(Case(lambda: _decided("Ring")), Case(lambda: _decided("Ring", "Tree"))),
    "library-older-than-gpu": _pair(
        lambda: make_table(devices=["NVIDIA GB300"] * 8, library_version="2.21.5"),
        lambda: make_table(devices=["NVIDIA GB300"] * 8, library_version="2.25.1"),
    ),
    "headers-differ": _pair(
        lambda: _settings(**{"nccl-headers": "22803", "nccl-library": "22707"}),
        lambda: _settings(**{"nccl-headers": "22803", "nccl-library": "22803"}),
    ),
    "versions-differ": _pair(
        lambda: _settings(**{"nccl-headers": "22707", "nccl-library": "22707"}),
        lambda: _settings(**{"nccl-headers": "22803", "nccl-library": "22803"}),
    ),
    "slow-first-row": _pair(lambda: _slow_at({KB: 40.0}), lambda: _slow_at({KB: 2.0})),
    "latency-floor": _pair(lambda: _flat(2.2e-3), lambda: _flat(0.2e-3)),
    "bandwidth-collapse": _pair(
        lambda: make_table(time=lambda size: usual_time(size) * (6 if size >= 64 * MB else 1)),
        # It recovers.
        lambda: make_table(time=lambda size: usual_time(size) * (6 if size in (64 * MB, 128 * MB) else 1)),
    ),
    "times-jump": _pair(
        lambda: _slow_at({8 * KB: 9.0, 64 * KB: 8.0, 512 * KB: 7.0}), lambda: _slow_at({8 * KB: 9.0, 64 * KB: 8.0})
    ),
    "single-runs-compared": Pair(Case(_arms(lambda size: 1.05)), Case(_arms(lambda size: 1.05, runs=5))),
    "winner-flips": Pair(
        Case(_arms(lambda size: 1.2 if SIZES.index(size) % 6 < 3 else 0.8)),
        # One crossover.
        Case(_arms(lambda size: 1.2 if size < MB else 0.8)),
    ),
    "above-limit": _pair(lambda: _faster(lambda size: 8.0), lambda: make_table()),
    "above-ring-limit": _pair(
        # NVLS: 275 GB/s of algbw, 482 GB/s of busbw, over links of 450 GB/s.
        lambda: make_table(time=lambda size: 20e-6 + size / 275e9),
        lambda: make_table(time=lambda size: 20e-6 + size / 255e9),
    ),
    "limit-not-checked": _pair(lambda: make_table(devices=[]), lambda: make_table(devices=["NVIDIA H100 80GB HBM3"])),
    "machine-stated-otherwise": Pair(
        Case(lambda: [make_table()], setup=Setup(gpu="A100")), Case(lambda: [make_table()], setup=Setup(gpu="H100"))
    ),
    "run-failed": Pair(
        Case(lambda: [make_table()], (Skipped(FAILED, 3, [Example(31, _NCCL_FAILURE)]),)),
        Case(
            lambda: [make_table(), _warned("NET/Plugin: Could not find: libnccl-net.so")],
            (Skipped("no reader knows it", 1, [Example(31, "Test with a failure in mind")]),),
        ),
    ),
    "rows-missing": _pair(lambda: _without(make_table(), MB, 2 * MB), make_table),
    "output-cut": _pair(lambda: make_table(complete=False), make_table),
    "results-not-checked": _pair(lambda: _settings(validation="0"), lambda: _settings(validation="1")),
    "few-iterations": _pair(lambda: _settings(iters="1"), lambda: _settings(iters="20")),
    "placeholders": Pair(
        Case(list, (Skipped("no reader knows it", 6, [Example(8, _DOTTED)]),)),
        Case(list, (Skipped("no reader knows it", 1, [Example(8, "user@host-xxxx:~$ ./build/all_reduce_perf XX")]),)),
    ),
    "no-table": Pair(Case(lambda: [Document(Format("topo"), "nvidia_topology", 1, {})]), _one(make_table)),
    "summary-only": _pair(_summary, lambda: _without_time(make_table())),
}
