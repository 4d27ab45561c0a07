"""What auto would run where nothing was measured: the same that a communicator takes, for every collective.

For: ringtree.tune.which by the model. Not for: profiles (test_tune_launch.py), or the command (test_cli_tune.py).
"""

from __future__ import annotations

import pytest

import ringtree
from ringtree.comm.profile import Loaded
from ringtree.measure.collective_data import shape_of
from ringtree.traits import COLLECTIVES
from ringtree.tune.which import explain

NUM_RANKS = 3


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_model_is_asked_for_the_bytes_that_the_engine_asks_it_for(collective: str) -> None:
    counts = [1, 1000, 1 << 20]
    chosen = ringtree.run(lambda comm: [comm.choice(collective, count) for count in counts], NUM_RANKS, profile="")[0]
    for count, choice in zip(counts, chosen, strict=True):
        size_bytes = 4 * count * (NUM_RANKS if shape_of(collective).has_blocks else 1)
        found = explain(Loaded(), collective, NUM_RANKS, size_bytes)
        assert (found.algorithm, found.reason) == (choice.algorithm, choice.reason)
        assert found.size_bytes == size_bytes
