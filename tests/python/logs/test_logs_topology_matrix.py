"""Matrices of devices in all their layouts."""

from __future__ import annotations

from typing import Any

from nccl_info_support import documents, read

from ringtree.logs.kinds import KINDS

TABS = (
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\t0-47\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n"
)


def matrix(text: str) -> dict[str, Any]:
    (document,) = documents(text, "topology_matrix")
    assert KINDS[document.kind].model_validate(document.data).plain() == document.data
    return document.data


def test_tabs_underlining_and_legends() -> None:
    data = matrix(TABS)
    assert data["devices"] == ["GPU0", "GPU1", "NIC0"]
    assert (data["gpus"], data["nics"], data["nic_names"]) == (["GPU0", "GPU1"], ["NIC0"], {"NIC0": "mlx5_0"})
    assert data["links"]["GPU0"] == {"GPU0": "X", "GPU1": "NV18", "NIC0": "PIX"}
    assert data["cpu_affinity"] == {"GPU0": "0-47", "GPU1": "48-95"}
    assert data["numa_affinity"] == {"GPU0": "0", "GPU1": "1"}
    assert (data["symmetric"], data["problems"]) == (True, [])
    assert read(TABS).skipped == []


def test_blanks_instead_of_tabs_give_the_same() -> None:
    blanks = TABS.replace("\t", "   ").replace("\x1b[4m", "").replace("\x1b[0m", "")
    assert matrix(blanks)["links"] == matrix(TABS)["links"]
    assert matrix(blanks)["cpu_affinity"] == {"GPU0": "0-47", "GPU1": "48-95"}


def test_a_matrix_that_contradicts_itself_says_where() -> None:
    data = matrix(TABS.replace("GPU1\tNV18", "GPU1\tNV12"))
    assert (data["symmetric"], data["problems"]) == (False, ["GPU0 to GPU1 is NV18, GPU1 to GPU0 is NV12"])


def test_a_row_that_is_missing_or_cut_is_told() -> None:
    lines = TABS.splitlines(keepends=True)
    data = matrix(lines[0] + lines[1] + "GPU1\tNV18\n")
    assert data["problems"] == ["the row of NIC0 is missing", "GPU1 to GPU1 is empty", "GPU1 to NIC0 is empty"]
    assert data["links"]["GPU1"] == {"GPU0": "NV18", "GPU1": None, "NIC0": None}


def test_one_gpu() -> None:
    data = matrix("\tGPU0\tmlx5_0\tCPU Affinity\nGPU0\t X \tPHB\t0-7\nmlx5_0\tPHB\t X \t\n")
    assert (data["gpus"], data["nics"]) == (["GPU0"], ["mlx5_0"])


def test_two_matrices_are_two_documents() -> None:
    assert len(documents(TABS + "some text\n" + TABS, "topology_matrix")) == 2
    assert len(documents(TABS + TABS, "topology_matrix")) == 2


def test_rocm() -> None:
    text = (
        "=========================== Weight between two GPUs ============================\n"
        "       GPU0         GPU1         \nGPU0   0            15           \nGPU1   15           0            \n\n"
        "========================== Link Type between two GPUs ==========================\n"
        "       GPU0         GPU1         \nGPU0   0            XGMI         \nGPU1   XGMI         0            \n"
    )
    weight, link = (document.data for document in documents(text, "topology_matrix"))
    assert (weight["tool"], weight["measure"], weight["links"]["GPU0"]["GPU1"]) == ("rocm-smi", "weight", "15")
    assert (link["measure"], link["links"]["GPU1"]["GPU0"]) == ("link", "XGMI")


def test_sentences_about_gpus_are_no_matrix() -> None:
    text = "GPU0 GPU1\nare linked\n# Using devices GPU0\nGPU0 X NV12 NV12\n"
    assert documents(text, "topology_matrix") == []
    assert {skipped.reason for skipped in read(text).skipped} == {
        "begins like a matrix of devices that it is not",
        "no reader knows it",
    }
