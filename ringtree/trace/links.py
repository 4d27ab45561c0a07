"""Messages: which slice step of which rank received what another one sent.

For: matching the two ends. A link carries its messages in order, so the k-th that was sent is the k-th that was
received; no number travels with them for this. Only calls that all ranks have whole: where an event is lost, counting
fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.comm.rank_trace import RankTrace, kind_number
from ringtree.trace.programs import Programs

Link = tuple[int, int, int, int]  # sender, receiver, tag, channel


@dataclass(frozen=True)
class Message:
    """`sent` and `received`: indexes of the slice steps among the events of the two ranks. A multicast is one message a
    reader."""

    call: int
    sender: int
    receiver: int
    tag: int
    channel: int
    bytes: int
    sent: int
    received: int


def match_messages(traces: Sequence[RankTrace], programs: Programs) -> list[Message]:
    """All messages of the complete calls, call by call and link by link. Raises ValueError if a link's ends do not
    count alike, which is a bug of ours."""
    messages: list[Message] = []
    for call in programs.complete_calls():
        sent: dict[Link, list[int]] = defaultdict(list)
        received: dict[Link, list[int]] = defaultdict(list)
        for trace in traces:
            of_call = (trace.events["call"] == call) & (trace.events["kind"] == kind_number("step"))
            steps = programs.steps(trace.rank, call)
            for index in np.flatnonzero(of_call):
                event = trace.events[index]
                step, channel = steps[event["step"]], int(event["channel"])
                for reader in step.send_to:
                    sent[trace.rank, reader, step.send_tag, channel].append(int(index))
                for peer, tag in step.recv:
                    received[peer, trace.rank, tag, channel].append(int(index))
        if {link: len(ends) for link, ends in sent.items()} != {link: len(ends) for link, ends in received.items()}:
            raise ValueError(f"call {call}: some link's messages were not received as often as sent")
        for link in sorted(sent):
            sender, receiver, tag, channel = link
            for one, other in zip(sent[link], received[link], strict=True):
                size = int(traces[sender].events[one]["bytes"])
                messages.append(Message(call, sender, receiver, tag, channel, size, one, other))
    return messages
