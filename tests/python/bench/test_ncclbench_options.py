"""Options of `ringtree bench`: nccl-tests' defaults, and one line for each mistake.

For: ringtree.bench.options and what the command refuses. Not for: ranks (test_ncclbench_run.py).
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from cli_support import assert_refused, invoke
from ncclbench_support import options_of

from ringtree.bench.options import parse_min_busbw
from ringtree.errors import UsageError


def test_defaults_are_those_of_nccl_tests_but_for_a_second_rank() -> None:
    options = options_of()
    assert (options.min_bytes, options.max_bytes, options.step_bytes) == (32 << 20, 32 << 20, 1 << 20)
    assert (options.asked.iters, options.asked.agg_iters, options.asked.warmup_iters, options.asked.check) == (
        20,
        1,
        1,
        1,
    )
    assert (options.ops, options.dtypes, options.roots, options.asked.average) == (["sum"], ["float"], [-1], 1)
    assert (options.asked.collective, options.arm) == ("all_reduce", "auto")
    assert (options.num_processes, options.num_threads) == (2, 1)


@pytest.mark.parametrize(
    ("ngpus", "nthreads", "processes", "threads"),
    [(None, None, 2, 1), (1, None, 1, 1), (4, None, 4, 1), (None, 3, 1, 3), (2, 2, 2, 2)],
)
def test_ranks_are_processes_times_threads(ngpus: Any, nthreads: Any, processes: int, threads: int) -> None:
    options = options_of(ngpus=ngpus, nthreads=nthreads)
    assert (options.num_processes, options.num_threads) == (processes, threads)
    assert options.num_ranks == processes * threads


def test_all_means_every_type_op_and_root_in_the_order_of_nccl_tests() -> None:
    options = options_of(collective="reduce", datatype="all", op="all", root="all", ngpus=3)
    assert options.dtypes == ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double"]
    assert options.ops == ["sum", "prod", "max", "min", "avg", "mulsum"]
    assert options.roots == [0, 1, 2]


@pytest.mark.parametrize(
    ("collective", "ops", "roots"),
    [
        ("all_gather", ["none"], [-1]),
        ("broadcast", ["none"], [1]),
        ("alltoall", ["none"], [-1]),
        ("gather", ["none"], [1]),
        ("scatter", ["none"], [1]),
        ("sendrecv", ["max"], [-1]),  # nccl-tests prints it, although nothing is reduced
    ],
)
def test_what_a_collective_has_not_is_none(collective: str, ops: list[str], roots: list[int]) -> None:
    options = options_of(collective=collective, op="max", root="1")
    assert (options.ops, options.roots) == (ops, roots)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-b much", "invalid size"),
        ("-b 0", "at least 1 byte"),
        ("-b 64M", "-b 64M is larger than -e 32M"),
        ("-b 8 -i 0", "-i 0 never gets"),
        ("-b 8 -e 32T", "does not fit"),
        ("-f -1", "-f -1 is too small"),
        ("-n 0", "-n 0 is too small: use at least 1"),
        ("-m 0", "-m 0 is too small"),
        ("-w -1", "-w -1 is too small"),
        ("-c -1", "-c -1 is too small"),
        ("-a 4", "-a 4 is invalid; choose from: 0, 1, 2, 3"),
        ("-z 4", "-z 4 is invalid"),
        ("-I 2", "-I 2 is invalid"),
        ("-K 1", "add -I 1"),
        ("-I 1 -K 20", "at least one of 20 iterations"),
        ("-g 0", "-g times -t must lie in 1..1024"),
        ("-g 64 -t 64", "-g times -t must lie in 1..1024"),
        ("-o median", "-o median is not available; choose from: sum, prod, max, min, avg, mulsum, all"),
        ("-d int7", "-d int7 is not available; choose from: int8"),
        ("-d int8 -g 200", "too many for exact sums"),
        ("-d int8 -o avg -g 12", "too many for exact averages"),
        ("--collective broadcast -r 2", "-r 2 is not a root of 2 ranks: use 0..1 or all"),
        ("--collective scan", "bench can't run 'scan'"),
        ("--collective sendrecv --arm ring", "unknown arm 'ring' for send_recv; choose from: auto"),
        ("--arm fastest", "unknown arm 'fastest'"),
        ("--arm textbook-shm:ring --collective broadcast", "unknown arm 'textbook-shm:ring' for broadcast"),
        ("-R 1", "-R 1 is invalid"),
        ("-J out.csv", "ends in .json"),
        ("-J no/such/place.json", "can't write no/such/place.json"),
        ("-G 1", "-G (--cudagraph) is about CUDA graphs"),
        ("-G1", "-G (--cudagraph)"),
        ("--cudagraph=2", "-G (--cudagraph)"),
        ("--cta_policy 1", "-x (--cta_policy)"),
        ("-D 2 -b 8", "-D (--device_implementation)"),
        ("-Q", "unknown option '-Q'"),
        ("--minbyte 8", "unknown option '--minbyte'"),
        ("8", "unexpected argument '8'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: str, said: str) -> None:
    assert_refused(invoke("bench", *arguments.split()), said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"arm": "gloo", "nthreads": 2}, "use -g 2 instead of -t 2"),
        ({"arm": "gloo", "op": "avg"}, "-o avg is not available; choose from: sum, prod, max, min, all"),
        ({"arm": "gloo", "datatype": "f8e4m3"}, "int8, uint8, int32, int64, half, float, double, bfloat16, all"),
        ({"arm": "gloo", "datatype": "uint32"}, "-d uint32 is not available"),
        ({"arm": "send-recv:ring", "local_register": 2}, "send-recv:ring has no shared buffers"),
    ],
)
def test_arms_of_torch_can_do_less(monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], said: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)  # with or without PyTorch
    with pytest.raises(UsageError, match=re.escape(said)):
        options_of(**asked)
    assert options_of(arm="gloo", op="all").ops == ["sum", "prod", "max", "min"]


def test_types_that_numpy_lacks_need_torch_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="-d bfloat16 is not NumPy's"):
        options_of(datatype="bfloat16")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    assert options_of(datatype="f8e4m3").dtypes == ["f8e4m3"]


def test_an_arm_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="PyTorch is not installed: run `make torch`"):
        options_of(arm="gloo")


def test_the_least_bandwidth_is_read_like_nccl_tests_reads_it() -> None:
    assert parse_min_busbw(None) is None
    assert parse_min_busbw("12.5") == 12.5
    for text in ("fast", "-1", "nan", "inf"):
        with pytest.raises(UsageError, match="NCCL_TESTS_MIN_BW"):
            parse_min_busbw(text)


def test_help_names_every_letter_and_what_g_and_t_mean_here() -> None:
    text = invoke("bench", "-h", COLUMNS="160", TERMINAL_WIDTH="160").stdout
    for letter in "beifnmwNcdorzagtIKSuRJT":
        assert re.search(rf"(^|[\s│])-{letter}\s", text), letter
    assert "each with -t ranks" in text
    assert "share one interpreter" in text
