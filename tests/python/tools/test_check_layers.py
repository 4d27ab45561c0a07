"""tools/check_layers.py must pass a tree that keeps the layers and fail one for each rule that is broken.

Each case writes a small tree, breaks one thing and names the line that must be reported. Not a test of this repository:
`make layers` runs the tool on it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "check_layers.py"


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_layers", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_layers = load_tool()

GOOD = {
    "core/base/CMakeLists.txt": "add_library(rt_base INTERFACE)\ntarget_link_libraries(rt_base INTERFACE rt_options)\n",
    "core/base/error.h": '#pragma once\n// not an include: "ring" in a comment, and core/engine\n',
    "core/schedule/CMakeLists.txt": "ringtree_layer(schedule\n  DEPS base\n  SOURCES schedule.cpp)\n",
    "core/schedule/schedule.cpp": '#include "core/base/error.h"\n#include "core/schedule/schedule.h"\n',
    "core/algorithms/CMakeLists.txt": "ringtree_layer(algorithms DEPS schedule SOURCES ring.cpp registry.cpp)\n"
    "add_executable(show_table show_table.cpp)\ntarget_link_libraries(show_table PRIVATE rt_algorithms)\n",
    "core/algorithms/ring.cpp": '#include "core/base/error.h"\nconst char* name = "ring";\n',
    "core/algorithms/tree.cpp": "// the tree\n",
    "core/algorithms/registry.cpp": 'Algorithm all[] = {{"ring", "Ring"}, {"double_tree", "Two"}};\n',
    "core/model/CMakeLists.txt": "ringtree_layer(model DEPS schedule SOURCES cost.cpp)\n",
    "core/model/cost.cpp": 'const char* text = "a ring of links"; const char* what = "registry";\n',
    "ringtree/cli/compare.py": 'DEFAULT_ARMS = "ring,tree"\nALGORITHM = "ring"\n',
    "ringtree/logs/osu.py": 'FORMAT = Format("osu", Fact.ONE_RUN)\n',
    "ringtree/audit/check.py": '"""Not for: osu."""\nmeans = "as osu prints it"\n',
    "ringtree/stats/median.py": "from ringtree.stats.x import y\ndef middle(values):\n    return values[0]\n",
}


def write_tree(root: Path, changes: dict[str, str]) -> Path:
    for name, text in {**GOOD, **changes}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_good_tree_has_no_violation(tmp_path: Path) -> None:
    assert check_layers.check(write_tree(tmp_path, {})) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "words"),
    [
        (  # an include that the links do not cover
            "core/schedule/schedule.cpp",
            '#include "core/base/error.h"\n#include "core/algorithms/table.h"\n',
            2,
            "includes core/algorithms",
        ),
        ("core/model/cost.cpp", '  #  include "core/engine/plan.h"\n', 1, "includes core/engine"),
        (  # a link that the table does not have
            "core/model/CMakeLists.txt",
            "ringtree_layer(model DEPS schedule algorithms SOURCES cost.cpp)\n",
            1,
            "model may not link to algorithms",
        ),
        (  # the same through CMake's own command
            "core/model/CMakeLists.txt",
            "ringtree_layer(model DEPS schedule SOURCES cost.cpp)\ntarget_link_libraries(rt_model PUBLIC rt_engine)\n",
            1,
            "model may not link to engine",
        ),
        ("core/bindings/CMakeLists.txt", "target_link_libraries(_core PRIVATE rt_reduce rt_gossip)\n", 1, "gossip"),
        ("core/gossip/CMakeLists.txt", "ringtree_layer(gossip DEPS base SOURCES g.cpp)\n", 1, "not in the table"),
        ("core/stray/stray.cpp", "int x;\n", 1, "no CMakeLists.txt"),
        ("core/model/cost.cpp", '\nif (name == "ring") {}\n', 2, '"ring"'),
        ("core/model/cost.cpp", 'pick("double_tree");\n', 1, '"double_tree"'),  # known from the table only
        ("core/base/error.h", 'f("//", "tree");\n', 1, '"tree"'),  # "//" opens no comment
        ("core/base/error.h", 'f(R"(ring)");\n', 1, '"ring"'),
        ("core/base/error.h", 'char q = \'"\'; f("ring");\n', 1, '"ring"'),
        ("ringtree/measure/plan.py", 'def f(name):\n    if name == "ring":\n        pass\n', 2, '"ring"'),
        ("ringtree/measure/plan.py", 'slow = name in ("naive", "tree")\n', 1, '"tree"'),
        ("ringtree/measure/plan.py", 'match name:\n    case "x" | "ring":\n        pass\n', 2, '"ring"'),
        ("ringtree/audit/check.py", 'x = table.format.startswith(("y", "osu"))\n', 1, 'the format "osu"'),
        ("ringtree/show/page.py", '\nNAMES = ["osu"]\n', 2, 'the format "osu"'),
        ("ringtree/stats/median.py", 'open("samples")\n', 1, "no I/O"),
        ("ringtree/stats/median.py", "import math\nfrom ringtree import UsageError\n", 2, "stand alone"),
        ("ringtree/stats/median.py", "def f():\n    import ringtree.results\n", 2, "stand alone"),
        ("ringtree/measure/plan.py", "import ringtree\n", 1, "imports the root"),
        ("ringtree/measure/plan.py", "import math\nfrom ringtree import Communicator\n", 2, "imports the root"),
    ],
)
def test_each_broken_rule_is_reported(tmp_path: Path, path: str, text: str, line: int, words: str) -> None:
    violations = check_layers.check(write_tree(tmp_path, {path: text}))
    place = path if words != "no CMakeLists.txt" else str(Path(path).parent)
    assert len(violations) == 1, violations
    assert violations[0].startswith(f"{place}:{line}: ")
    assert words in violations[0]


def test_a_cycle_is_reported(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {"core/base/CMakeLists.txt": "ringtree_layer(base DEPS model SOURCES a.cpp)\n"})
    cycles = [line for line in check_layers.check(tree) if "depends on itself" in line]
    assert {line.split("/")[1] for line in cycles} == {"base", "schedule", "model"}


def test_exit_code_and_message(tmp_path: Path) -> None:
    good = subprocess.run([sys.executable, TOOL, write_tree(tmp_path / "good", {})], capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
    bad_tree = write_tree(tmp_path / "bad", {"ringtree/x.py": 'a == "ring"\n'})
    bad = subprocess.run([sys.executable, TOOL, bad_tree], capture_output=True, text=True)
    assert bad.returncode == 1
    assert bad.stderr == 'ringtree/x.py:1: branches on the algorithm "ring"\n'


def test_the_tables_name_what_exists() -> None:
    core = TOOL.parents[1] / "core"
    assert set(check_layers.ALLOWED) == {path.parent.name for path in core.glob("*/CMakeLists.txt")}
    assert {path.stem for path in (core / "algorithms").glob("*.cpp")} >= check_layers.NOT_ALGORITHMS
