"""Who may include whom in core/, nobody but the algorithms knows an algorithm by name, and no judge a log's format.

Reads CMake lists, includes, string literals and Python syntax trees; runs and builds nothing. Layers of Python imports
are import-linter's (pyproject.toml). Prints one line a violation (`path:line: what is wrong`), exit code 1 if any.
ALLOWED is the table of docs/architecture.md: a new layer is added there and here, nowhere else.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# What a folder of core/ may link to directly. What those link to may be included as well.
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "probe": {"base"},
    "schedule": {"base"},
    "algorithms": {"schedule"},
    "verify": {"schedule"},
    "model": {"schedule"},
    "simulate": {"schedule", "model"},
    "reduce": {"base"},
    "net": {"base"},
    "bootstrap": {"base", "net"},
    "transport": {"base", "net"},
    "protocol": {"transport", "reduce"},
    "engine": {"schedule", "protocol", "bootstrap", "model"},
    "builtin": {"engine", "algorithms", "probe"},
    "textbook": {"schedule", "protocol", "bootstrap"},
    "bindings": {"builtin", "engine", "textbook", "algorithms", "verify", "simulate", "model", "probe"},
    "capi": {"builtin", "engine"},
}

# Files of core/algorithms that are not algorithm: their names are ordinary words.
NOT_ALGORITHMS = {"registry", "compose", "owner_program", "shard"}

# An entry of the table of algorithms: name, then title.
TABLE_ENTRY = re.compile(r'[{(]\s*"([a-z][a-z0-9_]*)"\s*,\s*"')

# Where an algorithm's name may be compared with a literal, because the name is data there (defaults, presets).
NAMES_ARE_DATA: set[str] = set()

INCLUDE = re.compile(r'^\s*#\s*include\s*"core/([a-z_]+)/')
LAYER_CALL = re.compile(r"ringtree_layer\s*\(\s*(\w+)([^)]*)\)")
LINK_CALL = re.compile(r"target_link_libraries\s*\(\s*(\w+)([^)]*)\)")
# A comment, or a string or character literal; what comes first wins, so that "//" in a string is not a comment.
CPP_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s"]*)\((?P<raw>.*?)\)(?P=d)"|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


def without_cmake_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", "", text)


def direct_dependencies(cmake: Path) -> set[str]:
    """The layers that a folder's CMakeLists.txt links its target to."""
    text = without_cmake_comments(cmake.read_text())
    found: set[str] = set()
    for _, arguments in LAYER_CALL.findall(text):
        words = arguments.split()
        if "DEPS" in words:
            rest = words[words.index("DEPS") + 1 :]
            found |= set(rest[: rest.index("SOURCES")] if "SOURCES" in rest else rest)
    for target, arguments in LINK_CALL.findall(text):
        if target in {f"rt_{cmake.parent.name}", "_core", "ringtree"}:  # others of the folder are programs above it
            found |= {word.removeprefix("rt_") for word in arguments.split() if word.startswith("rt_")}
    return found - {"options"}


def transitive(graph: dict[str, set[str]], layer: str) -> set[str]:
    """Everything below `layer`; contains `layer` itself only if the graph has a cycle through it."""
    seen: set[str] = set()
    todo = list(graph.get(layer, ()))
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(graph.get(current, ()))
    return seen


def check_graph(root: Path, graph: dict[str, set[str]]) -> Iterator[str]:
    """The declared links against ALLOWED, and no cycles."""
    for layer, dependencies in graph.items():
        place = (root / "core" / layer / "CMakeLists.txt").relative_to(root)
        if layer not in ALLOWED:
            yield f"{place}:1: layer {layer} is not in the table of tools/check_layers.py"
            continue
        for extra in sorted(dependencies - transitive(ALLOWED, layer)):
            may = ", ".join(sorted(ALLOWED[layer])) or "nothing"
            yield f"{place}:1: {layer} may not link to {extra}; allowed: {may}"
        if layer in transitive(graph, layer):
            yield f"{place}:1: {layer} depends on itself through its links"


def cpp_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".cpp"})


def check_includes(root: Path, graph: dict[str, set[str]]) -> Iterator[str]:
    """A file may include headers of its own layer and of what that layer links to."""
    for layer in graph:
        allowed = transitive(graph, layer) | {layer}
        for path in cpp_files(root / "core" / layer):
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                match = INCLUDE.match(line)
                if match and match[1] not in allowed:
                    place = path.relative_to(root)
                    yield f"{place}:{number}: {layer} includes core/{match[1]} but does not link to {match[1]}"


def algorithm_names(root: Path) -> set[str]:
    """An algorithm is named after its file; a file that makes several names them in the table."""
    files = sorted((root / "core" / "algorithms").glob("*.cpp"))
    in_table = {name for path in files for name in TABLE_ENTRY.findall(path.read_text())}
    return in_table | {path.stem for path in files} - NOT_ALGORITHMS


def check_cpp_names(root: Path, names: set[str]) -> Iterator[str]:
    """No string literal in core/ outside core/algorithms is an algorithm's name."""
    for path in cpp_files(root / "core"):
        if (root / "core" / "algorithms") in path.parents:
            continue
        source = path.read_text()
        for match in CPP_TOKEN.finditer(source):
            text = match["text"] if match["text"] is not None else match["raw"]
            if text in names:
                line = source.count("\n", 0, match.start()) + 1
                yield f'{path.relative_to(root)}:{line}: knows the algorithm "{text}" by name'


def compared_literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string that a comparison (also `in (…)`) or a match statement tests for."""
    for node in ast.walk(tree):
        operands: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        for operand in operands:
            values = operand.elts if isinstance(operand, (ast.Tuple, ast.List, ast.Set)) else [operand]
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.lineno, value.value


def check_python_names(root: Path, names: set[str]) -> Iterator[str]:
    """No branch in ringtree/ tests for an algorithm's name."""
    for path in sorted((root / "ringtree").rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if place in NAMES_ARE_DATA:
            continue
        for line, text in compared_literals(ast.parse(path.read_text(), filename=place)):
            if text in names:
                yield f'{place}:{line}: branches on the algorithm "{text}"'


def check_format_names(root: Path) -> Iterator[str]:
    """No string in the rooms that judge and show is the name of a format of logs: they ask for its facts."""
    made = (
        node for path in (root / "ringtree" / "logs").rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
    )
    names = {
        node.args[0].value
        for node in made
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Format"
        if isinstance(node.args[0], ast.Constant)
    }
    for path in sorted(
        path for room in ("audit", "health", "judge", "show") for path in (root / "ringtree" / room).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
                yield f'{path.relative_to(root)}:{node.lineno}: knows the format "{node.value}" by name'


def imported_modules(node: ast.AST) -> list[str]:
    """What an import statement names, absolute; empty for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []


def check_pure_statistics(root: Path) -> Iterator[str]:
    """ringtree/stats computes: it imports nothing else of ringtree, and calls no open(), print() or input().

    import-linter forbids the modules that do I/O, but has no word for "the package around me" and none for built-ins.
    """
    for path in sorted((root / "ringtree" / "stats").rglob("*.py")):
        place = path.relative_to(root)
        for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
            for module in imported_modules(node):
                if module.split(".")[0] == "ringtree" and module.split(".")[:2] != ["ringtree", "stats"]:
                    yield f"{place}:{getattr(node, 'lineno', 1)}: statistics stand alone, but this imports {module}"
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in {"open", "print", "input"}:
                yield f"{place}:{getattr(node, 'lineno', 1)}: statistics do no I/O, but this calls {name}()"


def check_root(root: Path) -> Iterator[str]:
    """No room imports the package's root, which is made of the rooms.

    import-linter can't say it: it takes the compiled module ringtree._core for the root.
    """
    for path in sorted((root / "ringtree").glob("*/**/*.py")):
        place = path.relative_to(root)
        if place.parts[1] == "stats":
            continue  # check_pure_statistics allows it less still
        for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
            if "ringtree" in imported_modules(node):
                yield f"{place}:{getattr(node, 'lineno', 1)}: imports the root: name the room (ringtree.comm, ...)"


def check(root: Path) -> list[str]:
    """Every violation in the tree at `root`, one line each; empty when the layers hold."""
    folders = sorted(path.parent for path in (root / "core").glob("*/CMakeLists.txt"))
    graph = {folder.name: direct_dependencies(folder / "CMakeLists.txt") for folder in folders}
    unlisted = sorted({path.parent.name for path in (root / "core").glob("*/*.cpp")} - set(graph))
    names = algorithm_names(root)
    return [
        *(f"core/{folder}:1: has sources but no CMakeLists.txt" for folder in unlisted),
        *check_graph(root, graph),
        *check_includes(root, graph),
        *check_cpp_names(root, names),
        *check_python_names(root, names),
        *check_format_names(root),
        *check_pure_statistics(root),
        *check_root(root),
    ]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    violations = check(root)
    for violation in violations:
        print(violation, file=sys.stderr)
    if violations:
        return 1
    print("layers hold; algorithms and formats are known by name in their own rooms only")
    return 0


if __name__ == "__main__":
    sys.exit(main())
