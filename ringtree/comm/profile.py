"""The measured profile of this machine: where it lies, and whether it is used.

    loaded = load(None)              # the profile of the default place, if it is this machine's
    loaded.rules                     # the engine's text of it, which all ranks agree on
    loaded.warning                   # one line that says why a profile that exists is not used

For: what a communicator needs when it is made. Not for: the record (profile_format.py), measuring one (ringtree.tune)
or choosing by it, which the engine does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ringtree.errors import UsageError
from ringtree.user_files import configured

if TYPE_CHECKING:
    from ringtree.comm.profile_format import Profile

VARIABLE = "RINGTREE_PROFILE"


@dataclass(frozen=True)
class Loaded:
    """A profile for this process: its rules ("" if there are none to use), where it lies, and why it is not used."""

    rules: str = ""
    path: Path | None = None
    profile: Profile | None = None
    warning: str | None = None


def default_path() -> Path:
    """Returns where a profile lies unless another place is named: RINGTREE_PROFILE, else the user's configuration."""
    return configured(VARIABLE, "profile.json")


def load(path: str | Path | None) -> Loaded:
    """Returns the profile in `path`; None: in the default place, if there is one; "": none.

    A profile of another machine is not used, nor one in the default place that can't be read; the warning says why.
    Raises UsageError if `path`, or the one that RINGTREE_PROFILE names, can't be read.
    """
    if path == "" or (path is None and os.environ.get(VARIABLE) == ""):
        return Loaded()
    place = default_path() if path is None else Path(path)
    named = path is not None or VARIABLE in os.environ
    if not named and not place.exists():
        return Loaded()
    # Imported here: making its records takes time, and many programs have no profile.
    from ringtree.comm.profile_format import read_profile, this_machine, why_not_here

    try:
        profile = read_profile(place)
    except UsageError as error:
        if named:
            raise
        return Loaded(path=place, warning=f"the profile is not used: {error}")
    reason = why_not_here(profile.machine, this_machine())
    if reason is not None:
        return Loaded(path=place, warning=f"the profile {place} is not used: {reason}; `ringtree tune` makes a new one")
    return Loaded(profile.rules_text(), place, profile)


def own_cores(num_ranks: int) -> bool:
    """Returns whether ranks that may run where this process may have a core each, as the engine counts them."""
    return num_ranks <= len(os.sched_getaffinity(0))
