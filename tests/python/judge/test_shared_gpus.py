"""Runs whose ranks shared GPUs say so beside their verdicts.

For: ringtree.judge.shared_gpus, in comparisons and trainings. Not for: other caveats (test_lab_words.py).
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from lab_support import make_plan, make_stored

from ringtree.judge.notes import caveats_of
from ringtree.judge.summary import summarise
from ringtree.judge.training_words import training_caveats
from ringtree.results import StoredRun

SAID = "4 ranks on 2 GPUs: ranks share them, so times say nothing of ranks with a GPU each"


def on_gpus(num_ranks: int, gpus: int, boundary: str = "cuda", hosts: list[int] | None = None) -> StoredRun:
    stored = make_stored(make_plan(), lambda *_: 1.0)
    plan = stored.run.plan.model_copy(update={"num_ranks": num_ranks, "boundary": boundary, "hosts": hosts})
    where = stored.run.provenance.model_copy(update={"gpus": ["NVIDIA H200"] * gpus})
    return replace(stored, run=stored.run.model_copy(update={"plan": plan, "provenance": where}))


@pytest.mark.parametrize(
    ("ranks", "gpus", "boundary", "hosts", "said"),
    [
        (4, 2, "cuda", None, SAID),
        (4, 2, "cuda_native", None, SAID),
        (4, 4, "cuda", None, None),
        (4, 0, "cuda", None, None),  # not known, as of older runs
        (4, 2, "torch", None, None),
        (4, 2, "cuda", [0, 0, 1, 1], None),
        (4, 1, "cuda", [0, 0, 1, 1], "2 ranks of a host on 1 GPU: ranks share them"),
    ],
)
def test_ranks_that_share_gpus(ranks: int, gpus: int, boundary: str, hosts: list[int] | None, said: str | None) -> None:
    stored = on_gpus(ranks, gpus, boundary, hosts)
    for caveats in (caveats_of(stored, summarise(stored)), training_caveats(stored)):
        found = [line for line in caveats if "share them" in line]
        assert len(found) == (said is not None)
        assert said is None or said in found[0]
