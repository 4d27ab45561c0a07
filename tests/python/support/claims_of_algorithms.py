"""Claims of steps, bytes, protocols, ports, limits and choices: true, false, open.

For: test_audit_claims.py. Not for: claims of the figures of a table (claims_of_tables.py).
"""

from __future__ import annotations

from claims_said import DATA, FALLS, HOLDS, OPEN, Said

CLAIMS = [
    # Steps: 2(n-1), 2·floor(log2 n), n-1 for one half; 2n-1 calls of a ring's program.
    Said('kind = "steps", algorithm = "ring", ranks = 32, count = 62', HOLDS, "2(n-1)"),
    Said('kind = "steps", algorithm = "ring", ranks = 32, count = 31', FALLS, "one half of it"),
    Said('kind = "steps", algorithm = "double_tree", ranks = 64, count = 12', HOLDS, "12"),
    Said('kind = "steps", algorithm = "tree", ranks = 64, count = 6', FALLS, "one half of it"),
    Said('kind = "steps", algorithm = "double_tree", ranks = 64, count = 6', FALLS, "only the way up"),
    Said('kind = "steps", algorithm = "ring", collective = "reduce_scatter", ranks = 8, count = 7', HOLDS, "n-1"),
    Said('kind = "steps", algorithm = "ring", collective = "all_gather", ranks = 8, count = 14', FALLS, "takes 7"),
    Said('kind = "steps", algorithm = "ring", count = "2(N-1)"', HOLDS),
    Said('kind = "steps", algorithm = "ring", count = "N-1"', FALLS, "2(n-1)"),
    Said('kind = "steps", algorithm = "ring", count = "2N-1"', FALLS, "calls of one rank"),
    Said('kind = "steps", algorithm = "ring", count = "2N-1", counted = "calls"', HOLDS, "2(n-1)"),
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = 15, counted = "calls"', HOLDS, "14"),
    Said('kind = "steps", algorithm = "recursive_doubling", count = "log2(N)"', HOLDS),
    Said('kind = "steps", algorithm = "halving_doubling", count = "log2(N)"', FALLS, "counted"),
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = 7, denied = true', HOLDS, "denies"),
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = 14, denied = true', FALLS, "denies"),
    Said('kind = "steps", algorithm = "tree", count = 8', OPEN, "the number of ranks"),
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = "14 S"', OPEN, "not a number of steps"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", ranks = 12, hosts = 5, count = 4', OPEN, "evenly"),
    Said('kind = "steps", algorithm = "ring", ranks = 100000, count = 199998', OPEN, "too many to count"),
    Said('kind = "steps", algorithm = "fancy", ranks = 8, count = 8', OPEN, "algorithm 'fancy'"),
    # Whose tree: 2·3 on 8 ranks in the textbook; in NCCL a chain inside a host, 7 up and 7 down; 2·(7+1) on 2 × 8.
    Said('kind = "steps", algorithm = "tree", ranks = 8, hosts = 1, count = 6', HOLDS, "14 on 1 × 8"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", ranks = 8, hosts = 1, count = 14', HOLDS, "14"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", ranks = 8, hosts = 1, count = 6', FALLS, "chain inside"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", ranks = 16, hosts = 2, count = 16', HOLDS, "2 hosts"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", ranks = 16, count = 16', OPEN, "the number of hosts"),
    Said('kind = "steps", algorithm = "Tree", whose = "nccl", count = "2·log2(N)"', OPEN, "depend on the hosts"),
    Said('kind = "steps", algorithm = "Ring", whose = "nccl", ranks = 16, hosts = 2, count = "2(N-1)"', HOLDS, "30"),
    # 2·7 = 14 steps of 10 µs.
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = 14, each = "10 us"', OPEN, "time of one"),
    Said('kind = "steps", algorithm = "ring", ranks = 8, count = 7, each = "20 us"', FALLS, "14"),
    Said(
        'kind = "steps", algorithm = "ring", ranks = 5, count = 8, each = "5 us", column = "ring_us", '
        'row = {size = "1 KB"}',
        HOLDS,
        "40 us",
        "latency.csv",
    ),
    Said(
        'kind = "steps", algorithm = "ring", ranks = 5, count = 8, each = "9 us", column = "ring_us", '
        'row = {size = "1 KB"}',
        FALLS,
        "5 us a step",
        "latency.csv",
    ),
    # Bytes.
    Said('kind = "bytes", algorithm = "ring", ranks = 8, times_size = 1.75', HOLDS, "1.75"),
    Said('kind = "bytes", algorithm = "ring", ranks = 8, times_size = 0.875', FALLS, "1.75"),
    Said('kind = "bytes", algorithm = "ring", collective = "reduce_scatter", times_size = "(N-1)/N x S"', HOLDS),
    Said('kind = "bytes", times_size = "(N-1)/N x the size"', FALLS, "another share"),
    # A rank inside a double tree sends half of the size up and to two children, and half up as a leaf: 2·S.
    Said('kind = "bytes", algorithm = "double_tree", ranks = 16, times_size = 2', HOLDS, "2"),
    # NCCL's chain of 8: 2·7/8 of the size for each rank.
    Said('kind = "bytes", algorithm = "Tree", whose = "nccl", ranks = 8, times_size = 1.75', HOLDS, "1.75"),
    # Time and bandwidth.
    Said('kind = "formula", of = "time", formula = "2(N-1)/N * S/B"', HOLDS, "2(n-1)/n"),
    Said('kind = "formula", of = "time", formula = "2(N-1) * alpha + 2 (N-1)/N * S/B"', HOLDS),
    Said('kind = "formula", of = "time", formula = "(N-1) * alpha + 2 (N-1)/N * S/B"', FALLS),
    Said('kind = "formula", of = "time", formula = "2(N-1) alpha + 2 (N-1)/N S beta"', HOLDS),
    Said('kind = "formula", of = "time", formula = "N x S / bandwidth"', FALLS),
    Said('kind = "formula", of = "time", collective = "reduce_scatter", formula = "(N-1)/N x S / bandwidth"', HOLDS),
    Said('kind = "formula", of = "time", formula = "(N-1)/N x S / B"', FALLS, "one half of it"),
    Said('kind = "formula", of = "bandwidth", formula = "N/(2(N-1)) x B"', HOLDS),
    Said('kind = "formula", of = "time", formula = "2 S / B", approximate = true', HOLDS),
    Said('kind = "formula", of = "time", formula = "2 S / B"', FALLS),
    Said('kind = "formula", algorithm = "fancy", of = "time", formula = "2 S / B"', OPEN, "fancy"),
    # Protocols and buffers: 4/8, 120/128 = 93.75 %; NVLink 0.6/1.9/3.4 µs a hop; 4 MiB, 512 KiB, 4800 KiB in 8 slots.
    Said('kind = "protocol", protocol = "LL", data = 4, flags = 4, share = "50%"', HOLDS, "50"),
    Said('kind = "protocol", protocol = "LL", data = 4, flags = 4, share = "75%"', FALLS, "50"),
    Said('kind = "protocol", protocol = "LL128", data = 112, flags = 16', FALLS, "120"),
    Said('kind = "protocol", protocol = "LL128", share = "98%"', FALLS, "93.75"),
    Said('kind = "protocol", protocol = "LL128", share = "94%"', HOLDS, "93.75"),
    Said('kind = "protocol", protocol = "LL128", share = "70%"', OPEN, "depends on the machine"),
    Said('kind = "protocol", hops = {LL = "0.6 us", LL128 = "1.9 us", Simple = "3.4 us"}, link = "NVLink"', HOLDS),
    Said('kind = "protocol", hops = {LL = "1 us", LL128 = "2 us", Simple = "6 us"}, link = "NVLink"', FALLS, "0.6/1.9"),
    Said('kind = "protocol", hops = {Simple = "100 us"}', OPEN, "like none"),
    Said('kind = "protocol", protocol = "LL"', OPEN, "states nothing"),
    Said('kind = "protocol", protocol = "Simple", buffer = "4 MiB", slots = 8, slot = "512 KiB"', HOLDS, "512 KiB"),
    Said('kind = "protocol", protocol = "LL", buffer = "512 KiB", slots = 8, slot = "64 KiB"', HOLDS, "64 KiB"),
    Said('kind = "protocol", protocol = "LL", buffer = "512 KiB", slots = 8, slot = "32 KiB"', FALLS, "256 KiB"),
    Said('kind = "protocol", protocol = "LL", buffer = "256 KiB"', FALLS, "the data in it"),
    # Ports: a ring over 4 hosts with 350 busbw over 8 ports: 43.75 each; two hosts that add up inside: algbw/8 = 30.
    Said(
        'kind = "ports", rate = "350 GB/s", called = "busbw", hosts = 4, ports = 8, each = "43.75 GB/s", '
        'line_rate = "50 GB/s", share = "88%"',
        HOLDS,
        "43.75",
    ),
    Said(
        'kind = "ports", rate = "350 GB/s", called = "busbw", hosts = 4, ports = 8, each = "43.75 GB/s", '
        'line_rate = "50 GB/s", share = "98%"',
        FALLS,
        "88",
    ),
    Said(
        'kind = "ports", rate = "240 GB/s", called = "algbw", hosts = 2, ports = 8, each = "30 GB/s"', HOLDS, "adds up"
    ),
    Said(
        'kind = "ports", rate = "240 GB/s", called = "algbw", hosts = 2, ports = 8, each = "9 GB/s"', FALLS, "neither"
    ),
    Said(
        'kind = "ports", rate = "240 GB/s", called = "algbw", ports = 8, each = "30 GB/s"', OPEN, "the number of hosts"
    ),
    # Shares of a limit: H100 450 each way, A100 300; 600 is both ways.
    Said('kind = "limit_share", rate = "360 GB/s", limit = "450 GB/s", value = "80%"', HOLDS, "80", claim=DATA["H100"]),
    Said(
        'kind = "limit_share", rate = "240 GB/s", limit = "600 GB/s", value = "40%"', FALLS, "300", claim=DATA["A100"]
    ),
    Said(
        'kind = "limit_share", rate = "240 GB/s", limit = "600 GB/s", value = "40%", direction = "both"',
        HOLDS,
        "300",
        claim=DATA["A100"],
    ),
    Said('kind = "limit_share", rate = "240 GB/s", limit = "600 GB/s", value = "50%"', FALLS, "40"),
    Said('kind = "limit_share", rate = "6.1 GB/s", limit = "12.2 GB/s", value = "50%"', OPEN, "not known"),
    # 300 GB/s is what an A100 sends, and what a V100 sends and receives.
    Said('kind = "limit_share", rate = "240 GB/s", limit = "300 GB/s", value = "80%"', OPEN, "not known"),
    Said('kind = "limit_share", rate = "240 GB/s", limit = "300 GB/s", value = "80%", direction = "one"', HOLDS),
    Said('kind = "limit_share", value = "92%"', OPEN, "which advertised rate"),
    # Links of a ring between hosts: as many as hosts.
    Said('kind = "crossings", hosts = 4, ranks = 32, count = 4, share = "12.5%"', HOLDS, "4 of the ring's 32"),
    Said('kind = "crossings", hosts = 4, ranks = 32, count = 8, share = "25%"', FALLS, "4 of 32"),
    Said('kind = "crossings", hosts = 4, ranks = 32, count = 4, share = "25%"', FALLS, "12.5"),
    Said('kind = "crossings", hosts = 3, ranks = 32, count = 3', OPEN, "evenly"),
    # Forced algorithms: DDP all_reduces, FSDP does not; NCCL's Tree is for all_reduce only.
    Said('kind = "effect", algorithms = ["Tree"], on = ["all_reduce"]', HOLDS, "all_reduce", claim='training = "DDP"'),
    Said('kind = "effect", algorithms = ["Tree"]', FALLS, "reduce_scatter", claim='training = "ZeRO-3"'),
    Said('kind = "effect", algorithms = ["Tree"], denied = true', HOLDS, "2.24", claim='training = "FSDP FULL_SHARD"'),
    Said('kind = "effect", algorithms = ["Ring"], denied = true', FALLS, "all_reduce", claim='training = "DDP"'),
    Said('kind = "effect", algorithms = ["Tree", "Ring"], denied = true', FALLS, "Ring", claim='training = "FSDP"'),
    Said('kind = "effect", algorithms = ["Tree"], on = ["all_gather"]', FALLS, "no Tree"),
    Said('kind = "effect", algorithms = ["Tree"], on = ["all_gather"]', FALLS, "Ring", claim='nccl = "2.21.5"'),
    Said('kind = "effect", algorithms = ["Ring"], on = ["reduce_scatter"]', HOLDS, "Ring"),
    Said('kind = "effect", algorithms = ["Ring"]', OPEN, "neither collectives"),
    # Choice by size: never by size alone.
    Said(
        'kind = "choice", rules = [{to = "64 KB", algorithms = ["Tree"]}, {above = "64 KB", algorithms = ["Ring"]}]',
        OPEN,
        "15.0 us",
    ),
    Said('kind = "choice", rules = [{to = "4 KB", algorithms = ["Ring", "Tree"]}]', OPEN, "no thresholds"),
    # Mixtral-8x22B: 56·8·3·6144·16384 = 135.3e9 of 140.6e9 in experts: 96.2 %.
    Said('kind = "parameters", model = "Mixtral-8x22B", value = "about 96%", which = "in the experts"', HOLDS, "96.2"),
    Said('kind = "parameters", model = "Mixtral-8x7B", value = "28%", which = "active for a token"', HOLDS, "27.6"),
    Said('kind = "parameters", model = "Mixtral-8x7B", value = "28%", which = "outside the experts"', FALLS, "3.4 %"),
    Said(
        'kind = "parameters", model = "Mixtral-8x7B", value = "3.4%", '
        'which = "outside the experts", less_traffic = true',
        OPEN,
        "how the training is divided",
    ),
    Said(
        'kind = "parameters", model = "Mixtral-8x7B", value = "3.4%", '
        'which = "outside the experts", less_traffic = true, '
        'training = "FSDP"',
        FALLS,
        "moves all parameters",
    ),
    Said('kind = "parameters", model = "Unknown-MoE", value = "10%", which = "in the experts"', OPEN, "not known"),
    Said('kind = "cause", cause = "thanks to tuning"', OPEN, "cause"),
]
