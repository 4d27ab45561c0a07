"""Gives damaged logs to all readers: `python -m fuzz_logs --executions 10000000`.

    --executions N   inputs, over all processes
    --processes N    default: all cores
    --seed N         default: 1; input number i is the same wherever the same seeds lie
    --first N        begins at input number N: goes on where a run was stopped
    --replay N       give input number N alone, and keep it in fuzz-input

For: finding inputs on which a reader raises, takes longer than a second of processor time, or more than 256 MB.
Not for: memory errors of C code (`make fuzz` has libFuzzer's targets for that).

Whatever is found is printed with its number, and its bytes are kept in fuzz-found/; exit code 1. Once a minute standard
error says how far it is.
"""

from __future__ import annotations

import argparse
import gc
import io
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random
from types import FrameType

from fuzz_logs.mutate import make
from ringtree.logs import read_stream

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "logs"
SHARED = ROOT.parent / "shared" / "data" / "logs"
FOUND = Path("fuzz-found")

MAX_SECONDS = 1.0
MAX_BYTES = 256 << 20
_HEADROOM = 64 << 20  # of the process itself: modules that a reader imports on first use
_AT_ONCE = 1000
_MAX_FOUND = 20
_SECONDS_BETWEEN_NEWS = 60.0


class TooLongError(Exception):
    """A reader took longer than a second of processor time."""


def seeds() -> list[bytes]:
    """Returns the seeds that the project ships, and the collected logs where they are."""
    files = sorted(SEEDS.iterdir()) + (sorted(SHARED.glob("*.txt")) if SHARED.is_dir() else [])
    return [file.read_bytes() for file in files if file.is_file()]


def execute(data: bytes) -> str | None:
    """Reads one input. Returns what went wrong, None if nothing."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        read_stream(io.BytesIO(data), "fuzz")
    except TooLongError:
        return f"took longer than {MAX_SECONDS:g} s of processor time\n{traceback.format_exc()}"
    except MemoryError:
        return f"took more than {MAX_BYTES >> 20} MB"
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def work(arguments: tuple[int, int, int]) -> list[tuple[int, bytes, str]]:
    """Gives inputs `first` to `first + count - 1` of `seed`."""
    seed, first, count = arguments
    found = []
    for number in range(first, first + count):
        data = make(Random(f"{seed}/{number}"), the_seeds)
        if (wrong := execute(data)) is not None:
            found.append((number, data, wrong))
            if len(found) >= _MAX_FOUND:
                break
    return found


the_seeds: list[bytes] = []


def prepare_seeds() -> None:
    """Loads the seeds and reads each once, so that everything is imported before a limit counts."""
    the_seeds[:] = seeds()
    for data in the_seeds:
        read_stream(io.BytesIO(data), "seed")


def prepare() -> None:
    """Sets up a process: seeds, the limit of memory above what it has now, and the alarm."""
    prepare_seeds()
    gc.freeze()  # what is there now stays: looking through it again and again would be a third of the time

    def on_alarm(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError

    signal.signal(signal.SIGVTALRM, on_alarm)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MAX_BYTES + _HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> int:
    """Runs as the options say; returns the exit code."""
    parser = argparse.ArgumentParser(prog="fuzz_logs", description=__doc__.splitlines()[0])
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--replay", type=int)
    options = parser.parse_args()
    if options.replay is not None:
        prepare()
        data = make(Random(f"{options.seed}/{options.replay}"), the_seeds)
        Path("fuzz-input").write_bytes(data)
        wrong = execute(data)
        print(wrong or "nothing wrong")
        return int(wrong is not None)
    started = told = time.monotonic()
    end = options.first + options.executions
    jobs = [(options.seed, first, min(_AT_ONCE, end - first)) for first in range(options.first, end, _AT_ONCE)]
    num_found = 0
    with multiprocessing.Pool(options.processes, prepare) as pool:
        for done, found in enumerate(pool.imap_unordered(work, jobs), 1):
            if time.monotonic() - told >= _SECONDS_BETWEEN_NEWS:
                told = time.monotonic()
                print(f"about {done * _AT_ONCE:,} of {options.executions:,}", file=sys.stderr, flush=True)
            for number, data, wrong in found:
                num_found += 1
                FOUND.mkdir(exist_ok=True)
                (FOUND / f"{options.seed}-{number}").write_bytes(data)
                print(f"input {number} of seed {options.seed}: {wrong}", flush=True)
            if num_found >= _MAX_FOUND:
                pool.terminate()
                break
    took = time.monotonic() - started
    said = f"{num_found} inputs went wrong: see {FOUND}/" if num_found else "nothing found"
    which = f"from number {options.first:,} " if options.first else ""
    print(f"{options.executions:,} inputs of seed {options.seed} {which}to the log readers in {took:.0f} s: {said}")
    return int(num_found > 0)


if __name__ == "__main__":
    sys.exit(main())
