"""Whether the copies of a model fit into a host's memory, by strategy and by where ranks are.

For: ringtree.train.request's counting, with memory that is made up. Not for: other checks (test_train_request.py).
"""

from __future__ import annotations

import pytest
from train_support import plan_of

from ringtree.errors import UsageError
from ringtree.measure.plan import planned_launches
from ringtree.train.models import find_model

pytest.importorskip("torch")
pytest.importorskip("transformers")

WHOLE = find_model("qwen2.5", "tiny").parameters * 4  # bytes of the model in float32


def set_memory(monkeypatch: pytest.MonkeyPatch, num_bytes: int) -> None:
    for name in ("available_memory", "memory_for"):
        monkeypatch.setattr(f"ringtree.train.request.{name}", lambda *_: num_bytes)


def test_every_rank_builds_the_whole_model_before_it_is_sharded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"strategy": "fsdp2", "ranks": "8", "arms": "gloo"}
    set_memory(monkeypatch, 8 * WHOLE - 1)
    with pytest.raises(UsageError, match=r"qwen2\.5 tiny does not fit: 8 ranks take about"):
        plan_of(**asked)
    set_memory(monkeypatch, 8 * WHOLE)
    apart = plan_of(**asked)
    assert len(planned_launches(apart)) == 2 * 8  # a launch an arm, of which one communicates nothing
    # On GPUs with room for it the host's memory counts, too.
    monkeypatch.setattr("ringtree.train.request.memory_for", lambda *_: 1000 * WHOLE)
    monkeypatch.setattr("ringtree.train.request.available_memory", lambda: 8 * WHOLE - 1)
    with pytest.raises(UsageError, match="8 ranks build the whole model in float32 first, which takes about"):
        plan_of(**asked)


def test_the_ranks_of_the_fullest_host_count(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"strategy": "fsdp2", "ranks": "6", "arms": "gloo"}
    set_memory(monkeypatch, 4 * WHOLE)
    with pytest.raises(UsageError, match="does not fit: 6 ranks take"):
        plan_of(**asked)
    assert plan_of(**asked, agents=[0, 0, 1]).hosts == [0, 0, 0, 0, 1, 1]
    set_memory(monkeypatch, 4 * WHOLE - 1)
    with pytest.raises(UsageError, match="does not fit: 4 ranks of a host take"):
        plan_of(**asked, agents=[0, 0, 1])


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({"strategy": "ddp"}, 1),
        ({"strategy": "fsdp2"}, 8),
        ({"strategy": "fsdp2", "sharding": "hybrid"}, 4),  # two halves of one host
        ({"strategy": "fsdp2", "sharding": "hybrid", "agents": [0, 1, 2, 3]}, 2),  # the ranks of each host
    ],
)
def test_a_rank_holds_its_part_of_the_model(
    asked: dict[str, object], parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two arms the second is built beside what the first holds: four copies of its part on each rank of a host. Half
    of the memory is left to whatever else there is."""
    ranks = 2 if "agents" in asked else 8
    held = 4 * WHOLE * ranks // parts
    both = held + max(held, ranks * WHOLE)
    for num_bytes, fit in ((2 * both, True), (2 * both - 2, False)):
        set_memory(monkeypatch, num_bytes)
        plan = plan_of(**asked, ranks="8", arms="gloo", launches=1)
        assert (len(planned_launches(plan)) == 1) == fit
