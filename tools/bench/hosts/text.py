"""Paragraphs of the page that hold for every run. For: page.py and its parts. Not for: figures."""

from __future__ import annotations

HOW = """
all_reduce of float32, sums. Hosts are network namespaces of one machine, joined to a bridge by veth links of 1500
bytes: every byte goes through sockets, TCP and the kernel's network devices, but over no wire. There is no latency but
the processor's, and all hosts share the machine's cores. So the page tells what each library does to send and receive
and, where a token bucket limits the rate, how well it fills a link; it does not tell how a cluster behaves.

Native C: the same driver around each library's call, out of place, ranks pinned, exact data that are verified after
every batch. Open MPI is started by its own mpirun with a daemon on each host, over `tcp` (`pml ob1`), inside a host
over its shared memory. Through PyTorch: by the lab (what `ringtree compare` does where a launcher starts it on every
host), in place, not pinned; Gloo by `torch.distributed`. The two are never compared with each other. In a round every
arm is visited once, in shuffled order; a launch's effect is the median over rounds of the log ratio of an arm to the
engine, and intervals and verdicts come from launches
([rounds](../../decisions/0008-rounds-inside-a-launch.md), [claims](../../decisions/0009-claims-by-sign-flips.md)).
"""
RATE_TEXT = (
    "What a host sends goes through a token bucket (tc's tbf) of 1 Gbit/s, which counts whole Ethernet packets. The "
    "payload of a full packet is {most} of it; with acknowledgements of the other direction it is {worst} at worst. A "
    "burst of {burst} that was saved up before a call passes at once, which is counted in the last column."
)
SHAPED_TEXT = (
    "What a host sends goes through a token bucket of 200 Mbit/s with a burst of 4 KB. A message that fits into what "
    "is left of the burst passes at once, which no model knows: where messages are that small the bucket is not a rate."
)
UNSHAPED_TEXT = "The links carry what the processor can: their rate is that of copying through the kernel."
CROSSOVER_TEXT = (
    "The model is the sliced recurrence: a latency α between hosts, a rate β of each host, and nothing else that takes "
    "time; [on an emulated cluster](../emulated-2x8.md) it holds. α and β are those of these very links, by the "
    "engine's send and recv: between two ranks while the others sleep, and with all pairs of ranks at once, which must "
    "share the machine's cores, as they do in a collective. A predicted range is that of the intervals of α and β."
)
