"""PyTorch's own tests of torch.distributed, as they lie in its wheel, on this backend and on Gloo.

    gates.py      which tests ask for which backend by name, and how such a gate is opened
    runner.py     runs tests of one gate in this process and writes down how each ended
    verdicts.py   the records: what a test came to
    page.py       records -> docs/torch-suite.md
    __main__.py   the command: all gates, again from where it was stopped, in shards

`make torch-suite` runs all of it. It tests the backend from outside, with tests that nobody here has written.
"""
