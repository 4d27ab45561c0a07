"""`make bench`: the engine and the libraries that people use, side by side and interleaved, into docs/benchmarks.

    PYTHONPATH=tools python -m bench run [--budget 40m]     measures and writes docs/benchmarks/<machine>-<date>/
    PYTHONPATH=tools python -m bench page DIR               makes the page again, from the raw launches alone

parts.py       what is measured: plans of `ringtree compare` (native and through PyTorch, each collective and number of
               ranks apart), run and stored by the lab
stored.py      the directory of a run: header, raw launches, packed and unpacked
effects.py     raw launches -> ratios to the engine, verdicts, the best peer of each size
bars.py        what is to be reached, and whether it is
tables.py, plots.py, page.py    what is shown
hosts/         `make bench-hosts`: the same between hosts

For: the project's claims against other libraries. Not for: users' comparisons (`ringtree compare`); nothing of
ringtree/ imports this.
"""
