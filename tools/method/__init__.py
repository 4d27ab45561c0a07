"""The method tested on itself: how often the lab's verdicts are wrong, from measurements kept in docs/method-data.

    make method-check       recomputes docs/method.md from the stored data; exit code 1 if a bar is missed
    make method-data        measures what docs/method-data lacks (an hour and more)

bank.py        stored real launches: medians by block, size, arm and round, with placement probes
extract.py     runs of `ringtree compare` -> a bank
cells.py       a bank -> the effects that are judged; error_rate.py, power.py: what judging them gets wrong
shaped.py      emulated experiments with a known truth; emulated.py measures them, coverage.py judges
real.py        runs the command line over and over; live.py: what those runs claimed
packed.py      how arrays are stored; counts.py: shares with their intervals; origin.py: where data come from
study.py       all of it -> one summary; bars.py: what must be reached; page.py,
               method.md.j2: the summary -> docs/method.md

For: the project's claims about its own method. Not for: users' comparisons; nothing of ringtree/ imports this.
"""
