"""Host lists as Slurm, PBS and LSF write them.

For: names in order, and what is refused. Not for: the variables that hold a list (test_launchers_identity.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtree.errors import UsageError
from ringtree.launchers.host_lists import MOST_HOSTS, expand, from_file, tasks_per_node, with_counts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node7", ["node7"]),
        ("a,b", ["a", "b"]),
        ("node[01-03,07],gpu[1-2]-ib", ["node01", "node02", "node03", "node07", "gpu1-ib", "gpu2-ib"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("r[1-2]n[0-1]", ["r1n0", "r1n1", "r2n0", "r2n1"]),
        ("b,a,b", ["b", "a"]),
        ("cn-1.cluster.example", ["cn-1.cluster.example"]),
    ],
)
def test_slurms_lists_are_expanded_in_order(text: str, names: list[str]) -> None:
    assert list(expand(text)) == names


@pytest.mark.parametrize(
    "text", ["", "a,,b", "n[1-2", "n1]", "n[[1]]", "n[3-1]", "n[a-b]", "n[]", "n[1,]", "a b", f"n[0-{MOST_HOSTS}]"]
)
def test_what_is_not_a_list_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        expand(text)
    assert repr(text) in str(refused.value)


def test_many_brackets_are_not_many_gigabytes() -> None:
    with pytest.raises(UsageError, match="more than"):
        expand("n[0-999]m[0-999]")


def test_tasks_per_node_are_repeated() -> None:
    assert tasks_per_node("2(x3),1") == [2, 2, 2, 1]
    assert tasks_per_node("4") == [4]
    for wrong in ("", "2x3", "(x3)", "2(x99999999999)"):
        with pytest.raises(UsageError):
            tasks_per_node(wrong)


def test_a_node_file_names_each_slot(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n2\nn2\nn1\n\nn2\n")
    assert from_file(str(file)) == ("n2", "n1")
    with pytest.raises(UsageError, match="can't read the node file"):
        from_file(str(tmp_path / "absent"))


def test_lsf_gives_names_with_slots() -> None:
    assert with_counts("batch1 1 h35n08 42 h35n09 42") == ("batch1", "h35n08", "h35n09")
    with pytest.raises(UsageError, match="number of slots"):
        with_counts("h1 h2 4")
