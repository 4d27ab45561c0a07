"""Damaged logs from whole ones.

For: inputs that look like logs long enough to get deep into a reader, then do not. Not for: running readers.

All is a function of the random generator that is passed in, so an input can be made again from its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

# Half of the inputs are a few lines, some a few KiB: small ones are what most executions cost least on.
SHORT, LONG = 400, 8192

_NUMBERS = b"0 -1 1e999 -1e-999 nan inf 99999999999999999999999999 0x7f 1.2.3 1e . N/A XXXXX --- 1e+00 -0".split()
_MARKS = b'[1,0]<stdout>: 12: | ``` # , " { } [ ] < > <!DOCTYPE &lol; float sum size GPU0 nThread NCCL INFO'.split()
_PHRASES = (b"Avg bus bandwidth    : ", b"Out of bounds values : ", b"Channel 00/16 : 0 1 2 ...", b"Trees [0] ")
_BYTES = (b"\x00", b"\xff\xfe", b"\xf0\x9f", b"\r", b"\n\n", b"\t", b" " * 300, b"1" * 400, b"\x1b[1;31m", b"\x1b]0;")
TOKENS = (*_NUMBERS, *_MARKS, *_PHRASES, *_BYTES, b"2024-07-19T01:02:03Z ")


def make(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Returns an input: a piece of a seed, often joined with a piece of another, changed in a few places."""
    data = bytearray(_piece(random, seeds))
    if random.random() < 0.3:
        data += _piece(random, seeds)
    for _ in range(random.choice((0, 1, 1, 2, 4, 8))):
        _change(random, data)
    return bytes(data)


def _piece(random: Random, seeds: Sequence[bytes]) -> bytes:
    seed = random.choice(seeds)
    size = random.randrange(1, SHORT if random.random() < 0.8 else LONG)
    if len(seed) <= size or random.random() < 0.3:
        return seed[:size]  # the beginning decides which reader takes the file
    start = random.randrange(len(seed) - size)
    if random.random() < 0.7:
        start = seed.rfind(b"\n", 0, start) + 1
    return seed[start : start + size]


def _change(random: Random, data: bytearray) -> None:
    at = random.randrange(len(data) + 1)
    kind = random.randrange(6)
    if kind == 0:
        data[at:at] = random.choice(TOKENS)
    elif kind == 1:
        del data[at : at + random.randrange(1, 40)]
    elif kind == 2 and at < len(data):
        data[at] = random.randrange(256)
    elif kind == 3:
        data[at:at] = data[max(0, at - random.randrange(1, 200)) : at]
    elif kind == 4:
        # Exchange one word, so that a column is missing, too much, or of another kind.
        end = data.find(b" ", at)
        if end > at:
            data[at:end] = random.choice(TOKENS)
    else:
        end = data.find(b"\n", at)
        del data[at : end if end >= 0 else len(data)]
