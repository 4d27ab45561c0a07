"""`make bench`: the engine and the libraries that people use, side by side and interleaved, into docs/benchmarks.

    PYTHONPATH=tools python -m bench run [--budget 40m]     measures and writes docs/benchmarks/<machine>-<date>/
    PYTHONPATH=tools python -m bench run --resume DIR       goes on with a run that was interrupted
    PYTHONPATH=tools python -m bench page DIR               makes the page again, from the raw launches alone

cases.py       what is measured: collectives, sizes, variants (shared, unaligned, second seed), labels of arms
plans.py       choices -> parts of a run (native and through PyTorch, each collective and number of ranks apart)
peers.py       the arms: how each is found and started; drivers/: the programs that they run
processes.py   the processes of one arm, and their certain end
driver.py      an arm that runs: the line protocol to its ranks; crew.py: all arms of a launch
costs.py       how many calls, batches and rounds a cell gets; allowance.py: how much time a launch
tracks.py      one arm at one size while its launch runs
rounds.py      one launch: every arm at every size, interleaved -> a ringtree.results.Launch
session.py     all launches of all parts, stored as they end
stored.py      the directory of a run: header, raw launches, packed and unpacked
effects.py     raw launches -> ratios to the engine, verdicts, the best peer of each size
bars.py        what is to be reached, and whether it is
tables.py, plots.py, page.py    what is shown
hosts/         `make bench-hosts`: the same between hosts

For: the project's claims against other libraries. Not for: users' comparisons (`ringtree compare`); nothing of
ringtree/ imports this.
"""
