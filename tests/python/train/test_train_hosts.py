"""`ringtree train` on several hosts, with torchrun's variables: forced algorithms, hybrid sharding.

For: trainings on hosts that are network namespaces. Not for: agents (compare/test_compare_agents.py), the arithmetic of
who is where (test_train_placement.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forked import preload
from forked_ringtree import fork_on, fork_python_on
from hosts_support import Hosts, why_no_hosts
from train_support import OF_A_TRAINING, mini_model

from ringtree.judge.training import summarise_training
from ringtree.results import find_run, read_run
from ringtree.train.forced import forced_profile

pytest.importorskip("torch")
pytest.importorskip("transformers")
preload(*OF_A_TRAINING)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}"),
]

CHOSEN = """
import json, ringtree
comm = ringtree.init()
print(json.dumps([comm.choice(each, 1 << 10).algorithm for each in ("all_reduce", "all_gather", "broadcast")]))
comm.close()
"""

GROUPS = """
import json, os
import torch.distributed as dist
from ringtree.train.arms import parse_arm
from ringtree.train.groups import make_groups
dist.init_process_group("gloo")
groups = make_groups(parse_arm("gloo"), json.loads(os.environ["PLACED"]), True, 60)
print(json.dumps([dist.get_process_group_ranks(each) for each in (groups.shard, groups.replica)]))
dist.destroy_process_group()
"""


@pytest.mark.parametrize("algorithm", ["hierarchical_ring", "tree"])
def test_an_algorithm_is_forced_on_ranks_of_several_hosts(algorithm: str, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(forced_profile(algorithm, [(4, 2), (2, 1)]).model_dump_json())
    with Hosts(2, 2) as hosts:
        ranks = fork_python_on(hosts, CHOSEN, RINGTREE_PROFILE=str(profile))
    assert [rank.returncode for rank in ranks] == [0] * 4, ranks[0].stderr
    for rank in ranks:
        assert json.loads(rank.stdout)[:2] == [algorithm] * 2
        assert (json.loads(rank.stdout)[2] == "tree") == (algorithm == "tree"), "hierarchical_ring can't broadcast"


def test_hybrid_shards_within_a_host_and_replicates_between_hosts() -> None:
    with Hosts(3, 2) as hosts:  # not as halves
        placed = [hosts.host_of(rank) for rank in range(hosts.num_ranks)]
        environment = {"PLACED": json.dumps(placed), "GLOO_SOCKET_IFNAME": "eth0"}
        ranks = fork_python_on(hosts, GROUPS, **environment)
    assert [rank.returncode for rank in ranks] == [0] * 6, ranks[0].stderr
    for number, rank in enumerate(ranks):
        shard, replica = json.loads(rank.stdout)
        assert {placed[one] for one in shard} == {placed[number]}
        assert len(shard) == 2
        assert sorted(placed[one] for one in replica) == [0, 1, 2]
        assert {one % 2 for one in replica} == {number % 2}, "ranks in the same place of their hosts"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["fsdp1", "fsdp2"])
def test_a_hybrid_training_with_forced_algorithms_on_two_hosts(strategy: str, tmp_path: Path) -> None:
    sharded = ["--strategy", strategy, "--sharding", "hybrid", "--ranks", "4", "--launches", "1", "--seed", "3"]
    arms = "gloo,ringtree:ring,ringtree:hierarchical_ring"
    asked = ["train", "--models", str(mini_model(tmp_path)), "--sequence", "16", "--arms", arms, *sharded]
    with Hosts(2) as hosts:
        agents = fork_on(hosts, *asked, "--runs", str(tmp_path / "runs"))
    assert [agent.returncode for agent in agents] == [0, 0], agents[0].stderr
    assert agents[1].stdout == "", "one process speaks"
    stored = read_run(find_run(tmp_path / "runs", "last"))
    assert stored.run.plan.hosts == [0, 0, 1, 1]
    cells = {cell.arm: cell for cell in summarise_training(stored).cells}
    assert set(cells) == set(arms.split(","))
    assert all(cell.disqualified is None for cell in cells.values())
