"""Mutants of a Python source: one small change each, as a text edit that keeps the rest.

Kinds: a comparison with its boundary moved or negated, `and` for `or`, a `not` left out, a number
one higher or lower, a truth value turned, a statement left out, another value returned.
Annotations, docstrings, f-strings and calls that only log are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_LEFT_OUT = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)
_SILENT = ("log.", "logging.", "warnings.")
_EMPTY = {"str": '""', "bytes": 'b""', "list": "[]", "tuple": "()", "dict": "{}", "set": "set()"}
_EMPTY |= {"frozenset": "frozenset()", "Sequence": "()", "Mapping": "{}", "Iterator": "iter(())"}
Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change in a file: `name` stays the same when lines above it come or go."""

    path: str
    function: str
    line: int
    before: str
    after: str
    copy_number: int  # of equal changes in one function
    start: Position
    end: Position

    @property
    def name(self) -> str:
        """Path, function and change; with a number where the function has several like it."""
        number = f" #{self.copy_number}" if self.copy_number > 1 else ""
        return f"{self.path} {self.function}: {self.before} -> {self.after}{number}"

    def applied(self, source: str) -> str:
        """The source with the change made."""
        lines = source.encode().splitlines(keepends=True)
        (first, column), (last, end_column) = self.start, self.end
        head, tail = lines[first - 1][:column], lines[last - 1][end_column:]
        lines[first - 1 : last] = [head + self.after.encode() + tail]
        return b"".join(lines).decode()


def mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for function, node, replacement in _changes(ast.parse(source), "module", ""):
        before, after = _one_line(node), _one_line(replacement)
        seen[function, before, after] += 1
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        start = (node.lineno, node.col_offset)
        number = seen[function, before, after]
        made.append(Mutant(path, function, node.lineno, before, after, number, start, end))
    return made


def _one_line(node: ast.AST | str) -> str:
    return node if isinstance(node, str) else " ".join(ast.unparse(node).split("\n"))


_Node = ast.expr | ast.stmt
_Change = tuple[str, _Node, ast.AST | str]


def _changes(node: ast.AST, function: str, returns: str) -> Iterator[_Change]:
    """Function, what is replaced, and by what."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = node.name if function == "module" else f"{function}.{node.name}"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        returns = ast.unparse(node.returns) if node.returns else ""
    if isinstance(node, ast.expr):
        yield from ((function, node, changed) for changed in _expressions(node))
    if isinstance(node, ast.stmt):
        yield from ((function, node, changed) for changed in _statements(node, returns))
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _changes(child, function, returns)


def _expressions(node: ast.expr) -> Iterator[ast.AST | str]:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[at] = other()
                yield f"({ast.unparse(changed)})"
    elif isinstance(node, ast.BoolOp):
        changed_operator = copy.deepcopy(node)
        changed_operator.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"({ast.unparse(changed_operator)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)


def _constants(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int | float):
        yield repr(value + 1)
        yield f"({value - 1!r})"


def _statements(node: ast.stmt, returns: str) -> Iterator[ast.AST | str]:
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(node, _LEFT_OUT):
        yield "pass"
    elif isinstance(call, ast.Call | ast.Await | ast.Yield):
        if not ast.unparse(call).startswith(_SILENT):
            yield "pass"
    elif isinstance(node, ast.Return) and node.value is not None:
        value = ast.unparse(node.value)
        kind = returns.partition("[")[0]
        if kind == "bool":
            yield f"return not ({value})"
        elif kind in ("int", "float"):
            yield f"return ({value}) + 1"
        elif _EMPTY.get(kind, "None") != value:
            yield f"return {_EMPTY.get(kind, 'None')}"
