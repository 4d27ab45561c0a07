"""`make bench-torch`: runs the launches, then writes docs/benchmarks/training-<machine>-<date>."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from bench.stored import machine_name, provenance
from bench.training import page, worker

SIZE = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.training", description=__doc__)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="only write the page of this folder again")
    options = parser.parse_args()
    if options.page:
        page.write(options.page)
        return
    date = datetime.now(timezone.utc).date().isoformat()
    directory = options.out or Path("docs/benchmarks") / f"training-{machine_name(SIZE)}-{date}"
    launches = []
    for number in range(options.launches):
        launches.append(_launch(options.seed + number, options.rounds))
        print(f"launch {number + 1} of {options.launches}", flush=True)
    directory.mkdir(parents=True, exist_ok=True)
    run = {
        "provenance": _provenance(),
        "seed": options.seed,
        "rounds": options.rounds,
        "parameters": sum(parameter.numel() for parameter in worker._model().parameters()),
        "launches": launches,
    }
    (directory / "launches.json").write_text(json.dumps(run, indent=1) + "\n")
    page.write(directory)
    print(directory / "index.md")


def _provenance() -> dict[str, str]:
    found = provenance(machine_name(SIZE), Path.cwd())
    known = ", ".join(f"{name} {version}" for name, version in found.versions.items() if version)
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": f"{found.cpu_model}, {found.num_cpus} cores, Linux {found.kernel}",
        "versions": f"{known}; commit {found.git_commit}",
        "command": " ".join(found.command),
    }


def _launch(seed: int, rounds: int) -> dict[str, list[float]]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ranks = [context.Process(target=worker.run, args=(rank, SIZE, folder, seed, rounds)) for rank in range(SIZE)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
        if any(process.exitcode for process in ranks):
            raise SystemExit("a rank of the launch failed")
        times: dict[str, list[float]] = json.loads(Path(folder, "times.json").read_text())
    return {arm: [round(value, 7) for value in values] for arm, values in times.items()}


if __name__ == "__main__":
    main()
