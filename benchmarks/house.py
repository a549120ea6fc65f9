"""How large the house is, beside two other projects that a reader may know.

`python -m benchmarks.house [PACKAGE_FOLDER …]`: counts the modules of our five packages and of each
other folder: lines, patterns (`re.compile` and inline calls of `re` with a pattern), the longest
chain of imports at the top level of modules, circles, files over 600 lines, public functions and
classes for each 1,000 lines, comments in 100 lines, and rooms by size. Without folders, the two
anchors are `inspect_ai` and `presidio_analyzer`, which the environment holds. The programs that
agents repair are material of tasks, not modules of the house; they are counted apart.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from benchmarks.report import table, write_result

REPO = Path(__file__).parent.parent
MATERIAL = REPO / "construction/workflows/repair/programs"
PACKAGES = ("anonymization", "construction", "data", "flows", "selection")
ANCHORS = ("inspect_ai", "presidio_analyzer")
_LONG_FILE = 600
_PATTERN_CALLS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn"}
_PATTERN_CALLS |= {"split"}


@dataclass(frozen=True, slots=True)
class Measure:
    """`chain`: modules in the longest chain of imports; `public`: functions and classes whose names
    begin with no `_`, for each 1,000 lines; `comments`: lines that are one, in 100 lines."""

    modules: int
    lines: int
    patterns: int
    chain: int
    circles: bool
    long_files: int
    public: float
    comments: float


def measured(root: Path, packages: Mapping[str, Path]) -> tuple[Measure, Counter[str]]:
    """The measure of the packages below `root`, and lines by room (second level)."""
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in packages.values()
        for path in sorted(folder.rglob("*.py"))
        if not path.is_relative_to(MATERIAL)
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    graph = {name: set(_imported(name, tree, modules)) for name, tree in trees.items()}
    rooms: Counter[str] = Counter()
    for name, text in texts.items():
        rooms[".".join(name.split(".")[:2])] += text.count("\n")
    measure = Measure(
        modules=len(modules),
        lines=lines,
        patterns=sum(_patterns(tree) for tree in trees.values()),
        chain=_longest(graph),
        circles=_has_circles(graph),
        long_files=sum(text.count("\n") > _LONG_FILE for text in texts.values()),
        public=1000 * sum(_public_names(tree) for tree in trees.values()) / lines,
        comments=100 * sum(map(_comments, texts.values())) / lines,
    )
    return measure, rooms


def _imported(name: str, tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    """Modules of the same project that are imported when `name` is."""
    package = name if modules[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(
                [*(above if node.level else []), *([node.module] if node.module else [])]
            )
            parts = [f"{base}.{alias.name}" for alias in node.names]
            names = parts if all(each in modules for each in parts) else [base, *parts]
        yield from (each for each in names if each in modules and each != name)


def _patterns(tree: ast.Module) -> int:
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _PATTERN_CALLS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        for node in ast.walk(tree)
    )


def _public_names(tree: ast.Module) -> int:
    """Classes and functions at the top of a module whose names begin with no `_`."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return sum(isinstance(node, kinds) and not node.name.startswith("_") for node in tree.body)


def _comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def _has_circles(graph: Mapping[str, set[str]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _longest(graph: Mapping[str, set[str]]) -> int:
    """Modules in the longest chain; one that is being followed already ends a chain (a circle)."""
    followed: set[str] = set()

    @cache
    def depth(name: str) -> int:
        followed.add(name)
        longest = max((depth(each) for each in graph[name] if each not in followed), default=0)
        followed.discard(name)
        return longest + 1

    sys.setrecursionlimit(max(sys.getrecursionlimit(), len(graph) + 1_000))
    return max(map(depth, graph), default=0)


def _anchor(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed; name a folder instead")
    return Path(spec.origin).parent


def main() -> None:
    """Measure ours and the anchors, and write the page."""
    others = [Path(argument) for argument in sys.argv[1:]] or [_anchor(name) for name in ANCHORS]
    ours, rooms = measured(REPO, {name: REPO / name for name in PACKAGES})
    figures = {"benchmint": asdict(ours)}
    for folder in others:
        figures[folder.name] = asdict(measured(folder.parent, {folder.name: folder})[0])
    head = list(figures["benchmint"])
    rows = [
        [
            name,
            *(f"{value:.1f}" if isinstance(value, float) else str(value) for value in row.values()),
        ]
        for name, row in figures.items()
    ]
    about = f"Command: `{' '.join(['python -m benchmarks.house', *sys.argv[1:]])}`."
    programs = [path.read_text(encoding="utf-8") for path in MATERIAL.rglob("*.py")]
    lines = sum(text.count("\n") for text in programs)
    about += f" Programs that agents repair: {len(programs)} files, {lines} lines."
    by_room = table(["room", "lines"], ([room, str(n)] for room, n in rooms.most_common()))
    write_result("house", about, f"{table(['project', *head], rows)}\n{by_room}", figures)


if __name__ == "__main__":
    main()
