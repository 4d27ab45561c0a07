"""Matrices of network adapters."""

from __future__ import annotations

from logs_tables_support import read_text, skipped

from ringtree.logs.nic_matrix import NOT_A_ROW

MATRIX = """
Client_Dev,Local_mlx5_0,Local_mlx5_1,Remote_mlx5_0
Local_mlx5_0,43934.44,43826.55,44252.35
Local_mlx5_1,44059.4,-1.0,44266.08
not a row
"""


def test_bandwidth() -> None:
    imported = read_text(MATRIX, "ib_bw.csv")
    (document,) = imported.documents
    assert document.kind == "nic_matrix"
    assert document.data == {
        "clients": ["Local_mlx5_0", "Local_mlx5_1"],
        "servers": ["Local_mlx5_0", "Local_mlx5_1", "Remote_mlx5_0"],
        "values": [[43934.44, 43826.55, 44252.35], [44059.4, None, 44266.08]],
        "num_missing": 1,
        "measure": "bandwidth",
        "unit": "MiB/s",
    }
    assert [one.what for one in document.inferences] == ["measure"]
    assert skipped(imported) == {NOT_A_ROW: 1}


def test_latency_or_nothing_by_the_name() -> None:
    assert read_text(MATRIX, "ib_lat.csv").documents[0].data["unit"] == "us"
    unnamed = read_text(MATRIX, "matrix.csv").documents[0]
    assert (unnamed.data["measure"], unnamed.inferences) == (None, [])


def test_without_rows_it_is_read_as_text() -> None:
    imported = read_text("Client_Dev,mlx5_0,mlx5_1\nx\n")
    assert not imported.documents
    assert any("begins like" in reason for reason in skipped(imported))
