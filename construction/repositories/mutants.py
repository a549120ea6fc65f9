"""Copies of what a change brought, wrong in one place each, which its tests have to notice.

Python is changed by its syntax, scripts by their tokens. Texts stay: most are messages, which tests
must not demand. So do imports, declarations, and what only prints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from pygments.lexers import TypeScriptLexer
from pygments.token import Keyword, Number, Operator, Punctuation, String

_LONGEST = 200_000  # characters of a file
_SYNTAX: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
_SIGNS = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=",
    "<=": ">", "&&": "||", "||": "&&", "??": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "!": "",
    "true": "false", "false": "true",
}  # fmt: skip
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Expr, ast.Continue, ast.Break)
_PRINTS = re.compile(r"[\w.]*(?:print|log\w*|console|warn\w*|echo)\b", re.IGNORECASE)
_STAYS = re.compile(r"(?:import|export|const|let|var|function|class|type|interface)\b|[*/}.]")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a text: what stands from `start` to `end` becomes `new`."""

    path: str
    line: int
    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        """The text with the change."""
        return text[: self.start] + self.new + text[self.end :]

    def words(self, text: str) -> str:
        """The change in words."""
        old = " ".join(text[self.start : self.end].split())
        return f"{self.path}:{self.line}: `{old}` → `{self.new or 'left out'}`"


def mutants_of(path: str, before: str, after: str) -> list[Mutant]:
    """The mutants of the lines that a change brought."""
    if max(len(before), len(after)) > _LONGEST:
        return []
    matcher = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    opcodes = matcher.get_opcodes()
    lines = {n + 1 for kind, _, _, a, b in opcodes if kind != "equal" for n in range(a, b)}
    by = _by_syntax if path.endswith(".py") else _by_tokens
    try:
        made = dict.fromkeys(by(after, lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # no program, or one that nests deeper and counts further than Python reads
    return [Mutant(path, *parts) for parts in made]


Parts = tuple[int, int, int, str]


def _by_syntax(text: str, lines: set[int]) -> Iterator[Parts]:
    if "\r" in text.replace("\r\n", ""):
        return  # lines that only Python counts
    tree = ast.parse(text)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    rows = [line.encode() for line in text.split("\n")]

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(rows[line - 1][:column].decode())

    stays = {id(n) for node in ast.walk(tree) if _stays(node) for n in ast.walk(node)}
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) not in lines or id(node) in stays:
            continue
        for at, new in _changed(node):
            start = offset(at.lineno, at.col_offset)
            end = offset(at.end_lineno or at.lineno, at.end_col_offset or 0)
            yield at.lineno, start, end, new


def _stays(node: ast.AST) -> bool:
    """Is it a text, or what prints one? Parts of texts have no places before Python 3.12."""
    prints = isinstance(node, ast.Expr) and _PRINTS.match(ast.unparse(node)) is not None
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return prints or is_text or isinstance(node, ast.JoinedStr)


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """What a node may become: another operator, number or truth, a negation, nothing."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SYNTAX:
        yield node, _with(node, ops=[_SYNTAX[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in _SYNTAX:
        yield node, _with(node, op=_SYNTAX[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, str(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, _STATEMENTS):
        yield node, "pass"


def _with(node: ast.expr, **other: Any) -> str:
    return f"({ast.unparse(type(node)(**dict(ast.iter_fields(node)) | other))})"


def _by_tokens(text: str, lines: set[int]) -> Iterator[Parts]:
    at, above, printed = 0, "{", set[int]()
    for line, row in enumerate(text.split("\n"), 1):
        bare = row.strip()
        if _PRINTS.match(bare):
            printed.add(line)
        is_whole = bare.endswith(";") and above.endswith((";", "{", "}", "*/"))
        is_whole = is_whole and all(bare.count(a) == bare.count(b) for a, b in ("()", "[]", "{}"))
        if line in lines - printed and is_whole and not _STAYS.match(bare):
            yield line, text.index(bare, at), text.index(bare, at) + len(bare), ""
        at, above = at + len(row) + 1, bare or above
    tokens = [t for t in TypeScriptLexer().get_tokens_unprocessed(text) if t[2].strip()]
    depth = 0  # in texts, where values stand
    for position, (at, kind, word) in enumerate(tokens):
        depth += (word == "${") - (word == "}") if kind in String.Interpol else 0
        line, end = text.count("\n", 0, at) + 1, at + len(word)
        if depth or line not in lines - printed:
            continue
        is_apart = text[at - 1 : at].isspace() and text[end : end + 1].isspace()
        is_sign = kind in Keyword or (kind in Operator and (word == "!" or is_apart))
        if kind in Number and word.isdigit():
            yield line, at, end, str(int(word) + 1)
        elif word in _SIGNS and is_sign:
            yield line, at, end, _SIGNS[word]
        elif word in ("if", "while") and kind in Keyword:
            yield from ((line, *parts) for parts in _negated(tokens[position + 1 :], text))


def _negated(tokens: list[tuple[int, object, str]], text: str) -> Iterator[tuple[int, int, str]]:
    """The condition in parentheses at the beginning of tokens, and its contrary."""
    depth = 0
    for at, kind, word in tokens:
        if kind in Punctuation:
            depth += word.count("(") - word.count(")")
        if depth <= 0:
            start = tokens[0][0]
            if word.startswith(")"):
                yield start, at + 1, f"(!{text[start : at + 1]})"
            return
