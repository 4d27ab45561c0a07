"""`make bench`, `make bench-hosts`: the engine and the libraries that people use, interleaved, into docs/benchmarks.

    PYTHONPATH=tools python -m bench run [--hosts] [--budget 40m]   measures, into docs/benchmarks/<machine>-<date>
    PYTHONPATH=tools python -m bench page DIR                       writes the page again, from the raw launches alone

parts.py       what is measured: each part a plan of `ringtree compare`
runner.py      measures part by part; stored.py: the directory of raw launches
across.py      parts between hosts, which are network namespaces of this machine
bars.py        what is to be reached, held against what ringtree.judge says
page.py        the page: tables of tools/benchmark_page.py, figures of `ringtree plot`, words of how.md and how_hosts.md
training/      `make bench-torch`: plans of `ringtree train`

For: the project's claims against other libraries. Not for: users' comparisons (`ringtree compare`); nothing of
ringtree/ imports this.
"""
