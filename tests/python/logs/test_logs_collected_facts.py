"""What the collected logs say of communicators and hosts, as read in them by eye."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from logs_support import shared_data

from ringtree.logs import Document, read_file
from ringtree.logs.kinds import KINDS


def documents(number: str, kind: str) -> list[Document]:
    (path,) = (shared_data() / "logs").glob(f"{number}-*.txt")
    return [document for document in read_file(path).documents if document.kind == kind]


def communicator(number: str) -> dict[str, Any]:
    (document,) = documents(number, "nccl_communicator")
    return document.data


def transports(data: dict[str, Any]) -> Counter[tuple[str, bool, str | None]]:
    return Counter({(item["name"], item["gdr"], item["direction"]): item["num"] for item in data["transports"]})


def test_057_4_h100_of_one_host_in_one_process() -> None:
    data = communicator("057")
    assert (data["version"], data["num_ranks"], data["num_ranks_seen"], data["num_hosts"]) == ("2.22.3", 4, 4, 1)
    assert data["channels"] == {"coll": 24, "collnet": 24, "nvls": 0, "p2p": 32, "p2p_per_peer": 16}
    assert len(data["rings"]) == 24
    assert all(ring["complete"] for ring in data["rings"])
    assert data["rings"][10]["order"] == [0, 3, 1, 2]
    assert transports(data) == {("P2P/direct pointer", False, None): 96}
    assert all(tree["complete"] for tree in data["trees"])
    assert {rank["pid"] for rank in data["ranks"]} == {1539421}
    assert data["network_plugin"] == "internal"


def test_060_8_h100_of_two_hosts_with_a_line_that_is_glued_to_a_row() -> None:
    data = communicator("060")
    assert (data["version"], data["num_ranks"], data["num_hosts"]) == ("2.22.3", 8, 2)
    assert [ring["order"] for ring in data["rings"]][:4] == [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [0, 5, 7, 6, 4, 1, 3, 2],
        [0, 3, 6, 5, 4, 7, 2, 1],
        [0, 2, 7, 5, 4, 6, 3, 1],
    ]
    assert transports(data) == {
        ("P2P/CUMEM", False, None): 120,
        ("NET/IB", True, "send"): 32,
        ("NET/IB", True, "receive"): 32,
    }
    first = data["trees"][0]
    assert (first["complete"], first["roots"], first["depth"]) == (True, [0], 4)
    assert first["children"] == {"0": [1, 4], "1": [2], "2": [3], "4": [5], "5": [6], "6": [7]}
    assert data["nics"][0] == "[0]mlx5_0:1/RoCE"


def test_065_2_16_with_the_graph_subsystem() -> None:
    data = communicator("065")
    assert (data["version"], data["comm_id"], data["num_ranks"]) == ("2.16.5", "0x9fb10ec267b992dd", 2)
    assert data["channels"] == {"coll": 2, "p2p": 2, "p2p_per_peer": 2}
    assert data["rings"][0]["source"] == "neighbours"
    assert transports(data) == {("NET/IB", True, "send"): 4, ("NET/IB", True, "receive"): 4}
    assert data["system_max_bw_gb_per_second"] == 24.0
    ring, tree, none = data["graphs"]
    assert (ring["pattern_name"], ring["bw_intra_gb_per_second"], ring["type_inter"]) == ("ring", 24.0, "PHB")
    assert (tree["pattern_name"], tree["bw_intra_gb_per_second"]) == ("tree", 48.0)
    assert none["num_channels"] == 0
    assert data["environment"]["NCCL_NET_GDR_LEVEL"] == "SYS"


def test_068_two_gpus_on_two_sockets() -> None:
    data = communicator("068")
    assert (data["version"], data["num_ranks"], data["num_hosts"]) == ("2.16.5", 2, 1)
    assert transports(data) == {("P2P/IPC", False, None): 8}
    assert [graph["pattern_name"] for graph in data["graphs"]] == ["ring", "balanced_tree", "tree"]
    assert len(data["rings"]) == 4


def test_071_16_h100_over_efa_with_marks_of_mpirun() -> None:
    data = communicator("071")
    assert (data["version"], data["num_ranks"], data["num_hosts"]) == ("2.20.3", 16, 2)
    assert (data["network"], data["tuner_plugin"]) == ("AWS Libfabric", "nccl_ofi_tuner")
    assert data["channels"] == {"coll": 16, "collnet": 0, "nvls": 16, "p2p": 16, "p2p_per_peer": 2}
    assert data["rings"][0]["order"] == [0, 7, 6, 5, 4, 3, 2, 1, 9, 10, 11, 12, 13, 14, 15, 8]
    assert data["rings"][15]["order"] == [0, 1, 2, 3, 4, 5, 6, 14, 13, 12, 11, 10, 9, 8, 15, 7]
    assert all(ring["complete"] for ring in data["rings"])
    assert all(tree["complete"] for tree in data["trees"])
    assert len(data["trees"]) == 16
    assert transports(data) == {
        ("P2P/CUMEM", False, None): 464,
        ("NET/AWS Libfabric", True, "send"): 256,
        ("NET/AWS Libfabric", True, "receive"): 256,
    }
    assert data["statements"]["Connected NVLS tree"] == 16


def test_083_2_4_without_any_id() -> None:
    data = communicator("083")
    assert (data["version"], data["comm_id"], data["num_ranks"], data["num_ranks_seen"]) == ("2.4.6", None, 16, 16)
    assert data["rings"][0]["order"] == [0, 1, 3, 2, 6, 4, 5, 7, 8, 9, 11, 10, 14, 12, 13, 15]
    assert data["rings"][0]["complete"]
    assert transports(data) == {
        ("P2P/IPC", False, None): 28,
        ("NET/AWS Libfabric", False, "send"): 4,
        ("NET/AWS Libfabric", False, "receive"): 4,
    }
    assert data["environment"] == {"NCCL_TREE_THRESHOLD": "0"}
    (warnings,) = documents("083", "nccl_warnings")
    assert warnings.data["num_error_returns"] == 24


def test_107_one_rank_of_two_with_nccl_algo() -> None:
    data = communicator("107")
    assert (data["version"], data["num_ranks"], data["num_ranks_seen"], data["num_hosts"]) == ("2.26.2", 2, 1, 2)
    assert data["environment"]["NCCL_ALGO"] == "RING"
    assert data["enabled"]["all_gather"] == {
        "ll": 1,
        "ll128": 2,
        "simple": 1,
        "tree": 0,
        "ring": 1,
        "collnet_direct": 0,
        "collnet_chain": 0,
        "nvls": 0,
        "nvls_tree": 0,
        "pat": 0,
    }
    assert transports(data) == {("NET/IB", False, "send"): 2, ("NET/IB", False, "receive"): 2}
    assert data["trees"][0]["problem"] == "only 1 of 2 ranks say their place"


def test_115_inside_a_training_log() -> None:
    data = communicator("115")
    assert (data["version"], data["num_ranks"], data["num_ranks_seen"]) == ("2.19.3", 16, 16)
    assert (data["network"], data["network_plugin"]) == ("IBext", "NCCL RDMA Plugin v6 (v6)")
    assert data["rings"][7]["order"] == [0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert transports(data) == {
        ("P2P/CUMEM", False, None): 317,
        ("NET/IBext", True, "send"): 36,
        ("NET/IBext", True, "receive"): 36,
    }


def test_183_decisions_without_a_communicators_name() -> None:
    data = communicator("183")
    assert (data["version"], data["num_ranks"]) == ("2.29.7", None)
    assert sum(decision["num"] for decision in data["decisions"]) == 72
    chosen = {
        item["size_bytes"]: (item["algorithm"], item["protocol"], item["num_channels"]) for item in data["decisions"]
    }
    assert chosen[16384] == ("ring", "ll", 2)
    assert chosen[32768] == ("ring", "simple", 1)
    costs = {(cost["collective"], cost["algorithm"], cost["protocol"]): cost for cost in data["costs"]}
    assert costs["all_gather", "pat", "simple"]["latency_us"] == 17.6
    assert costs["all_reduce", "ring", "simple"]["bandwidth_gb_per_second"] == 2.4


def test_247_orders_that_nccl_cut_after_20_of_24_ranks() -> None:
    data = communicator("247")
    assert [ring["channel"] for ring in data["rings"]] == [5, 6, 7, 8, 9, 10, 11]
    assert data["rings"][0]["order"][-3:] == [23, 22, 5]
    assert not any(ring["complete"] for ring in data["rings"])


@pytest.mark.parametrize(("number", "num", "link"), [("171", 8, "NV12"), ("173", 2, "NV2"), ("245", 4, "NV2")])
def test_topology_matrices(number: str, num: int, link: str) -> None:
    (document,) = documents(number, "topology_matrix")
    assert len(document.data["gpus"]) == num
    assert document.data["links"]["GPU0"]["GPU1"] == link
    assert (document.data["symmetric"], document.data["problems"]) == (True, [])


def test_009_topology() -> None:
    (document,) = documents("009", "topology")
    (gpu,) = document.data["gpus"]
    assert (gpu["bus_id"], gpu["sm"], sum(gpu["nvlinks"].values())) == ("0000:84:00.0", 80, 12)
    assert [nic["name"] for nic in document.data["nics"]] == ["br-1f201a91bad8", "br-568b5fe2f4a1", "enp44s0f0"]
    assert {cpu["vendor"] for cpu in document.data["cpus"]} == {"AuthenticAMD"}


def test_064_ports() -> None:
    (document,) = documents("064", "ib_ports")
    assert [port["rate_gbit_per_second"] for port in document.data["ports"]] == [25, 40, 200, 200, 200, 200]
    assert document.data["num_active"] == 5


def test_every_document_of_every_collected_log_has_its_shape() -> None:
    kinds: Counter[str] = Counter()
    for path in sorted((shared_data() / "logs").glob("*.txt")):
        for document in read_file(path).documents:
            kinds[document.kind] += 1
            if document.kind in KINDS:
                assert KINDS[document.kind].model_validate(document.data).plain() == document.data
    assert kinds["nccl_communicator"] >= 10
