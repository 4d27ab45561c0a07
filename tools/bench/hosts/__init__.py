"""`make bench-hosts`: all_reduce between hosts, which are network namespaces of this machine joined by veth links.

    export PYTHONPATH=tools:tests/python/support
    python -m bench.hosts run [--budget 10m]    measures and writes docs/benchmarks/hosts-<machine>-<date>/
    python -m bench.hosts page DIR              makes the page again, from the raw data alone

network.py     the hosts, and how a command runs on them
worlds.py      what is measured: hosts, ranks, sizes, arms, the share of the time of each part
arms.py        the engine and Open MPI in native C, started across hosts
agent.py       through PyTorch and for the engine's own algorithms: a rank of the lab's crew on each host
links.py       latency and rate of a link, and what plain sockets carry; ping.py, stream.py: the ranks that send
session.py     all parts, stored as they end; header.py: what was chosen
rate.py        the share of a link's rate that all_reduce reaches, and the most that it could
crossover.py   where the model has two algorithms change places
bars.py        what is to be reached
page.py, rate_text.py, crossover_text.py, text.py    what is shown

For: the project's claims about several hosts. Not for: users' comparisons (`ringtree compare` under torchrun), or real
networks: a veth link has no latency but the processor's, and all hosts share the cores of one machine.
"""
