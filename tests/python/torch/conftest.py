"""Ranks of torch.distributed that the tests of a module share.

For: tests of the backend whose ranks survive. Not for: ranks that die on purpose (torch_faulty.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from torch_ranks import Crews


@pytest.fixture(scope="module")
def crews(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crews]:
    from torch_ranks import Crews  # needs PyTorch, which a module's tests ask for first

    found = Crews(tmp_path_factory.mktemp("torch"))
    yield found
    found.close()
