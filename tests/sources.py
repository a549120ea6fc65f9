"""What the rules of the house look at in a module, read once for all tests of a process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """The statements of a module that import, and its functions, wherever they stand."""

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    functions: tuple[tuple[str, int], ...]  # name and lines


@cache
def source_of(path: Path) -> Source:
    """Parse a module; its tree is not kept, since all of them together take half a gigabyte."""
    nodes = list(statements(ast.parse(path.read_text(encoding="utf-8"))))
    return Source(
        tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)),
        tuple(
            (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
    )


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a tree, at any depth; expressions, most of all nodes, are passed over."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, part, ()):
            yield node
            yield from statements(node)
