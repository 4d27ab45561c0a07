"""Readers of facts given damaged logs: they raise nothing, and what they give has its shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nccl_info_support import read

from ringtree.logs.kinds import KINDS

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "logs"
TEXTS = {path.name: path.read_bytes() for path in sorted(SEEDS.iterdir())}
LINES = b"".join(TEXTS.values()).splitlines(keepends=True)
PIECES = st.sampled_from(
    [b"", b"-1", b"99999999999999999999", b"0x7f", b"\x00", b"\xff", b"{", b"[0] ", b" -> ", b"\t", b"e"]
)


def check(data: bytes) -> None:
    for document in read(data).documents:
        if document.kind in KINDS:
            assert KINDS[document.kind].model_validate(document.data).plain() == document.data


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_files_with_places_exchanged(name: str, data: st.DataObject) -> None:
    text = bytearray(TEXTS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 12))] = data.draw(PIECES)
    check(bytes(text))


@given(st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 200), st.booleans()), max_size=30))
def test_lines_in_any_order_cut_and_glued(lines: list[tuple[bytes, int, bool]]) -> None:
    check(b"".join(line[:cut] if glue else line for line, cut, glue in lines))


@pytest.mark.parametrize(
    "text",
    [
        "h:1:2 [0] NCCL INFO comm 0x1 rank 999999999 nranks 999999999 cudaDev 0 busId 1 - Init COMPLETE",
        "h:1:2 [0] NCCL INFO Ring 999999999 : 999999999 -> 0 -> -1",
        "h:1:2 [0] NCCL INFO Trees [999999999] 999999999/-1/-1->999999999->-1",
        "h:1:2 [0] NCCL INFO AllReduce: " + "9" * 5000 + " Bytes -> Algo 1 proto 1 time 1.0",
        "h:1:2 [0] NCCL INFO AllReduce: opCount zz sendbuff p recvbuff p count 9 datatype 7 op 0 root 0 comm 0x1 [ s",
        "h:" + "9" * 5000 + ":2 [0] NCCL INFO x",
        "h:1:2 [0] NCCL INFO " * 500,
        "h:1:2 [0] NCCL INFO Channel 00/02 : " + "1 " * 30000,
        "h:1:2 [0] NCCL INFO " + "|" * 60000,
        "a" * 60000 + " NCCL INFO x NCCL INFO ",
        "GPU0 " * 10000,
    ],
)
def test_lines_that_are_too_much(text: str) -> None:
    check(text.encode())
