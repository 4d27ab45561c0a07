"""What NCCL chose for each call, in the words of each release."""

from __future__ import annotations

from typing import Any

import pytest
from nccl_info_support import communicator, communicators, complete, line, start

from ringtree.nccl import names


def decisions(*messages: str, version: str = "", num_ranks: int = 4) -> list[dict[str, Any]]:
    text = f"NCCL version {version}+cuda12.4\n" if version else ""
    text += start(0, num_ranks) + complete(0, num_ranks)
    found: list[dict[str, Any]] = communicator(text + "".join(line(0, message, tid=100) for message in messages))[
        "decisions"
    ]
    return found


def said(decision: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(decision[name] for name in names)


def test_2_20_to_2_22_say_numbers_and_not_the_collective() -> None:
    messages = ["4096 Bytes -> Algo 1 proto 0 time 12.300000"] * 3 + ["8192 Bytes -> Algo 5 proto 2 time 20.500000"]
    first, second = decisions(*messages, version="2.21.5")
    assert said(first, "collective", "algorithm", "protocol", "num") == (None, "ring", "ll", 3)
    assert said(first, "printed_bytes", "size_bytes", "modelled_us") == (4096, 4096, 12.3)
    assert said(second, "algorithm", "protocol", "num") == ("nvls_tree", "simple", 1)


def test_an_algorithm_that_a_release_had_not_is_none() -> None:
    message = "4096 Bytes -> Algo 6 proto 2 time 1.000000"
    assert [said(decision, "algorithm") for decision in decisions(message, version="2.22.3")] == [(None,)]
    (pat,) = decisions("AllGather: " + message, version="2.23.4")
    assert said(pat, "collective", "algorithm") == ("all_gather", "pat")


def test_without_a_version_the_form_of_the_line_tells_the_table() -> None:
    (before,) = decisions("4096 Bytes -> Algo 6 proto 2 time 1.000000")
    (after,) = decisions("AllGather: 4096 Bytes -> Algo 6 proto 2 time 1.000000")
    assert (before["algorithm"], after["algorithm"]) == (None, "pat")


def test_bytes_of_all_gather_are_all_ranks_up_to_2_23_and_one_ranks_from_2_24_on() -> None:
    (before,) = decisions("AllGather: 4096 Bytes -> Algo 1 proto 0 time 1.000000", num_ranks=4)
    (after,) = decisions("AllGather: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}", num_ranks=4)
    assert said(before, "printed_bytes", "per_rank", "size_bytes") == (4096, False, 4096)
    assert said(after, "printed_bytes", "per_rank", "size_bytes") == (1024, True, 4096)
    (reduce,) = decisions("AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}", num_ranks=4)
    assert said(reduce, "per_rank", "size_bytes") == (None, 1024)


def test_2_24_says_names_and_channels() -> None:
    (decision,) = decisions("AllReduce: 4194304 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={2..15}")
    assert said(decision, "algorithm", "protocol", "path") == ("nvls_tree", "simple", "kernel")
    assert said(decision, "channel_low", "channel_high", "num_channels", "modelled_us") == (2, 15, 14, None)


@pytest.mark.parametrize("word", ["TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"])
def test_every_name_of_an_algorithm(word: str) -> None:
    (decision,) = decisions(f"AllReduce: 8 Bytes -> Algo {word} proto LL128 channel{{Lo..Hi}}={{0..0}}")
    assert said(decision, "algorithm", "protocol") == (word.lower(), "ll128")


def test_symmetric_kernels_and_copy_engines() -> None:
    symmetric, engine, between_hosts = decisions(
        "AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_AGxLL_R nchannels 8 nthreads 512 nWorks 1",
        "ReduceScatter [Copy Engine]: 1024 Bytes -> cudaMemcpy; CE synchronization with NVLS",
        "Scatter [Hierarchical CE]: 1024 Bytes -> RMA proxy + CE",
    )
    assert said(symmetric, "path", "kernel", "num_channels", "algorithm") == ("symmetric", "AllReduce_AGxLL_R", 8, None)
    assert said(engine, "path", "size_bytes") == ("copy_engine", 4096)
    assert said(between_hosts, "path") == ("hierarchical_copy_engine",)
    (first_form,) = decisions("AllReduce [Symmetric]: 8 Bytes -> Kernel AllReduce_RSxLD_AGxST nchannels 4 nthreads 512")
    assert said(first_form, "path", "num_channels") == ("symmetric", 4)


def test_2_31_tells_the_models_input_which_names_the_communicator() -> None:
    given = (
        "Input: { .comm = 0x5500, .tuningMask = 11, .func = AllGather, .redOp = 0, .devRedop = 0, .dataType = 0, "
        ".nBytes = 4096, .numPipesOps = 1, .count = 1024, .countMax = 1024, .nWorks = 1, .winRegType = 0, "
        ".regBuff = 0 }"
    )
    best = (
        "Best tuning { .id = 1, .valid = 1, timeUs = 12.500000,  .algo = RING, .proto = LL, .symKernelId = Unknown, "
        "nChannels = 2, maxChannels = 2, nWarps = 4, forced = 0 }"
    )
    (decision,) = decisions(given, best, "AllGather: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}")
    assert said(decision, "algorithm", "num", "size_bytes", "modelled_us") == ("ring", 1, 4096, 12.5)


def test_decisions_go_to_the_communicator_of_which_the_process_is_rank_0() -> None:
    text = "".join(start(rank, 2) + complete(rank, 2) for rank in range(2))
    text += line(
        0, "ncclCommInitRank comm 0x77 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1 commId 0xbbb - Init COMPLETE"
    )
    text += line(0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1", tid=100)  # of either
    text += line(0, "AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", tid=100)
    first, second, either = communicators(text)
    assert (len(first["decisions"]), len(second["decisions"])) == (1, 0)
    assert (len(either["decisions"]), len(either["transports"])) == (0, 1)


def test_the_call_before_a_decision_names_its_communicator() -> None:
    text = start(0, 2, "0xaaa") + complete(0, 2, "0xaaa")
    text += line(
        0, "ncclCommInitRank comm 0x77 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1 commId 0xbbb - Init COMPLETE"
    )
    call = (
        "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 2 datatype 7 op 0 root 0 comm 0x77 [nranks=8] stream 0x1"
    )
    text += line(0, call, tid=100)
    text += line(0, "AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", tid=100)
    first, second = communicators(text)
    assert (len(first["decisions"]), len(second["decisions"])) == (0, 1)


def test_decisions_that_were_cut_are_counted() -> None:
    text = start(0, 2) + line(0, "AllReduce: 8 Bytes -> Algo RI") + line(0, "AllReduce: 8 Bytes -> Algo")
    assert communicator(text)["left_out"] == {"decisions that were cut": 2}


@pytest.mark.parametrize(
    ("version", "number", "name"),
    [
        ((2, 30), 6, "pat"),
        ((2, 23), 6, "pat"),
        ((2, 22), 6, None),
        ((2, 18), 5, "nvls_tree"),
        ((2, 17), 5, None),
        ((2, 17), 4, "nvls"),
        ((2, 14), 3, "collnet_chain"),
        ((2, 13), 3, None),
        ((2, 13), 2, "collnet"),
        ((2, 6), 2, "collnet"),
        ((2, 5), 2, None),
        ((2, 7), 1, "ring"),
        ((2, 4), 0, None),
    ],
)
def test_tables_of_algorithms_by_release(version: tuple[int, int], number: int, name: str | None) -> None:
    assert names.algorithm_by_number(number, version) == name
