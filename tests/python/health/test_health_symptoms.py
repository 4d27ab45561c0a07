"""Symptoms: each one in a log that has it, and in none that has not.

For: ringtree.health.symptoms, symptoms.toml. Not for: verdicts (test_health_judging.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from health_support import H100X2, checked, entry, log_text, nccl_lines, time_of, variable

from ringtree.audit import Setup
from ringtree.health.symptoms import load_symptoms

ALIKE = [entry(time_of(rate=rate)) for rate in (256e9, 257e9, 258e9, 259e9, 261e9, 262e9)]
SLOW = log_text(time_of(rate=60e9))
IB = "Channel 00/0 : {rank}[0] -> {following}[0] [send] via NET/IB/0"
GDR = f"{IB}/GDRDMA"
NICS = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
DGX = Setup(system="DGX H100", num_hosts=2, num_ranks=16)


def using(names: list[str]) -> str:
    ports = " ".join(f"[{number}]{name}:1/IB" for number, name in enumerate(names))
    return f"NET/IB : Using {ports} [RO]; OOB eth0:10.0.0.1<0>"


def channels(number: int) -> str:
    return (
        f"{number} coll channels, {number} collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer"
    )


CASES = {
    "tcp-sockets": nccl_lines("Channel 00/0 : {rank}[0] -> {following}[0] [send] via NET/Socket/0"),
    "no-gpudirect": nccl_lines(IB),
    "rdma-off": nccl_lines(GDR) + variable("NCCL_IB_DISABLE", "1"),
    "network-forced": nccl_lines(GDR) + variable("NCCL_NET", "Socket"),
    "gpudirect-off": nccl_lines(GDR) + variable("NCCL_NET_GDR_LEVEL", "LOC"),
    "few-channels": nccl_lines(GDR, channels(4)),
    "nics-missing": nccl_lines(GDR, using(NICS)),
    "channels-capped": nccl_lines(GDR) + variable("NCCL_MAX_NCHANNELS", "2"),
    "pxn-off": nccl_lines(GDR) + variable("NCCL_PXN_DISABLE", "1"),
    "nvls-off": nccl_lines(GDR) + variable("NCCL_NVLS_ENABLE", "0"),
    "nvls-unavailable": nccl_lines(GDR, "NVLS multicast support is not available on dev 0"),
    "no-peer-to-peer": nccl_lines(GDR, "Channel 00 : {rank}[0] -> {following}[1] via SHM/direct/direct"),
    "peer-to-peer-off": nccl_lines(GDR) + variable("NCCL_P2P_DISABLE", "1"),
    "algorithm-forced": nccl_lines(GDR) + variable("NCCL_PROTO", "LL"),
}
HEALTHY = (
    nccl_lines(
        GDR,
        channels(16),
        using([f"mlx5_{number}" for number in range(8)]),
        "NVLS multicast support is available on dev 0",
    )
    + variable("NCCL_IB_DISABLE", "0")
    + variable("NCCL_NVLS_ENABLE", "1")
)


def codes(folder: Path, lines: str) -> list[str]:
    (file,) = checked(folder, lines + SLOW, setup=DGX, entries=ALIKE).files
    return [one.code for one in file.symptoms]


@pytest.mark.parametrize("code", CASES)
def test_each_symptom_is_seen_alone(tmp_path: Path, code: str) -> None:
    assert codes(tmp_path, CASES[code]) == [code]


def test_each_entry_of_the_table_has_a_case() -> None:
    assert [one.code for one in load_symptoms()] == list(CASES)


def test_lines_of_a_healthy_run_have_no_symptom(tmp_path: Path) -> None:
    assert codes(tmp_path, HEALTHY) == []


def test_what_the_machine_has_not_is_no_symptom(tmp_path: Path) -> None:
    text = nccl_lines("NVLS multicast support is not available on dev 0") + variable("NCCL_PXN_DISABLE", "1")
    one_host = log_text(time_of(rate=60e9), ranks=4, hosts=1)
    setup = Setup(system="HGX H100 4-GPU")
    assert checked(tmp_path, text + one_host, setup=setup).files[0].symptoms == []


def test_it_says_what_shows_it_and_what_to_look_at(tmp_path: Path) -> None:
    (symptom,) = checked(tmp_path, CASES["tcp-sockets"] + SLOW, setup=DGX, entries=ALIKE).files[0].symptoms
    assert "2 connections via NET/Socket" in symptom.says
    assert "libnccl-net.so" in symptom.look_at


def test_next_steps_are_for_what_is_below(tmp_path: Path) -> None:
    def steps(text: str) -> str:
        return "\n".join(checked(tmp_path, text, setup=DGX, entries=ALIKE).files[0].next_steps)

    assert steps(log_text()) == ""
    assert "NCCL_DEBUG=INFO" in steps(SLOW)
    assert "NCCL_DEBUG=INFO" not in steps(HEALTHY + SLOW)
    assert "large sizes are links" in steps(SLOW)
    assert "small sizes" not in steps(SLOW)
    assert "small sizes are latency" in steps(log_text(time_of(alpha=400e-6)))
    half = log_text(lambda size: 60e-6 + size / (130e9 if size > 1 << 27 else 260e9))
    assert "what 4 of 8 NICs" in steps(half)
    assert "of 8 NICs" not in steps(log_text(time_of(rate=0.3 * 260e9)))


def test_without_a_name_of_the_system_no_nic_is_missed(tmp_path: Path) -> None:
    assert H100X2.system is not None
    report = checked(tmp_path, CASES["nics-missing"] + SLOW, setup=Setup(), entries=ALIKE)
    assert report.files[0].symptoms == []
