"""An algorithm takes so many steps: "a ring of 16 takes 30", "2(N-1) steps", "15 steps of 120 us".

A step is counted in one of two ways: messages that wait for one another (2(n-1) for a ring's all_reduce), which is what
costs time, or calls of one rank's program (2n-1 for the same ring: the first only sends, the last only receives), which
is what source code shows.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from ringtree.audit.claims import counting
from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Amount, Time
from ringtree.audit.claims.formulas import Written
from ringtree.audit.claims.statement import Answer, Statement, TableCell, UndecidedError, Whose
from ringtree.audit.claims.written import seconds
from ringtree.errors import UsageError

_CALLS = "the calls of one rank's program; messages that wait for one another, which cost the time, are"


class Steps(Statement, TableCell):
    """`column` and `row`: the time of all steps, where `each` says that of one."""

    kind: Literal["steps"]
    algorithm: str = Field(description="the textbook's: ring, tree, double_tree, …; or NCCL's: Ring, Tree, …")
    whose: Whose = Field(default="textbook", description="NCCL's tree is a chain inside a host, the textbook's is not")
    count: Written
    counted: Literal["messages", "calls"] = "messages"
    each: Time | None = Field(default=None, description="the time that is said of one step")

    def judge(self, about: About) -> Answer:
        nccl, n = self.whose == "nccl", about.ranks()
        if "ranks" in self.count.names and not (nccl and n):
            return self._for_all_n()
        n, hosts = about.need("ranks"), about.need("hosts") if nccl else None
        stated, hops = self.count.value(ranks=n), self._hops(n, hosts)
        if math.isnan(stated):
            raise UndecidedError(
                f"{self.count.text} is not a number of steps at n = {n}", "a number, or a formula of N"
            )
        if self.each is not None:
            return self._in_time(about, self.each, stated, hops, n)
        who, where = ("NCCL's ", f" on {hosts} host{'s' * (hosts > 1)}") if nccl and hosts else ("", "")
        shown = f"{who}{self.algorithm}, {self.collective}, n = {n}{where}: {hops} messages in a row"
        calls = None if nccl else counting.calls(self.collective, self.algorithm, n)
        closed = None if nccl else counting.closed_form(self.collective, self.algorithm)
        if self.counted == "calls":
            says = self.holds if stated == calls else self.falls
            return says(f"{calls} are {_CALLS} {hops}", f"{shown}, {calls} calls")
        if stated == hops:
            note = "" if nccl else self._nccl_note(n, about.hosts())
            return self.holds(f"{closed or hops} messages wait for one another, counted in the schedule{note}", shown)
        why = self._half(n, stated, hops) or (f": {calls} are {_CALLS} {hops}" if stated == calls else "")
        why = why or " (a chain inside a host)" * nccl
        said = f"{who}{self.algorithm} of {n} ranks{where} takes {hops} steps, not {stated:g}{why}"
        return self.falls(said, f"{shown}, {closed}" if closed else shown)

    def _hops(self, n: int, hosts: int | None = None) -> int:
        return counting.hops(self.collective, self.algorithm, n, self.whose, hosts)

    def _for_all_n(self) -> Answer:
        if self.whose == "nccl":
            raise UndecidedError("NCCL's steps depend on the hosts", "how many ranks on how many hosts")
        samples = counting.samples(self.count)
        said, hops = [self.count.value(ranks=n) for n in samples], [self._hops(n) for n in samples]
        calls = [counting.calls(self.collective, self.algorithm, n) for n in samples]
        if any(map(math.isnan, said)):
            raise UndecidedError(f"nothing to count {self.count.text} against", "the algorithm, step by step")
        at, values, counted, called = (", ".join(f"{one:g}" for one in of[:4]) for of in (samples, said, hops, calls))
        shown = f"{self.count.text} at n = {at}: {values}; counted: {counted} messages in a row"
        closed = counting.closed_form(self.collective, self.algorithm)
        if self.counted == "messages" and said == hops:
            return self.holds("that many messages wait for one another, counted in the schedules", shown)
        hint = f"it counts {_CALLS} {closed}" if said == calls else ""
        shown += f", {called} calls" if hint else ""
        if self.counted == "calls" and hint:
            return self.holds(hint, shown)
        return self.falls(f"{self.algorithm} takes {closed} steps{'; ' * bool(hint)}{hint}", shown)

    def _in_time(self, about: About, each: Amount, stated: float, hops: int, n: int) -> Answer:
        cell = about.cell(self) if self.column else None
        total = stated * each.value
        time = cell.value if cell is not None else total
        product = f"{stated:g} × {seconds(each.value)} = {seconds(total)}"
        product += f", in the table {seconds(time)}" if cell is not None else ""
        if stated != hops:
            half = ", which is its reduce-scatter alone" if stated in self._halves(n) else ""
            makes = f"{self.algorithm} of {n} ranks makes {hops} steps one after the other, not {stated:g}{half}"
            one = seconds(time / hops)
            return self.falls(f"{makes}, so {one} each", f"{product}; {seconds(time)} / {hops} = {one}")
        if cell is None:
            reason = "the number of steps is right; the time of one can't be checked"
            return self.open(reason, "the time of the call", product)
        if each.agrees(time / hops):
            return self.holds(f"{hops} steps, and their time adds up to the table's", product)
        return self.falls(f"the table's {seconds(time)} are {seconds(time / hops)} a step", product)

    def _halves(self, n: int) -> dict[float, list[str]]:
        """The steps of the two halves of an all_reduce, where the algorithm has them."""
        found: dict[float, list[str]] = {}
        for half in ("reduce_scatter", "all_gather") if self.collective == "all_reduce" else ():
            try:
                found.setdefault(counting.hops(half, self.algorithm, n, self.whose), []).append(half.replace("_", "-"))
            except UsageError:
                continue
        return found

    def _half(self, n: int, stated: float, hops: int) -> str:
        if halves := self._halves(n).get(stated):
            return f": {stated:g} are one half of it, the {' or the '.join(halves)}"
        return ": that is only the way up or the way down" if 2 * stated == hops else ""

    def _nccl_note(self, n: int, hosts: int | None) -> str:
        """What NCCL's algorithm of the same name takes there, if that is something else."""
        try:
            chain = counting.hops(self.collective, self.algorithm, n, "nccl", hosts) if hosts else self._hops(n)
        except UsageError:
            return ""
        own = f" (NCCL's own {self.algorithm} is a chain inside a node: {chain} on {hosts} × {n // (hosts or 1)})"
        return own if chain != self._hops(n) else ""
