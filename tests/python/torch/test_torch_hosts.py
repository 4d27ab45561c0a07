"""The torch.distributed backend on hosts that are network namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hosts_support import PATIENCE_S, Hosts, why_no_hosts

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}"),
]


def test_ranks_of_two_hosts() -> None:
    with Hosts(2, 2) as hosts:
        ranks = []
        for rank in range(hosts.num_ranks):
            variables = {
                "RANK": str(rank),
                "WORLD_SIZE": str(hosts.num_ranks),
                "LOCAL_WORLD_SIZE": str(hosts.ranks_per_host),
                "MASTER_ADDR": hosts.address(0),
                "MASTER_PORT": "29400",
                "OMP_NUM_THREADS": "1",
                **hosts.environment(),
            }
            inside = ["nsenter", f"--net={hosts.namespace(hosts.host_of(rank))}", sys.executable]
            ranks.append(
                subprocess.Popen(
                    [*inside, str(Path(__file__).parents[1] / "support" / "torch_on_hosts.py")],
                    env={**os.environ, **variables},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        said = [process.communicate(timeout=PATIENCE_S) for process in ranks]
    assert [out for out, _ in said] == ["right\n"] * 4, said[0][1][-3000:]
