"""What all observations of a run share, as the pages and comparisons of runs show it.

For: origins_of_run. Not for: what a machine is asked (measure/test_lab_environment.py).
"""

from __future__ import annotations

from dataclasses import replace

from lab_support import make_plan, make_stored

from ringtree.judge.observations import origins_of_run


def test_the_gpus_of_a_run_are_told_and_compared() -> None:
    stored = make_stored(make_plan(), lambda *_: 1.0)
    on_host = origins_of_run(stored)["a"]
    assert "GPUs" not in on_host.facts
    where = stored.run.provenance.model_copy(update={"gpus": ["NVIDIA H200", "NVIDIA H200", "NVIDIA H100"]})
    on_gpus = origins_of_run(replace(stored, run=stored.run.model_copy(update={"provenance": where})))["a"]
    assert on_gpus.facts["GPUs"] == "2 × NVIDIA H200, 1 × NVIDIA H100"
    assert "GPUs" in on_gpus.compared
