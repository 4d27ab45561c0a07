"""Claims of the figures of a table: rates, comparisons, scaling, crossovers, rankings; true, false, open.

For: test_audit_claims.py. Not for: claims that need no table (claims_of_algorithms.py).
"""

from __future__ import annotations

from claims_said import DATA, FALLS, HOLDS, OPEN, Said

CLAIMS = [
    # Rates in the table, what they are, and what they are called.
    Said(
        'kind = "value", value = "469.8 GB/s", called = "busbw", column = "ring_GBps", '
        'row = {size = "1 GB"}, ranks = 8',
        HOLDS,
        "busbw",
        "busbw.csv",
    ),
    Said(
        'kind = "value", value = "469.8 GB/s", called = "algbw", column = "ring_GBps", '
        'row = {size = "1 GB"}, ranks = 8',
        FALLS,
        "268.4",
        "busbw.csv",
    ),
    Said(
        'kind = "value", value = "300 GB/s", column = "ring_GBps", row = {size = "1 GB"}', FALLS, "469.8", "busbw.csv"
    ),
    Said(
        'kind = "value", value = "160 GB/s", called = "algbw", column = "algbw_GBps", row = {size = "200 MB"}',
        HOLDS,
        "160",
        "algbw.csv",
    ),
    Said(
        'kind = "value", value = "240 GB/s", called = "busbw", column = "busbw_GBps", row = {size = "200 MB"}',
        OPEN,
        "no column 'busbw_GBps'",
        "algbw.csv",
    ),
    Said(
        'kind = "value", value = "1879 GB/s", column = "ring_GBps", row = {size = "1 GB"}',
        FALLS,
        "(n-1) · size/time",
        "seven.csv",
    ),
    Said(
        'kind = "value", value = "469.8 GB/s", highest = true, column = "ring_GBps", ranks = 8', HOLDS, "", "busbw.csv"
    ),
    Said(
        'kind = "value", value = "234.9 GB/s", highest = true, column = "ring_GBps", ranks = 8',
        FALLS,
        "469.8",
        "busbw.csv",
    ),
    Said(
        'kind = "value", value = "40 us", column = "ring_us", row = {size = "<= 64 KB"}', OPEN, "1 of 2", "latency.csv"
    ),
    Said('kind = "value", value = "40 us", column = "ring_us", row = {size = "1 KB"}', HOLDS, "ring_us", "latency.csv"),
    Said('kind = "value", value = "35 us", column = "ring_us", row = {size = "1 KB"}', FALLS, "40 us", "latency.csv"),
    Said(
        'kind = "value", value = "at most 50 us", column = "ring_us", row = {size = "< 1 MB"}', HOLDS, "", "latency.csv"
    ),
    Said(
        'kind = "value", value = "20 us", column = "ring_us", row = {size = "< 512"}',
        OPEN,
        "no selected row",
        "latency.csv",
    ),
    Said(
        'kind = "value", value = "40", column = "ring_us", row = {size = "1 KB"}', OPEN, "is not a time", "latency.csv"
    ),
    Said('kind = "value", value = "150 GB/s", called = "algbw", column = "busbw_GBps"', FALLS, "under", "untimed.csv"),
    Said('kind = "value", value = "150 GB/s", called = "busbw", column = "busbw_GBps"', HOLDS, "", "untimed.csv"),
    # What links permit: 8 GPUs, 300 GB/s each way: algbw 300·8/14 = 171.4; 17 GB need 99.2 ms.
    Said(
        'kind = "value", value = "536.9 GB/s", column = "algbw_GBps", row = {size = "1 GB"}',
        FALLS,
        "171.4",
        "fast.csv",
        DATA["A100"],
    ),
    Said('kind = "value", value = "536.9 GB/s", column = "algbw_GBps", row = {size = "1 GB"}', HOLDS, "", "fast.csv"),
    Said('kind = "transfer", size = "17 GB", time = "60 ms"', FALLS, "99.17 ms", claim=DATA["A100"]),
    Said('kind = "transfer", size = "17 GB", time = "120 ms"', OPEN, "permit", claim=DATA["A100"]),
    Said('kind = "transfer", size = "17 GB", time = "100 ms"', OPEN, "nothing lost", claim=DATA["A100"]),
    Said('kind = "transfer", size = "17 GB", time = "100 ms"', OPEN, "neither the table nor"),
    # 1 GiB / 2 ms = 537 fits, and is more than 171.4.
    Said(
        'kind = "transfer", size = "1 GB", time = "2 ms", rate = "536.9 GB/s"',
        FALLS,
        "no algorithm",
        claim=DATA["A100"],
    ),
    # 64 MiB / 1.21 ms = 55.46; times 1.875 = 104.
    Said('kind = "transfer", size = "64 MB", time = "1.21 ms", rate = "104 GB/s", called = "busbw", ranks = 16', HOLDS),
    Said(
        'kind = "transfer", size = "64 MB", time = "1.21 ms", rate = "104 GB/s", called = "algbw", ranks = 16',
        FALLS,
        "is the busbw",
    ),
    Said('kind = "transfer", size = "64 MB", time = "1.21 ms", rate = "70 GB/s", ranks = 16', FALLS, "does not follow"),
    Said('kind = "transfer", size = "64 MB", time = "1.21 ms", rate = "104 GB/s", called = "busbw"', OPEN, "ranks"),
    # Comparisons: 293.6/234.9 = 1.25; 5000 against 11000 µs (2.2 times: beyond noise).
    Said(
        'kind = "ratio", value = "25%", new = {column = "nvls_GBps", row = {size = "64 MB"}}, '
        'old = {column = "ring_GBps", row = {size = "64 MB"}}',
        OPEN,
        "1.25",
        "busbw.csv",
    ),
    Said(
        'kind = "ratio", value = "40%", new = {column = "nvls_GBps", row = {size = "64 MB"}}, '
        'old = {column = "ring_GBps", row = {size = "64 MB"}}',
        FALLS,
        "1.25",
        "busbw.csv",
    ),
    Said(
        'kind = "ratio", value = "2.2x", new = {column = "ring_us", row = {size = "256 MB"}}, '
        'old = {column = "tree_us", row = {size = "256 MB"}}',
        HOLDS,
        "noise",
        "latency.csv",
    ),
    Said(
        'kind = "ratio", value = "3x", new = {column = "ring_us", row = {size = "256 MB"}}, '
        'old = {column = "tree_us", row = {size = "256 MB"}}',
        FALLS,
        "0.4545",
        "latency.csv",
    ),
    Said('kind = "ratio", value = "20%", less = true, new = {value = "8 ms"}, old = {value = "10 ms"}', OPEN, "holds"),
    Said('kind = "ratio", value = "50%", less = true, new = {value = "8 ms"}, old = {value = "10 ms"}', FALLS, "0.8"),
    Said('kind = "ratio", value = "50%", new = {value = "8 ms"}, old = {value = "10 GB/s"}', OPEN, "can't be compared"),
    Said(
        'kind = "ratio", value = "2.8%", new = {column = "tree_tokens_per_s", row = {model = "Llama-8B", nodes = 4}}, '
        'old = {column = "default_tokens_per_s", row = {model = "Llama-8B", nodes = 4}}',
        OPEN,
        "one run",
        "training.csv",
    ),
    # 4000 against 19000 is beyond noise, unless both ran the same collectives.
    Said(
        'kind = "ratio", value = "79%", less = true, new = {column = "tree_tokens_per_s", row = {model = "Gemma-2B", '
        'nodes = 4}}, old = {column = "default_tokens_per_s", row = {model = "Gemma-2B", nodes = 4}}',
        HOLDS,
        "noise",
        "training.csv",
    ),
    Said(
        'kind = "ratio", value = "79%", less = true, new = {column = "tree_tokens_per_s", row = {model = "Gemma-2B", '
        'nodes = 4}}, old = {column = "default_tokens_per_s", row = {model = "Gemma-2B", nodes = 4}}, '
        'forced = ["Tree"]',
        OPEN,
        "no Tree",
        "training.csv",
        'training = "ZeRO-3"',
    ),
    Said(
        'kind = "ratio", value = "50%", new = {value = "150 GB/s", called = "algbw"}, '
        'old = {value = "100 GB/s", called = "busbw"}',
        FALLS,
        "an algbw is compared with a busbw",
    ),
    Said(
        'kind = "ratio", value = "50%", new = {column = "busbw_GBps"}, old = {column = "algbw_GBps"}',
        FALLS,
        "an algbw is compared with a busbw",
        "untimed.csv",
    ),
    # Scaling: 3600/4000 = 90 %, 19000/20000 = 95 %.
    Said(
        'kind = "ratio", scaling = true, value = "90%", new = {column = "default_tokens_per_s", '
        'row = {model = "Llama-8B", '
        'nodes = 4}}, old = {column = "default_tokens_per_s", row = {model = "Llama-8B", nodes = 1}}',
        HOLDS,
        "90",
        "training.csv",
    ),
    Said(
        'kind = "ratio", scaling = true, value = "90%", new = {column = "default_tokens_per_s", '
        'row = {model = "Gemma-2B", '
        'nodes = 4}}, old = {column = "default_tokens_per_s", row = {model = "Gemma-2B", nodes = 1}}',
        FALLS,
        "95.0",
        "training.csv",
    ),
    Said(
        'kind = "ratio", scaling = true, value = "90%", new = {value = "90 ms"}, old = {value = "100 ms"}',
        OPEN,
        "hosts",
    ),
    # Crossover: between 1 MB (90 > 80) and 16 MB (400 < 600).
    Said(
        'kind = "crossover", column = "ring_us", other = "tree_us", at = "about 4 MB"',
        OPEN,
        "1 MB and 16 MB",
        "latency.csv",
    ),
    Said(
        'kind = "crossover", column = "ring_us", other = "tree_us", at = "64 MB"',
        FALLS,
        "1 MB and 16 MB",
        "latency.csv",
    ),
    Said(
        'kind = "crossover", column = "ring_us", other = "tree_us", at = "4 MB", row = {size = "<= 1 MB"}',
        FALLS,
        "do not change places",
        "latency.csv",
    ),
    # Rankings.
    Said('kind = "ranking", column = "tree_us"', FALLS, "600 against 400", "latency.csv"),
    Said('kind = "ranking", column = "tree_us", row = {size = "1 KB"}', HOLDS, "1 KB", "latency.csv"),
    Said('kind = "ranking", column = "ring_us", row = {size = ">= 16 MB"}', OPEN, "one value per cell", "latency.csv"),
    Said(
        'kind = "ranking", column = "tree_us", row = {size = "1 KB"}, general = true',
        OPEN,
        "one machine",
        "latency.csv",
    ),
    Said('kind = "ranking", column = "default_tokens_per_s"', FALLS, "3600 against 3700", "training.csv"),
    Said('kind = "ranking", column = "tree_us", row = {size = ["1 KB", "64 KB"]}', OPEN, "2 of 2", "latency.csv"),
    Said('kind = "ranking", column = "tree_us"', OPEN, "no table is named"),
    Said('kind = "ranking", column = "ring_ms", against = ["ring_GBps"]', OPEN, "another time", "busbw.csv"),
    Said('kind = "crossover", column = "ring_ms", other = "ring_GBps", at = "1 MB"', OPEN, "time", "busbw.csv"),
]
