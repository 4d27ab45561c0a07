"""`make bench-torch`: runs the launches, then writes docs/benchmarks/training-<machine>-<date>."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from generated import machine_and_versions

from bench.stored import dated, published
from bench.training import page, worker
from ringtree.measure.environment import capture

SIZE = 2


def main() -> None:
    """Measures and writes the page, or only writes it again."""
    parser = argparse.ArgumentParser(prog="bench.training", description=__doc__)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="only write the page of this folder again")
    options = parser.parse_args()
    directory: Path = options.page or options.out or Path("docs/benchmarks") / dated("training-")
    if not options.page:
        origin = published(capture(emulated=False, rank_defaults={}), Path.cwd())
        told = dict(line.removeprefix("- ").split(": ", 1) for line in machine_and_versions(origin))
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        provenance = {"date": date, **told, "command": " ".join(["bench.training", *origin.command[1:]])}
        run = {"provenance": provenance, "seed": options.seed, "rounds": options.rounds}
        run["parameters"] = sum(parameter.numel() for parameter in worker.model().parameters())
        run["launches"] = [_launch(options.seed + number, options.rounds) for number in range(options.launches)]
        directory.mkdir(parents=True, exist_ok=True)
        (directory / page.LAUNCHES).write_text(json.dumps(run, indent=1) + "\n")
    page.write(directory)
    print(directory / "index.md")


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
