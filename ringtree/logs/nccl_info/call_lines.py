"""What NCCL writes for each call: the call itself (COLL) and what was chosen for it (TUNING).

For: counting them. Not for: what the words of a decision mean (decisions.py).

These are the lines of which there are millions, so decisions are counted by their text, and a call is split at blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringtree.logs.nccl_info.communicators import Communicators, Thread
from ringtree.nccl.names import COLLECTIVES

# function: opCount H sendbuff p recvbuff p count N datatype D op O root R comm p [nranks=n] stream p
_OP_COUNT, _COUNT, _DTYPE, _OP, _ROOT, _COMM, _NRANKS = 2, 8, 10, 12, 14, 16, 17
_NUM_WORDS = 18
_MAX_DIGITS = 20
_INPUT = re.compile(r"Input: \{ \.comm = (0x[0-9a-f]{1,16}), .*?\.func = (\w{1,40}), .*?\.nBytes = (\d{1,20})\b")
_BEST = re.compile(r"Best tuning \{.*?\btimeUs = (\d{1,20}(?:\.\d{1,9})?)\b")
_MAX_ESTIMATES = 2000


class CallLines:
    """Readers of these lines, by the first word of the message."""

    def __init__(self, communicators: Communicators) -> None:
        self._communicators = communicators
        self.handlers: dict[str, Callable[[Thread, str, int], bool]] = {"Input:": self._input, "Best": self._best}
        for function in COLLECTIVES:
            self.handlers[f"{function}:"] = self.handlers[function] = self._call

    def _call(self, thread: Thread, message: str, number: int) -> bool:
        """Takes a call, and decisions: "AllReduce [Symmetric]: 4096 Bytes -> Kernel …"."""
        if " Bytes -> " in message:
            self.decision(thread, message, number)
            return True
        words = message.split(" ", _NUM_WORDS)
        if len(words) < _NUM_WORDS or words[1] != "opCount" or words[15] != "comm":
            return words[0].endswith(":")  # then it is NCCL's, but cut
        address, nranks, op_count = words[_COMM], words[_NRANKS], words[_OP_COUNT]
        process = thread.process
        member = process.by_address.get(address)
        if member is None or member.group is None:
            num = int(nranks[8:-1]) if nranks[8:-1].isdecimal() and len(nranks) < 20 else None  # "[nranks=8]"
            member = self._communicators.called(process, address[:_MAX_DIGITS], num, number)
        if not (words[_COUNT].isdecimal() and words[_DTYPE].isdecimal()) or len(words[_COUNT]) > _MAX_DIGITS:
            return True
        member.num_calls += 1
        if len(op_count) <= 16:
            try:
                member.last_op_count = int(op_count, 16)
            except ValueError:
                return True
        facts = member.facts
        key = (words[0], words[_COUNT], words[_DTYPE], words[_OP], words[_ROOT], nranks)
        facts.count_key(facts.operations, key, "calls")
        facts.num_lines += 1
        facts.last_line = number
        thread.call = (words[0][:-1], member)
        return True

    def decision(self, thread: Thread, message: str, number: int) -> None:
        """Counts what was chosen for a call."""
        function = message.partition(" ")[0].rstrip(":")
        facts = self._communicators.facts_of_decision(thread, function, number)
        facts.count(facts.decisions, message, "decisions")
        facts.num_lines += 1
        facts.last_line = number

    def _input(self, thread: Thread, message: str, number: int) -> bool:
        found = _INPUT.match(message)
        if found is not None:
            thread.input = (found.group(1), found.group(2), int(found.group(3)))
        return True

    def _best(self, thread: Thread, message: str, number: int) -> bool:
        """Keeps the model's time for the call that the thread's last "Input:" names. All ranks print these."""
        found = _BEST.match(message)
        if found is None or thread.input is None:
            return True
        address, function, num_bytes = thread.input
        member = thread.process.by_address.get(address)
        if member is not None and len(member.facts.estimates) < _MAX_ESTIMATES:
            member.facts.estimates.setdefault((function, num_bytes), float(found.group(1)))
        return True
