"""The machine that a table is held against, from what the user says where the log says nothing.

For: ringtree.audit.machine. Not for: what a hint can be (test_hardware_matching.py), limits (test_hardware_limits.py).
"""

from __future__ import annotations

import pytest
from audit_support import codes, findings, make_table

from ringtree.audit import Session, Setup
from ringtree.audit.machine import Machine, machine_of
from ringtree.audit.material import Subject
from ringtree.errors import UsageError


def machine(system: str, num_ranks: int = 8, num_hosts: int = 1) -> Machine:
    table = make_table(num_ranks=num_ranks, devices=[], num_hosts=num_hosts)
    return machine_of(Subject("a.log", table, Setup(system=system)))


def test_a_named_system_is_enough() -> None:
    (topology,) = machine("p5.48xlarge").topologies
    assert "p5.48xlarge" in topology.name
    assert "H100 SXM5 80GB" in topology.name
    assert topology.num_hosts == 1


def test_a_system_that_is_sold_with_several_gpus_may_have_any() -> None:
    names = [topology.name for topology in machine("DGX A100").topologies]
    assert len(names) == 2
    assert any("40GB" in name for name in names)
    assert any("80GB" in name for name in names)


@pytest.mark.parametrize("hint", ["aws", "efa", "InfiniBand"])
def test_a_cloud_or_a_fabric_names_no_gpu(hint: str) -> None:
    assert machine(hint) == Machine(why="no GPU is named: --gpu")


def test_a_system_that_is_too_small_is_not_replaced_by_a_larger_one() -> None:
    assert machine("p4d.24xlarge", num_ranks=16) == Machine(why="p4d.24xlarge has no 16 GPUs in a host: --hosts")
    assert machine("p4d.24xlarge", num_ranks=16, num_hosts=2).topologies != ()


def test_rates_are_held_against_a_system_that_is_named() -> None:
    table = make_table(devices=[], time=lambda size: 20e-6 + size / 800e9)
    assert "limit-not-checked" in codes(table)
    found = findings(table, setup=Setup(system="p5.48xlarge"))
    (above,) = [one for one in found if one.code == "above-limit"]
    assert "p5.48xlarge" in above.arithmetic


@pytest.mark.parametrize("setup", [Setup(gpu="Quantum 9000"), Setup(system="quantum.9000xlarge")])
def test_names_that_nobody_knows_are_refused_before_anything_is_read(setup: Setup) -> None:
    with pytest.raises(UsageError, match="ringtree hardware"):
        Session(setup)


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (Setup(gpu="A100"), "stated: A100; the log names NVIDIA H100 80GB HBM3"),
        (Setup(system="p4d.24xlarge"), "stated: p4d.24xlarge; the log names NVIDIA H100 80GB HBM3"),
        (Setup(num_hosts=2), "stated: 2 hosts; the log names 1 host"),
        (
            Setup(gpu="A100", num_hosts=4),
            "stated: A100; the log names NVIDIA H100 80GB HBM3; stated: 4 hosts; the log names 1 host",
        ),
    ],
)
def test_a_machine_that_is_not_the_logs_is_said_once_a_file(setup: Setup, said: str) -> None:
    other = make_table(time=lambda size: 21e-6 + size / 90e9, first_line=40)
    (found,) = [one for one in findings(make_table(), other, setup=setup) if one.code == "machine-stated-otherwise"]
    assert (found.arithmetic, found.severity.value) == (said, "info")


@pytest.mark.parametrize(
    "setup",
    [
        Setup(),
        Setup(gpu="H100", num_hosts=1),
        Setup(gpu="H100 SXM5 80GB"),
        Setup(system="p5.48xlarge"),
        Setup(system="DGX H100"),
        Setup(system="aws"),
    ],
)
def test_a_machine_that_may_be_the_logs_is_not_mentioned(setup: Setup) -> None:
    assert "machine-stated-otherwise" not in codes(make_table(), setup=setup)


def test_what_the_log_does_not_say_contradicts_nothing() -> None:
    setup = Setup(gpu="A100", system="p4d.24xlarge", num_hosts=2)
    for devices in ([], ["Quantum 9000"] * 8):
        assert "machine-stated-otherwise" not in codes(make_table(devices=devices, num_hosts=None), setup=setup)
