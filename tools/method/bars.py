"""What the method must reach, and whether it does.

For: the exit code of `make method-check` and the first table of the page. Not for: computing shares (error_rate.py,
power.py, coverage.py).

A bar on a share is met by the share itself, not by the end of its interval that happens to help; not_shown_above() is
the exception, and says so in the table.
"""

from __future__ import annotations

from generated import Bar

from method.counts import Share

MAX_ERROR, MIN_POWER, MIN_COVERAGE = 0.05, 0.95, 0.93
BAR_EFFECT = 0.10
MIN_DRAWS, MIN_RUNS = 1000, 200


def at_most(question: str, share: Share, limit: float, least_draws: int) -> Bar:
    """Met if the share is at most `limit`, out of enough draws."""
    return Bar(
        question,
        f"at most {limit:.0%} ({least_draws} draws or more)",
        str(share),
        share.value <= limit and share.draws >= least_draws,
    )


def not_shown_above(question: str, share: Share, limit: float) -> Bar:
    """Met unless the share's 99.9 % interval lies above `limit`: for tests whose error is close to `limit` by design,
    so that draws exceed it as often as not."""
    wanted = f"at most {100 * limit:g}%, plus the draws' sampling error (99.9%)"
    return Bar(question, wanted, str(share), share.interval(0.999)[0] <= limit)


def at_least(question: str, share: Share, limit: float, least_draws: int) -> Bar:
    """Met if the share is at least `limit`, out of enough draws."""
    return Bar(
        question,
        f"at least {limit:.0%} ({least_draws} draws or more)",
        str(share),
        share.value >= limit and share.draws >= least_draws,
    )


def no_data(question: str) -> Bar:
    return Bar(question, "", "not measured yet", None)
