"""NCCL's log lines, release by release, as fixtures.

For: tests of ringtree.logs.nccl_info. Not for: expectations, which stand in the tests.
"""

from __future__ import annotations

import io
from typing import Any

from ringtree.logs import Document, Imported, read_stream


def read(text: str | bytes) -> Imported:
    """Returns what all readers make of a text."""
    return read_stream(io.BytesIO(text.encode() if isinstance(text, str) else text), "test")


def assert_left_out(text: str) -> None:
    """One line of the text is left out, and nothing is made of it."""
    found = read(text)
    assert found.items == []
    assert found.skipped[0].num_lines == 1


def documents(text: str | bytes, kind: str = "nccl_communicator") -> list[Document]:
    """Returns the documents of a kind."""
    return [document for document in read(text).documents if document.kind == kind]


def communicators(text: str | bytes) -> list[dict[str, Any]]:
    """Returns the data of all communicators."""
    return [document.data for document in documents(text)]


def communicator(text: str | bytes) -> dict[str, Any]:
    """Returns the data of the only communicator."""
    (data,) = communicators(text)
    return data


def line(rank: int, message: str, *, host: str = "node-a", tid: int | None = None) -> str:
    """Returns a line of the process of a rank."""
    return f"{host}:{100 + rank}:{200 + rank if tid is None else tid} [{rank}] NCCL INFO {message}\n"


def start(rank: int, num_ranks: int, comm_id: str = "0xabc", **where: Any) -> str:
    """The line that begins a communicator, as 2.22 and later write it."""
    return line(rank, _comm(rank, num_ranks, comm_id, "Init START"), **where)


def complete(rank: int, num_ranks: int, comm_id: str = "0xabc", **where: Any) -> str:
    """The line that ends its making."""
    return line(rank, _comm(rank, num_ranks, comm_id, "Init COMPLETE"), **where)


def _comm(rank: int, num_ranks: int, comm_id: str, event: str) -> str:
    return (
        f"ncclCommInitRank comm 0x55{rank:02x} rank {rank} nranks {num_ranks} cudaDev {rank} nvmlDev {rank} "
        f"busId {rank + 1}000 commId {comm_id} - {event}"
    )


def all_ranks(num_ranks: int, message: str) -> str:
    """Returns a line of each rank; in `message`, {rank}, {previous} and {following} stand for numbers in a ring."""
    return "".join(
        line(
            rank,
            message.replace("{rank}", str(rank))
            .replace("{previous}", str((rank - 1) % num_ranks))
            .replace("{following}", str((rank + 1) % num_ranks)),
        )
        for rank in range(num_ranks)
    )
