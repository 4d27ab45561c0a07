"""What profilers and recorders say of a program's calls: kinds "trace_collectives", "flight_recorder".

For: the shape of those documents. Not for: reading them.
"""

from __future__ import annotations

from pydantic import Field

from ringtree.logs.records import Shape


class TracedCalls(Shape):
    """Calls or kernels that have all of this in common. Durations in seconds.

    A kernel's duration holds the waiting for the slowest rank: it is not a time of the collective. `median_is_exact`:
    from all durations; else from a random sample of 4,096 of them.
    """

    collective: str | None = Field(description="ringtree's word; None where the source's word is none of a collective")
    name: str = Field(description='the source\'s word, "_allgather_base"')
    group_size: int | None
    group: str | None = Field(description='"Process Group Name"')
    group_description: str | None
    dtype: str | None
    in_elements: int | None
    out_elements: int | None
    num_calls: int = Field(description="events of the CPU")
    num_kernels: int = Field(description="events of the GPU")
    kernel_seconds: float = Field(description="sum over kernels")
    kernel_median_seconds: float | None
    kernel_max_seconds: float | None
    median_is_exact: bool
    kernels: dict[str, int] = Field(
        description="kernels by name: what was compiled together, so RING_LL in a name does not say what ran"
    )


class TraceCollectives(Shape):
    """A trace of PyTorch's profiler. `num_bare_kernels`: NCCL kernels that say nothing of their collective."""

    rank: int | None
    world_size: int | None
    backend: str | None
    nccl_version: str | None
    num_events: int
    calls: list[TracedCalls]
    num_bare_kernels: int
    bare_kernel_seconds: float
    complete: bool = Field(description="the file was read to its end")
    left_out: dict[str, int] = Field(description="what did not fit into memory: how many events")


class RecordedCall(Shape):
    """A call of the flight recorder that has not ended. Times of creation in nanoseconds of the recorder's clock."""

    record_id: int | None
    sequence: int | None = Field(description="collective_seq_id, or p2p_seq_id if is_p2p")
    is_p2p: bool
    name: str
    collective: str | None
    state: str
    input_sizes: list[list[int]]
    input_dtypes: list[str]
    output_sizes: list[list[int]]
    output_dtypes: list[str]
    time_created_ns: int | None
    timeout_ms: int | None


class RecordedGroup(Shape):
    """A process group of the flight recorder. What it says of itself: last sequence numbers (-1: none), as recorded."""

    id: str
    name: str | None
    description: str | None
    ranks: list[int]
    last_enqueued: int | None
    last_started: int | None
    last_completed: int | None
    num_entries: int
    states: dict[str, int]
    num_retired: int = Field(description="entries that are no longer watched: ended, whatever `state` says")
    first_sequence: int | None
    last_sequence: int | None
    num_not_completed: int = Field(description="neither completed nor retired")
    not_completed: list[RecordedCall] = Field(description="the first ones")
    durations: dict[str, float] = Field(description="calls that have a duration, by name: mean seconds")
    mismatches: list[str] = Field(description="what contradicts itself in this file")


class FlightRecorder(Shape):
    """A dump of PyTorch's flight recorder: one rank's view."""

    version: str | None
    library_version: str | None
    num_entries: int
    groups: list[RecordedGroup]
    mismatches: list[str]
    complete: bool = Field(description="the file was read to its end")
