"""The type of memory of each element type, against the formats that the test data is written in."""

from __future__ import annotations

import numpy as np
import pytest

from ringtree._core import dtypes
from ringtree.measure.exact_data import DTYPES
from ringtree.measure.narrow_floats import NARROW_FLOATS
from ringtree.storage import storage_of


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_numpy_has_is_stored_as_itself(dtype: str) -> None:
    assert storage_of(dtype) == np.dtype(dtype)


@pytest.mark.parametrize("dtype", NARROW_FLOATS)
def test_floats_that_numpy_lacks_are_stored_as_their_bits(dtype: str) -> None:
    assert storage_of(dtype) == NARROW_FLOATS[dtype].storage


def test_all_that_the_core_moves_has_a_type_of_its_width() -> None:
    assert {dtype: storage_of(dtype).itemsize for dtype, _ in dtypes()} == dict(dtypes())


def test_a_name_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(KeyError):
        storage_of("float3")
