"""One section for each publication: its numbers, what follows from them, what stands.

For: the middle of the page. Not for: formulas in general (introduction.py), sentences (claims.py).
"""

from __future__ import annotations

from pathlib import Path

from published import hardware
from published.markdown import gb, paragraphs, percent, table
from ringtree.audit.claims.columns import base, column_formula
from ringtree.audit.claims.grid import Column, Grid, read_grid
from ringtree.stats.bandwidth import bus_factor


def grid(folder: Path, name: str) -> Grid:
    """The table of that name. Raises FileNotFoundError if it is not there."""
    found = read_grid(folder / name)
    if found is None:
        raise FileNotFoundError(f"{folder / name} holds no table")
    return found


def column(of: Grid, name: str) -> Column:
    """The column of that heading."""
    return next(one for one in of.columns if one.name == name)


def cell(of: Grid, row: int, name: str) -> str:
    """A cell as printed; – for an empty one."""
    return of.rows[row][column(of, name).place].strip() or "–"


def size_time(of: Grid, row: int, time: str) -> float | None:
    """Size over time in bytes/s, sizes in powers of 1024; None where one is missing."""
    found = base(of, row, column(of, time))
    return None if found is None else found.middle


def holds(of: Grid, rate: str, time: str, num_ranks: int | None) -> str:
    """In words, which formula a column of rates holds."""
    found = column_formula(of, column(of, rate), column(of, time), num_ranks)
    if found is None or not found.sure:
        return "no formula that is known here"
    unit = "powers of 1024" if found.binary else "powers of 1000"
    return f"{found.formula.words} in {found.num_explained} of {found.num_rows} rows, sizes as {unit}"


def own_ring(folder: Path) -> str:
    """A guide's ring in Python, NCCL, and nccl-tests."""
    of, n = grid(folder, "h100x16-ring-vs-nccl.csv"), 16
    factor = bus_factor("all_reduce", n)
    ring = hardware.nccl("Ring", hardware.h100_nodes(2)).busbw or 0.0
    rows = []
    for row in range(len(of.rows)):
        for name, time, rate in (("own ring", "custom_ring_ms", "custom_ring_GBps"), ("NCCL", "nccl_ms", "nccl_GBps")):
            plain = size_time(of, row, time)
            bus = None if plain is None else plain * factor
            share = None if bus is None else bus / ring
            rows.append(
                [
                    cell(of, row, "size"),
                    name,
                    cell(of, row, time),
                    cell(of, row, rate),
                    gb(plain),
                    gb(bus),
                    percent(share),
                ]
            )
    head = ["size", "program", "ms", "GB/s as published", "size/time", "busbw", f"of a ring's limit, {gb(ring)}"]
    text = f"""
The column of rates holds {holds(of, "nccl_GBps", "nccl_ms", n)}: it is a **busbw**, although a second table of the
same guide calls its last value, 140 GB/s, an algbw. The stated speed-ups follow from the times. A ring over two nodes
of 8 ports of 50 GB/s can't exceed a busbw of {gb(ring)} GB/s, so NCCL through PyTorch reached a third of what a ring
may; the guide's own ring, one at a time through Python, reached 5 %. It takes longer at 4 KB (1.81 ms) than at 4 MB
(1.61 ms): single runs scatter.
"""
    return "\n\n".join([table(head, rows, words=2), paragraphs(text), _summary(folder)])


def _summary(folder: Path) -> str:
    of = grid(folder, "h100x16-nccl-tests-summary.csv")
    rows = []
    for row, hosts in enumerate((2, 2, 2, 3)):
        algbw, busbw = of.value(row, column(of, "algbw_GBps")), of.value(row, column(of, "busbw_GBps"))
        limits = [hardware.nccl(name, hardware.h100_nodes(hosts)).busbw for name in ("Ring", "Tree", "NVLSTree")]
        port = None if busbw is None else busbw / 8
        again = None if algbw is None or busbw is None else algbw * bus_factor("all_reduce", 8 * hosts)
        rows.append(
            [
                cell(of, row, "program"),
                cell(of, row, "algbw_GBps"),
                cell(of, row, "busbw_GBps"),
                gb(again),
                gb(port),
                *map(gb, limits),
            ]
        )
    head = [
        "program, 8 GB",
        "algbw",
        "busbw",
        "algbw · 2(n−1)/n",
        "busbw / 8 ports",
        "limit Ring",
        "limit Tree",
        "limit NVLSTree",
    ]
    text = """
algbw and busbw of nccl-tests agree with each other. The first two rows stand in the column algbw and are busbw (see
above): like with like nccl-tests was 3.4 times as fast as NCCL through PyTorch, not 1.8 times, and that is two
programs with two set-ups, not one setting. On two nodes a ring would have needed 60.25 GB/s on each port of 50: **it
was no ring**. Tree would have had to use all of NVLink without any loss, so NVLSTree is left, which sends the vector
once over the network, 257/8 = 32.1 GB/s a port, 64 % of it. On three nodes 49 GB/s a port would be 98 % of a ring's
limit, or less of NVLSTree's: which one ran, the table does not say (`NCCL_DEBUG_SUBSYS=TUNING` would have).
"""
    return "\n\n".join([table(head, rows), paragraphs(text)])


def fine_tuning(folder: Path) -> str:
    """Tokens per second with NCCL_ALGO unset, Tree and Ring."""
    of = grid(folder, "finetune-h100-1to8nodes.csv")
    first: dict[str, float] = {}
    rows = []
    for row in range(len(of.rows)):
        model, nodes = cell(of, row, "model"), of.count(row, "hosts") or 1
        plain = of.value(row, column(of, "default_tokens_per_s")) or 0.0
        first.setdefault(model, plain / nodes)
        forced = []
        for name in ("tree_tokens_per_s", "ring_tokens_per_s"):
            value = of.value(row, column(of, name))
            forced += [cell(of, row, name), "–" if value is None else f"{100 * (value / plain - 1):+.1f} %"]
        rows.append(
            [
                model,
                str(nodes),
                cell(of, row, "default_tokens_per_s"),
                *forced,
                f"{100 * plain / nodes / first[model]:.1f} %",
            ]
        )
    head = ["model", "nodes", "default", "Tree", "over default", "Ring", "over default", "default: efficiency"]
    text = """
*Efficiency* is the throughput on N nodes over N times that on one. The published efficiencies stand as arithmetic.
Nothing follows about Tree and Ring: each cell is **one run**, and FSDP's FULL_SHARD moves parameters by all-gather
and gradients by reduce-scatter, for which NCCL has no Tree at all (up to NCCL 2.23 Ring runs silently, from 2.24 on
the call fails; what ran here was not recorded). So most likely the columns compare a thing with itself, and up to 8.2
% is what two runs of it may differ by on these machines. Efficiencies to a tenth of a per cent mean nothing either.
"""
    return "\n\n".join([table(head, rows), paragraphs(text)])


def tcpx(folder: Path) -> str:
    """Default against NVLSTree without InfiniBand."""
    of = grid(folder, "h100-tcpx-default-vs-nvlstree.csv")
    rows = []
    for row in range(len(of.rows)):
        n = of.count(row, "ranks") or 2
        cells = [cell(of, row, "nodes"), cell(of, row, "size")]
        for name in ("default", "nvlstree"):
            plain = size_time(of, row, f"{name}_ms")
            bus = None if plain is None else plain * bus_factor("all_reduce", n)
            cells += [cell(of, row, f"{name}_ms"), cell(of, row, f"{name}_GBps"), gb(plain), gb(bus)]
        rows.append(cells)
    head = [
        "nodes",
        "size",
        "default: ms",
        "published",
        "size/time",
        "busbw",
        "NVLSTree: ms",
        "published",
        "size/time",
        "busbw",
    ]
    text = f"""
The published "bandwidth" is {holds(of, "default_GBps", "default_ms", None)}; NVLSTree's is
{holds(of, "nvlstree_GBps", "nvlstree_ms", None)}. That is no rate of anything that a GPU or a link sees: n−1 is 15 on
2 nodes and 63 on 8, so the same time looks four times as good on 8 nodes. The times are worth keeping. By them the
default's busbw is 71 GB/s on 2 nodes and 47 on 8, where "1494 GB/s" was printed; the step from 2 to 8 nodes makes 512
MB 1.6 times slower, where "2.6 times better" was printed. NVLSTree is ahead up to 32 MB and behind from 64 MB on, on
2 and on 8 nodes; ten thousand iterations of one start are still one start, so where in between they change places
can't be told.
"""
    return "\n\n".join([table(head, rows, words=0), paragraphs(text)])


def a100(folder: Path) -> str:
    """Forced Ring and Tree on 8 A100."""
    of, limit = grid(folder, "a100x8-ring-vs-tree.csv"), hardware.any_algorithm(hardware.a100_host())
    rows = []
    for row in range(len(of.rows)):
        cells = [cell(of, row, "size")]
        for name in ("ring_GBps", "tree_GBps", "auto_GBps"):
            value = of.value(row, column(of, name))
            cells += [cell(of, row, name), "–" if value is None else percent(value / (limit.busbw or 1.0))]
        rows.append(cells)
    head = ["size", "Ring", "of the limit", "Tree", "of the limit", "AUTO", "of the limit"]
    text = f"""
The limit: {limit.arithmetic}. No algorithm passes that, since the switches between A100 do not add up. The column
does not say whether it is algbw or busbw, so the higher limit, {gb(limit.busbw)} GB/s, is taken. Tree's 460, 489 and
864 GB/s and AUTO's 808 and 313 are above it: **they were not measured on this hardware as what they claim to be**.
There are no times, so which formula made them can't be found. Neither column rises with the size as a bandwidth does
(Ring: 236, then 55, then 98), so the others are not to be relied on either. That Tree is better at every size is
contradicted in the table itself, at 2 MB and 8 MB.
"""
    return "\n\n".join([table(head, rows, words=0), paragraphs(text)])


def four_h100(folder: Path) -> str:
    """nccl-tests and a PyTorch benchmark on one host."""
    of, torch = grid(folder, "h100x4-nccl-tests.csv"), grid(folder, "h100x4-pytorch-bench.csv")
    way = hardware.one_way("NVIDIA H100 80GB HBM3")
    by_size = {torch.sizes(row)[0]: row for row in range(len(torch.rows))}
    rows = []
    for row in range(len(of.rows)):
        size = of.sizes(row)[0]
        if size < 1 << 15:
            continue
        plain = size_time(of, row, "out_of_place_us")
        bus = None if plain is None else plain * bus_factor("all_reduce", 4)
        other = cell(torch, by_size[size], "busbw_GBps") if size in by_size else "–"
        label = f"{size / 2**20:g} MiB" if size >= 1 << 20 else f"{size / 2**10:g} KiB"
        rows.append(
            [label, cell(of, row, "out_of_place_us"), cell(of, row, "out_of_place_algbw_GBps"),
             cell(of, row, "out_of_place_busbw_GBps"),
             gb(plain), gb(bus), percent(None if bus is None else bus / way), other]
        )  # fmt: skip
    head = ["size", "µs", "algbw", "busbw", "size/time", "· 1.5", f"of {gb(way)}", "PyTorch: busbw"]
    values = [
        of.value(row, column(of, f"{side}_busbw_GBps")) or 0.0
        for row in range(len(of.rows))
        for side in ("out_of_place", "in_place")
    ]
    text = f"""
Out of place, from 32 KiB. **All of it stands**: the column algbw holds
{holds(of, "out_of_place_algbw_GBps", "out_of_place_us", 4)}; busbw holds
{holds(of, "out_of_place_busbw_GBps", "out_of_place_us", 4)}; the printed average, 98.414, is that of the column,
{sum(values) / len(values) / 1e9:.2f}. At 1 GiB busbw is 79 % of the 450 GB/s that an H100 can send. Held against 900,
which is both directions, it looked like 40 %. Up to 128 KiB every size takes the same 24 µs: that is latency, and a
rate there says nothing. The same host through PyTorch agrees from 512 MiB on and is far behind below 4 MiB, where the
time that PyTorch needs for a call counts. Each size is one run of 20 iterations.
"""
    return "\n\n".join([table(head, rows, words=0), paragraphs(text)])


def protocols(folder: Path) -> str:
    """A guide's table of NCCL's protocols, and its rules of selection."""
    from ringtree.audit.claims.nccl_facts import HOP_LATENCIES, PROTOCOLS, RELEASE, SLOTS

    of = grid(folder, "protocols.csv")
    rows = []
    for row, name in enumerate(line[0] for line in of.rows):
        fact = PROTOCOLS[name]
        index = ("LL", "LL128", "Simple").index(name)
        hops = " / ".join(f"{latencies['Ring'][index]:g}" for latencies in HOP_LATENCIES.values())
        rows.append(
            [name, cell(of, row, "share_of_peak"), f"{100 * fact.share:.4g} %",
             cell(of, row, "buffer"), f"{fact.buffer / 2**10:g} KiB",
             cell(of, row, "slot"), f"{fact.slot / 2**10:g} KiB", cell(of, row, "hop_us"), hops]
        )  # fmt: skip
    head = ["protocol", "of peak, stated", "data in a line", "buffer, stated", "default", "slot, stated", "default",
            "µs a hop, stated",
            "NVLink / PCIe / network"]  # fmt: skip
    text = f"""
A **protocol** is how a receiver knows that data are there: *Simple* raises a flag after a whole chunk; *LL* puts 4
bytes of flag beside every 4 of data, *LL128* 8 beside 120. So LL can't pass 50 % and LL128 can't pass 93.75 %, and
the stated shares stand. Defaults and latencies are those of NCCL {RELEASE}, in {SLOTS} slots: the buffer of LL is
twice what is stated (256 KiB are the data in it). The time of a hop depends on the link; the stated ones are like
NCCL's constants for PCIe, and are not those of the GH200 that the guide quotes.

The same guide says which algorithm NCCL picks below 128 KB, to 10 MB and above. NCCL has no such thresholds: it
models the time of every algorithm and protocol from nodes, GPUs and links, and takes the least. On one node of 8 H100
its model has Ring below Tree even at 1 KB (15.0 against 15.2 µs, both LL), since a tree inside a node is a chain.
"""
    return "\n\n".join([table(head, rows), paragraphs(text)])


def pcie(folder: Path) -> str:
    """A "typical PCIe system"."""
    of = grid(folder, "pcie-typical.csv")
    rows = [
        [cell(of, row, "size"), cell(of, row, "ring_GBps"), cell(of, row, "tree_GBps")] for row in range(len(of.rows))
    ]
    text = """
No machine, no number of GPUs, no times, no runs: nothing here can be derived again, and nothing is refuted. That
rings win large sizes is what formulas 3 and 4 lead one to expect.
"""
    return "\n\n".join([table(["size", "Ring, GB/s", "Tree, GB/s"], rows, words=0), paragraphs(text)])
