"""Which runs there are, and the one that is meant.

For: `ringtree runs`, and every command that takes a RUN. Not for: what was measured (reading.py, query.py).

Cheap: of each run only run.json is parsed, and the lines of launches.jsonl are counted. A directory that can't be read
is listed with the reason and never hides the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.results.files import LAUNCHES_FILE, RUN_FILE
from ringtree.results.reading import read_header
from ringtree.results.records import Plan, Run
from ringtree.results.scan import scan_launches

LAST = "last"
_NUM_NAMED = 5


@dataclass(frozen=True)
class RunListing:
    """One directory of a store: a run, or (`run` is None) something that can't be read and the `problem` with it."""

    path: Path
    run: Run | None
    num_stored: int
    problem: str | None

    def __post_init__(self) -> None:
        if (self.run is None) == (self.problem is None):
            raise ValueError("a listing has a run or a problem, and never both")

    @property
    def run_id(self) -> str:
        """The run's id; the directory's name if the run can't be read."""
        return self.path.name if self.run is None else self.run.run_id

    @property
    def num_planned(self) -> int | None:
        """Launches of the whole plan; None if it can't be read."""
        return None if self.run is None else num_planned(self.run.plan)


def num_planned(plan: Plan) -> int:
    """Returns the launches of a plan: in each block one for every environment that its arms need, of each workload."""
    environments = {tuple(sorted(arm.environment.items())) for arm in plan.arms}
    return plan.num_launches * len(environments) * len(plan.workloads)


def list_runs(runs: Path) -> list[RunListing]:
    """Returns what directory `runs` holds, newest first; empty if there is no such directory.

    Raises UsageError if `runs` can't be read. Subdirectories without any file of a run are passed over.
    """
    try:
        directories = [entry for entry in runs.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"can't list the runs in {runs}: {error.strerror}; choose another --runs") from error
    listings = [list_run(path) for path in directories if _may_be_run(path)]
    return sorted(listings, key=lambda listing: (listing.run_id, listing.path.name), reverse=True)


def find_run(runs: Path, text: str) -> Path:
    """Returns the directory of the run that `text` means: a path, an id in `runs`, the beginning of one, or "last".

    Of an id its last part may stand for all. Raises UsageError, naming candidates, if none or several are meant.
    """
    if (Path(text) / RUN_FILE).is_file():
        return Path(text)
    listings = list_runs(runs)
    if text == LAST:
        readable = [listing for listing in listings if listing.run is not None]
        if not readable:
            raise UsageError(f"there is no run in {runs}: name another directory with --runs")
        return readable[0].path
    for meant in (_is_named, _begins_with):
        found = [listing for listing in listings if text and meant(listing, text)]
        if len(found) == 1:
            return found[0].path
        if found:
            raise UsageError(f"{text!r} may mean {_named(found)}: write more of it")
    there_are = f"there are: {_named(listings)}" if listings else "it holds none; name another directory with --runs"
    raise UsageError(f"{_nothing(text)}no run {text!r} in {runs}; {there_are}")


def _nothing(text: str) -> str:
    """Returns what else the text is not, where it looks like a path."""
    if Path(text).is_dir():
        return f"{text} is a directory without {RUN_FILE}, and there is "
    if Path(text).is_file():
        return f"{text} is a file and no measured run, and there is "
    return f"no file {text}, and " if "/" in text or Path(text).suffix else ""


def _is_named(listing: RunListing, text: str) -> bool:
    return text in (listing.run_id, listing.path.name, listing.run_id.rpartition("-")[2])


def _begins_with(listing: RunListing, text: str) -> bool:
    return listing.run_id.startswith(text) or listing.path.name.startswith(text)


def _named(listings: list[RunListing]) -> str:
    names = [listing.path.name for listing in listings[:_NUM_NAMED]]
    more = len(listings) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _may_be_run(path: Path) -> bool:
    return any((path / name).exists() for name in (RUN_FILE, LAUNCHES_FILE))


def list_run(path: Path) -> RunListing:
    """Returns what directory `path` holds; raises nothing: what can't be read is a problem of the listing."""
    try:
        return RunListing(path, read_header(path), scan_launches(path / LAUNCHES_FILE).num_lines, None)
    except UsageError as error:
        return RunListing(path, None, 0, str(error))
