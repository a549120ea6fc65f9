"""Code and settings: what a program reads by its place stays, whatever it looks like.

A lexer says which parts of a text are keywords, names, operators and keys. Only strings, comments
and bare values are read for private text; names and keys change only for what the owner listed,
for secrets, and for a full name or number that is known from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Operator,
    Punctuation,
    String,
    _TokenType,
)

from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import Visit
from anonymization.text.masking.plain import plain_edits

Spans = tuple[tuple[int, int], ...]
_LEXERS = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "sql": (".sql", ".ddl"),
    "bash": (".sh", ".bash", ".zsh", ".ksh", ".env"),
    "powershell": (".ps1", ".psm1"),
    "batch": (".bat", ".cmd"),
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "ini": (".ini", ".cfg", ".conf", ".properties"),
    "css": (".css",),
    "scss": (".scss", ".less"),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".hpp"),
    "csharp": (".cs",),
    "go": (".go",),
    "rust": (".rs",),
    "ruby": (".rb",),
    "php": (".php",),
    "swift": (".swift",),
    "r": (".r",),
    "julia": (".jl",),
    "lua": (".lua",),
    "perl": (".pl", ".pm"),
    "terraform": (".tf",),
    "docker": ("dockerfile",),
    "make": ("makefile", ".mk"),
}
_BY_ENDING = {ending: alias for alias, endings in _LEXERS.items() for ending in endings}
_FENCED = {"py": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "shell": "bash",
           "yml": "yaml", "dockerfile": "docker", "golang": "go", "rs": "rust"}  # fmt: skip
_FENCE = re.compile(
    r"(?m)^[ \t]*```[ \t]*(?P<name>[A-Za-z]{1,16})[^\n`]*\n(?P<code>.*?)^[ \t]*```", re.S
)
_LONGEST = 1_000_000  # characters of a text that is lexed
_FIXED = (Keyword, Name, Operator, Punctuation, Comment.Preproc, Comment.PreprocFile,
          Comment.Hashbang, String.Affix, String.Interpol, String.Escape, String.Symbol,
          String.Delimiter, Literal.Date)  # fmt: skip


def lexer_of(path: str) -> str:
    """The name of the lexer for a file by its name; empty for what is no code."""
    name = PurePath(path).name.lower()
    return _BY_ENDING.get(name) or _BY_ENDING.get(PurePath(name).suffix, "")


def code_edits(alias: str, text: str, visit: Visit) -> list[Edit]:
    """Edits of code: of its strings, comments and bare values."""
    return plain_edits(text, visit, fixed=fixed_spans(alias, text))


def fixed_spans(alias: str, text: str) -> Spans:
    """The spans of a text of code that a program reads by their place, in order."""
    if len(text) > _LONGEST:
        return ()
    spans: list[tuple[int, int]] = []
    for start, kind, value in _lexer(alias).get_tokens_unprocessed(text):
        if value and _is_fixed(kind):
            end = start + len(value)
            if spans and not text[spans[-1][1] : start].strip():
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return tuple(spans)


@cache
def _is_fixed(kind: _TokenType) -> bool:
    return any(kind in fixed for fixed in _FIXED)


@cache
def _lexer(alias: str) -> Lexer:
    return get_lexer_by_name(alias, stripnl=False, ensurenl=False)


def fenced_spans(text: str) -> Spans:
    """As `fixed_spans`, for the blocks of code that a text fences and names the language of."""
    return tuple(_fenced(text)) if "```" in text else ()


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    for block in _FENCE.finditer(text):
        alias = block["name"].lower()
        alias = _FENCED.get(alias, alias)
        if alias in _LEXERS:
            offset = block.start("code")
            for start, end in fixed_spans(alias, block["code"]):
                yield offset + start, offset + end
