"""Provenance: what is recorded of a machine, and that no secret is.

For: ringtree.lab.environment. Not for: where it is stored (test_results.py).
"""

from __future__ import annotations

import os
import sys

import pytest

from ringtree.lab.environment import allowed, available_memory, capture, usable_cores


def test_only_allow_listed_variables_are_kept() -> None:
    environment = {
        "OMP_NUM_THREADS": "2",
        "GLOO_SOCKET_IFNAME": "lo",
        "HOME": "/home/someone",
        "AWS_SECRET_ACCESS_KEY": "x",
        "NCCL_TOKEN": "x",
        "RINGTREE_API_KEY": "x",
    }
    assert allowed(environment) == {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "2"}


def test_defaults_of_ranks_are_recorded_unless_the_user_has_set_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    provenance = capture(emulated=False, rank_defaults={"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"})
    assert provenance.environment["OMP_NUM_THREADS"] == "3"
    assert provenance.environment["GLOO_SOCKET_IFNAME"] == "lo"


def test_provenance_is_of_this_machine() -> None:
    provenance = capture(emulated=True, rank_defaults={})
    assert provenance.emulated
    assert set(provenance.affinity) == os.sched_getaffinity(0)
    assert provenance.command == sys.argv
    assert provenance.versions["python"] == ".".join(str(part) for part in sys.version_info[:3])
    assert provenance.versions["numpy"] is not None
    assert provenance.cpu_model
    assert 0 < available_memory() <= provenance.memory_bytes
    assert usable_cores() == len(provenance.affinity)
