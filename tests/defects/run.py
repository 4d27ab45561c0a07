#!/usr/bin/env python3
"""Defects that are planted on purpose: each patch beside this file must make the tests fail that it names.

    tests/defects/run.py                   all of them: half an hour and more, the first of the core compiles everything
    tests/defects/run.py --only stats      those whose names begin so
    tests/defects/run.py --check           only that every patch applies (test_defects.py does that)

For: whether the tests find what they are there for. Not for: CI, it takes too long.

A patch begins with `What:` and `Run:`: a command with `python`, or `ctest LAYER` for a defect of the core. The working
tree is copied, the command must pass there, and must fail with the patch applied. Exit code 1 if one does not.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# An editable install leads every process to its own sources, not to the copy's.
SITE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
"""


@dataclass(frozen=True)
class Defect:
    name: str
    what: str
    run: str
    file: Path

    @classmethod
    def read(cls, file: Path) -> Defect:
        head = dict(line.split(": ", 1) for line in file.read_text().split("\n\n", 1)[0].splitlines())
        return cls(file.stem, head["What"], head["Run"], file)


def defects(only: str = "") -> list[Defect]:
    """Returns those whose names begin with `only`; those of Python, which are quick, come first."""
    all_of_them = [Defect.read(file) for file in sorted(HERE.glob(f"{only}*.patch"))]
    return sorted(all_of_them, key=lambda one: one.run.startswith("ctest"))


def apply(defect: Defect, root: Path, *options: str) -> bool:
    command = ["git", "apply", "--unidiff-zero", *options, str(defect.file)]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent), "GIT_DIR": str(root / "none")}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False).returncode == 0


def copy_of_tree(root: Path) -> None:
    """Copies what git would commit, and what was compiled for Python."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    core = importlib.util.find_spec("ringtree._core")
    if core is None or core.origin is None:
        raise SystemExit("ringtree._core is not there: run `make build`, then this with .venv/bin/python")
    built = Path(core.origin).parent
    shutil.copy2(core.origin, root / "ringtree")
    for part in ("include", "lib"):  # an editable install has them beside the module, another perhaps not
        if (built / part).is_dir():
            shutil.copytree(built / part, root / "ringtree" / part, dirs_exist_ok=True)
    (root / "sitecustomize.py").write_text(SITE)


def passes(defect: Defect, root: Path) -> bool:
    """Runs the command of a defect; raises CalledProcessError if what it needs cannot be built."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", "PATH": path}
    kind, *words = shlex.split(defect.run)
    if kind == "ctest":
        for step in (["--preset", "dev"], ["--build", "--preset", "dev", "--target", f"test_{words[0]}"]):
            subprocess.run(["cmake", *step], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
        command = ["ctest", "--preset", "dev", "-R", f"^{words[0]}$"]
    else:
        command = [sys.executable, *words]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if kind != "ctest" and done.returncode not in (0, 1, 2):  # 2: a defect that keeps a test file from being read
        raise SystemExit(f"{defect.run}: no test was run\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="defects", description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", default="", metavar="NAME", help="defects whose names begin so")
    parser.add_argument("--check", action="store_true", help="only whether every patch applies")
    options = parser.parse_args()
    chosen = defects(options.only)
    if not chosen:
        parser.error(f"no defect begins with {options.only!r}")
    if options.check:
        stale = [one.name for one in chosen if not apply(one, ROOT, "--check")]
        print("\n".join(f"{name}: does not apply" for name in stale) or f"{len(chosen)} patches apply")
        return 1 if stale else 0
    missed = 0
    with tempfile.TemporaryDirectory(prefix="defects-") as folder:
        root = Path(folder)
        copy_of_tree(root)
        sound: dict[str, bool] = {}
        for one in chosen:
            if one.run not in sound:
                sound[one.run] = passes(one, root)
            if not sound[one.run]:
                result = "the command fails without the defect"
            elif not apply(one, root):
                result = "the patch does not apply"
            else:
                result = "NOT FOUND" if passes(one, root) else "found"
                apply(one, root, "--reverse")
            missed += result != "found"
            print(f"{one.name}: {result} ({one.what})", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
