"""The GPUs that nvidia-smi names."""

from __future__ import annotations

import pytest
from logs_tables_support import read_text

OLD = """
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|===============================+======================+======================|
|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                    0 |
| N/A   31C    P0    52W / 400W |      0MiB / 81251MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|   1  NVIDIA A100-SXM...  On   | 00000000:0A:00.0 Off |                    0 |
| N/A   30C    P0    51W / 400W |      0MiB / 81251MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+

after it
"""
NEW = """
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:18:00.0 Off |                    0 |
| N/A   29C    P0             71W /  700W |       1MiB /  81559MiB |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
"""
LISTED = "GPU 0: NVIDIA H200 (UUID: GPU-0a-1b)\nGPU 1: NVIDIA H200 (UUID: GPU-0a-1c)\n"


@pytest.mark.parametrize(
    ("text", "devices", "driver"),
    [
        (OLD, ["NVIDIA A100-SXM..."] * 2, "470.82.01"),
        (NEW, ["NVIDIA H100 80GB HBM3"], "570.86.15"),
        (LISTED, ["NVIDIA H200"] * 2, None),
    ],
)
def test_names(text: str, devices: list[str], driver: str | None) -> None:
    imported = read_text(text)
    (document,) = imported.documents
    assert (document.kind, document.data["devices"], document.data["driver"]) == ("nvidia_gpus", devices, driver)
    assert not imported.tables


def test_a_table_of_something_else_stays_one() -> None:
    imported = read_text("| GPU | size | time (us) |\n|---|---|---|\n| H100 | 8 | 1.5 |\n")
    assert (imported.documents, len(imported.tables)) == ([], 1)


def test_connections_without_the_prefix_of_nccl() -> None:
    (document,) = read_text("...\nChannel 00/0 : 2[2] -> 3[3] via P2P/direct pointer\n...\n").documents
    assert [one["name"] for one in document.data["transports"]] == ["P2P/direct pointer"]
    head = "node-1:5:6 [0] NCCL INFO "
    made = f"{head}comm 0x1 rank 0 nranks 2 cudaDev 0 busId 6000 - Init COMPLETE\n"
    (document,) = read_text(f"{made}Channel 00/0 : 0[0] -> 1[1] via NET/IB/0\n").documents
    assert [one["name"] for one in document.data["transports"]] == ["NET/IB"]


def test_a_channel_of_something_else_is_none() -> None:
    assert not read_text("Channel 5 : the news via satellite\nChannel 00 : 0 1 2\n").documents
