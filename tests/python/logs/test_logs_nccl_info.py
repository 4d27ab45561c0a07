"""NCCL's log lines: whose they are, and what each release writes."""

from __future__ import annotations

import pytest
from nccl_info_support import (
    all_ranks,
    assert_left_out,
    communicator,
    communicators,
    complete,
    documents,
    line,
    read,
    start,
)

from ringtree.logs.kinds import KINDS
from ringtree.logs.nccl_info import facts
from ringtree.logs.nccl_info import reader as reader_module


def test_a_communicator_of_2_27_with_all_that_is_said_of_it() -> None:
    text = (
        "NCCL version 2.27.3+cuda12.9\n"
        + all_ranks(2, "NCCL_ALGO set by environment to Ring")
        + all_ranks(2, "NET/Plugin: Loaded net plugin IBext (v10)")
        + all_ranks(2, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>")
        + all_ranks(2, "Using network IBext")
        + start(0, 2)
        + start(1, 2)
        + line(0, "comm 0x5500 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0")
        + line(1, "comm 0x5501 rank 1 nRanks 2 nNodes 1 localRanks 2 localRank 1 MNNVL 0")
        + all_ranks(2, "=== System : maxBw 360.0 totalBw 360.0 ===")
        + all_ranks(2, "Pattern 4, crossNic 0, nChannels 8, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1")
        + all_ranks(2, " 0 : GPU/0-18000 GPU/0-2a000")
        + line(0, "Channel 00/02 : 0 1")
        + line(0, "Channel 01/02 : 0 1")
        + all_ranks(
            2, "16 coll channels, 16 collnet channels, 4 nvls channels, 32 p2p channels, 2 p2p channels per peer"
        )
        + all_ranks(2, "Channel 00/0 : {rank}[{rank}] -> {following}[{following}] via P2P/CUMEM/read")
        + all_ranks(2, "Connected all rings, use ring PXN 0 GDR 1")
        + all_ranks(2, "NVLS multicast support is available on dev {rank}")
        + complete(0, 2)
        + complete(1, 2)
        + line(0, "Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.76 (kernels 0.29, alloc 1.37, rest 0.10)")
        + line(1, "comm 0x5501 rank 1 nranks 2 cudaDev 1 busId 2000 - Destroy COMPLETE")
    )
    (document,) = documents(text)
    data = document.data
    assert KINDS[document.kind].model_validate(data).plain() == data
    assert (document.first_line, document.last_line) == (10, 33)
    assert (data["comm_id"], data["library"], data["version"]) == ("0xabc", "nccl", "2.27.3")
    assert (data["num_ranks"], data["num_ranks_seen"], data["num_hosts"]) == (2, 2, 1)
    assert data["created_by"] == "ncclCommInitRank"
    assert data["environment"] == {"NCCL_ALGO": "Ring"}
    assert (data["network"], data["network_plugin"]) == ("IBext", "IBext (v10)")
    assert data["nics"] == ["[0]mlx5_0:1/IB", "[1]mlx5_1:1/RoCE"]
    assert data["channels"] == {"coll": 16, "collnet": 16, "nvls": 4, "p2p": 32, "p2p_per_peer": 2}
    assert (data["system_max_bw_gb_per_second"], data["system_total_bw_gb_per_second"]) == (360.0, 360.0)
    (graph,) = data["graphs"]
    assert (graph["pattern_name"], graph["num_channels"], graph["type_intra"], graph["num"]) == ("ring", 8, "NVL", 2)
    assert [ring["order"] for ring in data["rings"]] == [[0, 1], [0, 1]]
    assert all(ring["complete"] for ring in data["rings"])
    (transport,) = data["transports"]
    assert (transport["name"], transport["gdr"], transport["num"]) == ("P2P/CUMEM", False, 2)
    assert data["statements"]["Connected all rings, use ring PXN 0 GDR 1"] == 2
    assert data["statements"]["NVLS multicast support is available on dev #"] == 2
    assert [(rank["rank"], rank["bus_id"], rank["local_rank"], rank["state"]) for rank in data["ranks"]] == [
        (0, "1000", 0, "complete"),
        (1, "2000", 1, "destroyed"),
    ]
    assert data["ranks"][0]["init_seconds"] == 1.76
    assert data["left_out"] == {}
    assert read(text).skipped == []


def test_up_to_2_17_the_name_comes_last() -> None:
    text = "NCCL version 2.16.5+cuda11.8\n" + line(0, "Channel 00/01 :    0   1   2   3")
    text += all_ranks(4, "Ring 00 : {previous} -> {rank} -> {following}")
    for rank in range(4):
        text += line(rank, f"comm 0x55{rank} rank {rank} nranks 4 cudaDev {rank} busId {rank}000 - Init COMPLETE")
    (document,) = documents(text)
    data = document.data
    assert (data["comm_id"], data["num_ranks_seen"], data["num_ranks"]) == (None, 4, 4)
    assert data["rings"][0]["source"] == "neighbours"
    assert data["rings"][0]["order"] == [0, 1, 2, 3]
    assert {inference.what for inference in document.inferences} == {"ranks", "version", "num_hosts"}


def test_2_4_writes_connections_as_rings_and_trees_from_above() -> None:
    text = line(0, "Channel 00 :    0   1   2   3")
    text += all_ranks(4, "Ring 00 : {rank}[{rank}] -> {following}[{following}] via P2P/IPC")
    places = {0: "-1->0->1/-1/-1", 1: "0->1->2/3/-1", 2: "1->2->-1/-1/-1", 3: "1->3->-1/-1/-1"}
    for rank, place in places.items():
        text += line(rank, f"Trees [0] {place}")
        text += line(rank, f"comm 0x55{rank} rank {rank} nranks 4 cudaDev {rank} nvmlDev {rank} - Init COMPLETE")
    data = communicator(text)
    assert data["rings"][0]["order"] == [0, 1, 2, 3]
    assert data["trees"][0]["parents"] == {"0": -1, "1": 0, "2": 1, "3": 1}
    assert (data["trees"][0]["complete"], data["trees"][0]["depth"]) == (True, 2)
    assert data["transports"][0]["name"] == "P2P/IPC"


def test_2_5_to_2_7_print_a_tree_twice() -> None:
    text = start(0, 2) + line(0, "Trees [0] 1/-1/-1->0->-1|-1->0->1/-1/-1")
    text += start(1, 2) + line(1, "Trees [0] -1/-1/-1->1->0|0->1->-1/-1/-1")
    (tree,) = communicator(text)["trees"]
    assert tree["complete"]
    assert tree["parents"] == {"0": -1, "1": 0}


def test_several_communicators_of_one_process_keep_their_lines_apart() -> None:
    text = start(0, 1, "0xaaa") + line(0, "Channel 00/01 : 0") + complete(0, 1, "0xaaa")
    other = "ncclCommInitRank comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0xbbb - Init "
    text += line(0, other + "START", tid=999) + line(0, "Channel 00/01 : 0 1", tid=999)
    first, second = communicators(text)
    assert (first["comm_id"], first["num_ranks"], first["rings"][0]["order"]) == ("0xaaa", 1, [0])
    assert (second["comm_id"], second["num_ranks"], second["rings"][0]["order"]) == ("0xbbb", 2, [0, 1])


def test_a_pointer_that_is_used_again_is_another_communicator() -> None:
    text = start(0, 1, "0xaaa") + complete(0, 1, "0xaaa") + start(0, 1, "0xbbb") + complete(0, 1, "0xbbb")
    assert [data["comm_id"] for data in communicators(text)] == ["0xaaa", "0xbbb"]


def test_splits_of_2_24_are_joined_by_parent_and_color() -> None:
    text = "".join(start(rank, 4) + complete(rank, 4) for rank in range(4))
    for rank in range(4):
        text += line(
            rank,
            f"ncclCommSplit comm 0x66{rank} rank {rank // 2} nranks 2 cudaDev {rank} nvmlDev {rank} busId 1000 "
            f"parent 0x55{rank:02x} splitCount 1 color {rank % 2} key {rank}- Init START",
        )
    _, even, odd = communicators(text)
    assert (even["parent"], even["color"], even["created_by"]) == ("0xabc", 0, "ncclCommSplit")
    assert [rank["pid"] for rank in even["ranks"]] == [100, 102]
    assert [rank["pid"] for rank in odd["ranks"]] == [101, 103]


def test_interleaved_runs_of_one_rank_each_are_as_many_communicators() -> None:
    text = "".join(
        f"node:{pid}:{pid} [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1000 - Init COMPLETE\n"
        for pid in range(8)
    )
    found = communicators(text)
    assert [(data["num_ranks"], data["num_ranks_seen"]) for data in found] == [(1, 1)] * 8


def test_connections_made_later_by_another_thread_belong_to_the_only_communicator_of_the_process() -> None:
    text = start(0, 2) + complete(0, 2)
    text += line(0, "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1", tid=777)
    text += line(0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1(3)/GDRDMA/Shared", tid=777)
    text += line(0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/AWS Libfabric/12/GDRDMA(PCI)", tid=777)
    data = communicator(text)
    assert {(item["name"], item["gdr"], item["direction"], *item["devices"]) for item in data["transports"]} == {
        ("NET/IB", False, "receive", "1"),
        ("NET/IB", True, "send", "1"),
        ("NET/AWS Libfabric", True, "send", "12"),
    }


def test_what_may_belong_to_two_communicators_is_given_to_neither() -> None:
    text = start(0, 2, "0xaaa") + complete(0, 2, "0xaaa")
    text += line(0, "ncclCommInitRank comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 commId 0xbbb - Init START")
    text += line(0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1", tid=777)
    *named, unknown = communicators(text)
    assert [data["transports"] for data in named] == [[], []]
    assert (unknown["comm_id"], unknown["num_ranks"], len(unknown["transports"])) == (None, None, 1)


@pytest.mark.parametrize(
    ("via", "name"),
    [
        ("P2P/direct pointer", "P2P/direct pointer"),
        ("P2P/CUMEM/CE", "P2P/CUMEM/CE"),
        ("P2P/indirect/3[3]", "P2P/indirect"),
        ("SHM/direct/direct", "SHM/direct/direct"),
        ("direct shared memory", "SHM"),
        ("P2P/IPC/read", "P2P/IPC"),
        ("NET/Socket/0", "NET/Socket"),
    ],
)
def test_classes_of_transports(via: str, name: str) -> None:
    text = start(0, 2) + line(0, f"Channel 00 : 0[0] -> 1[1] via {via}")
    assert [item["name"] for item in communicator(text)["transports"]] == [name]


def test_collnet_connections() -> None:
    text = start(0, 2) + line(0, "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA")
    (transport,) = communicator(text)["transports"]
    assert (transport["name"], transport["gdr"], transport["direction"]) == ("COLLNET/SHARP", True, "send")


def test_calls_are_counted_by_what_they_have_in_common() -> None:
    text = start(0, 2) + start(1, 2)
    for count in range(3):
        text += all_ranks(
            2,
            f"AllReduce: opCount {count:x} sendbuff 0x7f00 recvbuff 0x7f01 count 1024 datatype 7 op 0 root 0 "
            "comm 0x550{rank} [nranks=2] stream 0x1",
        )
    text += line(
        0,
        "Broadcast: opCount f sendbuff 0x1 recvbuff 0x1 count 8 datatype 9 op 0 root 1 comm 0x5500 [nranks=2] stream 0",
    )
    data = communicator(text)
    assert data["operations"] == [
        {
            "collective": "all_reduce",
            "count": 1024,
            "dtype": "float32",
            "op": "sum",
            "root": None,
            "num_ranks": 2,
            "num": 6,
        },
        {"collective": "broadcast", "count": 8, "dtype": "bfloat16", "op": None, "root": 1, "num_ranks": 2, "num": 1},
    ]
    assert [(rank["num_calls"], rank["last_op_count"]) for rank in data["ranks"]] == [(4, 15), (3, 2)]


def test_calls_without_any_line_that_names_the_communicator() -> None:
    call = (
        "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 root 0 comm 0x{rank}1 [nranks=3] "
        "stream 0x1"
    )
    (document,) = documents(all_ranks(3, call))
    assert document.data["num_ranks"] == 3
    assert document.data["num_ranks_seen"] == 0
    assert [rank["pid"] for rank in document.data["ranks"]] == [100, 101, 102]
    assert [inference.what for inference in document.inferences] == ["ranks"]


def test_the_models_table_in_both_layouts() -> None:
    names = ("Tree", "Ring")
    new = start(0, 2) + line(0, "  Algorithm   |" + "".join(f" {'':14}   {name:>14}   {'':14} |" for name in names))
    new += line(0, "  Protocol    |" + "".join(f" {name:>14} |" for name in ("LL", "LL128", "Simple") * 3))
    new += line(0, " Max NThreads |" + f" {512:14d} |" * 6)
    for function, cells in {
        "ReduceScatter": " 0.0/0.0  0.0/0.0  0.0/0.0  11.6/2.4  22.5/0.0  22.4/4.8",
        "AllReduce": "16.8/0.5 31.0/0.0 36.4/1.9  16.6/1.2  31.0/0.0  36.4/2.4",
    }.items():
        pairs = (map(float, cell.split("/")) for cell in cells.split())
        row = "".join(f"{latency:8.1f}/{bandwidth:6.1f} |" for latency, bandwidth in pairs)
        new += line(0, f"{function:>13} |{row}")
    old = start(0, 2)
    for message in (
        "Latency/AlgBw |    Tree/    LL |    Tree/ LL128 |    Tree/Simple |    Ring/    LL | CollNet/Simple |",
        " Max NThreads |            512 |            640 |            512 |            512 |            512 |",
        "    AllReduce |    16.8/   0.5 |    31.0/   0.0 |    36.4/   1.9 |    16.6/   1.2 |     0.0/   0.0 |",
    ):
        old += line(0, message)

    def costs(text: str) -> dict[tuple[str, str, str], tuple[float, float]]:
        return {
            (cost["collective"], cost["algorithm"], cost["protocol"]): (
                cost["latency_us"],
                cost["bandwidth_gb_per_second"],
            )
            for cost in communicator(text)["costs"]
        }

    found = costs(new)
    assert found["reduce_scatter", "ring", "ll"] == (11.6, 2.4)
    assert found["all_reduce", "tree", "simple"] == (36.4, 1.9)
    assert ("reduce_scatter", "tree", "ll") not in found
    assert len(found) == 9
    assert costs(old) == {
        ("all_reduce", "tree", "ll"): (16.8, 0.5),
        ("all_reduce", "tree", "ll128"): (31.0, 0.0),
        ("all_reduce", "tree", "simple"): (36.4, 1.9),
        ("all_reduce", "ring", "ll"): (16.6, 1.2),
    }


def test_the_matrix_of_what_nccl_algo_leaves_goes_on_without_prefixes() -> None:
    text = start(0, 2) + line(0, "Enabled NCCL Func/Proto/Algo Matrix:")
    text += "     Function |       LL     LL128    Simple   |          Tree           Ring       NVLSTree  \n"
    text += "    AllReduce |        1         2         1   |             0              1              0  \n\n"
    text += "    AllReduce is a word | in a | sentence\n"
    assert communicator("".join(f"[1,0]<stdout>:{row}\n" for row in text.splitlines()))["enabled"]
    data = communicator(text)
    assert data["enabled"] == {"all_reduce": {"ll": 1, "ll128": 2, "simple": 1, "tree": 0, "ring": 1, "nvls_tree": 0}}
    assert [skipped.num_lines for skipped in read(text).skipped] == [1]


def test_environments_that_differ_between_ranks() -> None:
    text = line(0, "NCCL_NET_GDR_LEVEL set by environment to SYS") + line(
        1, "NCCL_NET_GDR_LEVEL set by environment to PHB"
    )
    text += line(0, "NCCL_IB_HCA set to mlx5_2") + line(0, "NCCL_IB_DISABLE set by environment to 0.")
    text += start(0, 2) + start(1, 2)
    data = communicator(text)
    assert data["environment"] == {"NCCL_IB_DISABLE": "0", "NCCL_IB_HCA": "mlx5_2", "NCCL_NET_GDR_LEVEL": "SYS"}
    assert data["environment_differs"] == {"NCCL_NET_GDR_LEVEL": ["SYS", "PHB"]}


def test_two_lines_in_one_are_two_lines() -> None:
    text = start(0, 2).rstrip() + start(1, 2)
    text += "  2097152  524288 float sum -1" + line(1, "Channel 00/0 : 1[1] -> 0[0] via P2P/IPC").rstrip()
    text += line(0, "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC")
    data = communicator(text)
    assert data["num_ranks_seen"] == 2
    assert [(item["name"], item["num"]) for item in data["transports"]] == [("P2P/IPC", 2)]


def test_marks_of_mpirun_leave_what_stands_in_brackets() -> None:
    text = "".join(
        f"[1,0]<stdout>:{part}" for part in (start(0, 1), line(0, "Trees [0] -1/-1/-1->0->-1 [1] -1/-1/-1->0->-1"))
    )
    (document,) = documents(text)
    assert document.job == "[1,0]<stdout>:"
    assert [tree["parents"] for tree in document.data["trees"]] == [{"0": -1}, {"0": -1}]
    children = "[1,0]<stdout>:" + start(0, 2) + "[1,0]<stdout>:" + line(0, "Trees [0] 1/-1/-1->0->-1")
    assert communicator(children)["trees"][0]["children"] == {"0": [1]}


def test_times_in_front_of_lines() -> None:
    text = "".join(f"[2026-01-02 03:04:05] {part}" for part in (start(0, 1), line(0, "Channel 00/01 : 0")))
    assert communicator(text)["rings"][0]["complete"]


def test_warnings_are_counted_by_their_place() -> None:
    text = "\nnode-a:100:120 [0] transport/net_ib.cc:100 NCCL WARN NET/IB : Got completion with error 12\n"
    text += "[2026-01-02 03:04:05] node-b:7:8 [1] transport/net_ib.cc:100 (test) NCCL WARN NET/IB : error 5\n"
    text += "node-a:100:120 [0] init.cc:7 NCCL WARN Duplicate GPU detected\n"
    text += line(0, "init.cc:1012 -> 3") + line(1, "init.cc:1012 -> 3")
    (document,) = documents(text, "nccl_warnings")
    assert (document.data["num"], document.data["num_error_returns"]) == (3, 2)
    first, second = document.data["warnings"]
    assert (first["where"], first["num"], first["line"]) == ("transport/net_ib.cc:100", 2, 2)
    assert first["text"] == "NET/IB : Got completion with error 12"
    assert (second["host"], second["pid"]) == ("node-a", 100)
    assert [(entry["where"], entry["num"]) for entry in document.data["error_returns"]] == [("init.cc:1012 -> 3", 2)]


def test_rccl() -> None:
    text = "RCCL version 2.18.3+hip6.0 HEAD:2b7a5f1\n" + start(0, 1)
    data = communicator(text)
    assert (data["library"], data["version"]) == ("rccl", "2.18.3")


@pytest.mark.parametrize(
    "text",
    [
        "We ran it with NCCL INFO lines switched on.\n",
        "notes: NCCL_DEBUG=INFO run\n",
        "| a | b | c |\n",
        "see `NCCL INFO ` in the manual\n",
    ],
)
def test_sentences_about_nccl_are_left_to_others(text: str) -> None:
    assert_left_out(text)


def test_a_cut_prefix_is_nccls_all_the_same() -> None:
    text = "0] NCCL INFO Channel 00/02 : 0 1\n"
    data = communicator(text)
    assert (data["num_ranks"], data["rings"][0]["order"], data["rings"][0]["complete"]) == (None, [0, 1], False)


def test_what_does_not_fit_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MAX_TEXTS", 3)
    monkeypatch.setattr(facts.Budget, "__init__", lambda self: self.__dict__.update(links=5, texts=3))
    text = start(0, 9)
    for size in range(6):
        text += line(0, f"AllReduce: {size} Bytes -> Algo RING proto LL channel{{Lo..Hi}}={{0..0}}")
    for rank in range(9):
        text += line(0, f"Ring 00 : {rank} -> {rank} -> {rank}")
    data = communicator(text)
    assert len(data["decisions"]) == 3
    assert data["left_out"] == {"decisions": 3, "neighbours in rings": 4}
    assert data["rings"][0]["problem"] == "not all ranks' lines were kept"


def test_communicators_beyond_the_limit_are_gathered_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.logs.nccl_info.communicators.MAX_GROUPS", 2)
    text = "".join(
        start(0, 1, hex(number)) + line(0, "Channel 00/01 : 0") + complete(0, 1, hex(number)) for number in range(5)
    )
    first, second, rest = communicators(text)
    assert (first["num_ranks_seen"], second["num_ranks_seen"]) == (1, 1)
    assert rest["left_out"]["ranks and communicators beyond the limit"] == 3


def test_ranks_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.logs.nccl_info.communicators.MAX_MEMBERS", 2)
    monkeypatch.setattr(reader_module, "MAX_PROCESSES", 3)
    text = "".join(start(rank, 8) + line(rank, "Trees [0] -1/-1/-1->0->-1") for rank in range(8))
    first, rest = communicators(text)
    assert first["num_ranks_seen"] == 2
    assert rest["left_out"]["ranks and communicators beyond the limit"] >= 2
