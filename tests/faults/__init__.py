"""The fault matrix: what ranks are told, and when, if one of them or the network between them fails.

    make faults                        about 20 minutes; the table goes into docs/reliability.md
    make faults ARGS="--quick"         about 3 minutes, nothing is written

For: figures against the bars of docs/reliability.md. Not for: the test suite, whose bounds leave room for a loaded
machine (tests/python/comm/test_faults_*.py). Ranks, jobs and hosts are those of tests/python/support (fault_support.py,
hosts_support.py).
"""
