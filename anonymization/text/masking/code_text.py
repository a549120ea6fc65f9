"""Code and settings: what a program reads by its place stays, whatever it looks like.

A lexer says which parts of a text are keywords, names, operators and keys. Only strings, comments
and bare values are read for private text; names and keys change only for what the owner listed,
for secrets, and for a full name or number that is known from elsewhere. So do short numbers, words
that code compares, commands with their arguments, and services that a URL calls by their name.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePath

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    _TokenType,
)

from anonymization.text.contracts import Edit, EntityType, Finding, uncovered
from anonymization.text.detect.wording import chinese_name
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

_Token = tuple[int, _TokenType, str]
_SHORT_NUMBER = 4  # digits of a number that is nobody's
_COMMAND = re.compile(r"(?m)^(?![ \t]*(?:#|\r?$|(?:export )?\w+=))")  # a line that sets nothing
_BARE = re.compile(r"[\w./+-]*[A-Za-z_][\w/+-]*")  # a word of a command, and no address or host
# In the name of a file: it moves as dates beside it do.
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d[-_/]?(?:0[1-9]|1[0-2])[-_/]?(?:0[1-9]|[12]\d|3[01])(?!\d)")
_ENUM = re.compile(r"[\"']?[^\W\d][\w-]{0,23}[\"']?")
_COMPARES = frozenset({"==", "!=", "===", "!==", "<>", "in", "like", "case"})
_BLOCK = re.compile(r"(?m)^[ \t]*(?:server|upstream|location|http|events)\b[^=\n]*\{[ \t]*$")
_QUOTES = frozenset({'"', "'"})
_SERVICE = re.compile(r"://(?P<name>[A-Za-z][A-Za-z0-9_-]{1,40})(?=[:/;\"'\s])")
_DECLARED = r"(?m)^[ \t]*(?:upstream[ \t]+{name}[ \t]*\{{|{name}:[ \t]*$)"


# Programs in commands: what separates the parts of an expression of sed, and all of awk and jq.
_SED = re.compile(
    r"(?<![\w\\])(?P<first>[sy](?P<d>[/|#,!@~:%]))(?:\\.|(?!(?P=d))[^\\\n]){1,400}?(?P<second>(?P=d))"
    r"(?:\\.|(?!(?P=d))[^\\\n]){0,400}?(?P<third>(?P=d)[gpiIeMm0-9]{0,6})(?=[\s'\";}]|\Z)"
)
_LABELLED = frozenset(':="')
_EDITS_TEXT = re.compile(r"\b(?:sed|perl|ssed|gsed)\b")
_PROGRAM = re.compile(
    r"\b(?:[gmn]?awk|jq)\b(?:[ \t]+-{1,2}[\w-]+(?:[ \t]+(?!')[^\s'|;-]\S*)?){0,6}[ \t]+"
    r"(?P<v>'[^']{1,2000}')"
)
# An option by a quoted name: `S:"Local Directory"=C:\\`.
_QUOTED_OPTION = re.compile(r"(?m)^\ufeff?(?:[A-Za-z]:)?\"[^\"\n]{1,120}\"(?=[ \t]*=)")


def lexer_of(path: str) -> str:
    """The name of the lexer for a file by its name; empty for what is no code."""
    name = PurePath(path).name.lower()
    return _BY_ENDING.get(name) or _BY_ENDING.get(PurePath(name).suffix, "")


def code_edits(alias: str, text: str, visit: Visit) -> list[Edit]:
    """Edits of code: of its strings, comments and bare values."""
    if alias == "ini" and _BLOCK.search(text):
        alias = "nginx"
    return plain_edits(text, visit, fixed=fixed_spans(alias, text))


def fixed_spans(alias: str, text: str) -> Spans:
    """The spans of a text of code that a program reads by their place, in order."""
    if len(text) > _LONGEST:
        return ()
    if alias == "sql" and "\\'" in text:
        alias = "mysql"  # in others a backslash before a quote does not keep the string open
    tokens = [token for token in _lexer(alias).get_tokens_unprocessed(text) if token[2]]
    is_shell = alias == "bash" and _COMMAND.search(text) is not None
    spans: list[tuple[int, int]] = []
    read = {*_read_by_place(tokens, is_shell), *_services(text)}
    if alias == "bash":
        read.update(_programs(text))
    elif alias == "ini":
        read.update(match.span() for match in _QUOTED_OPTION.finditer(text))
    for start, end in sorted(read):
        if spans and not text[spans[-1][1] : start].strip():
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return tuple(spans)


def _read_by_place(tokens: Sequence[_Token], is_shell: bool) -> Iterator[tuple[int, int]]:
    for number, (start, kind, value) in enumerate(tokens):
        is_fixed = _is_fixed(kind) or (kind in Number and len(value) <= _SHORT_NUMBER)
        if kind in Text and is_shell:
            is_fixed = _BARE.fullmatch(value) is not None and tokens[number - 1][2] != "="
            is_fixed = is_fixed and _DAY.search(value) is None
        elif kind in String and _ENUM.fullmatch(value) and not chinese_name(value.strip("\"'")):
            is_fixed = is_fixed or _is_compared(tokens, number)
        if is_fixed:
            yield start, start + len(value)


def _is_compared(tokens: Sequence[_Token], number: int) -> bool:
    """Is the string beside a mark of comparison? Its quotes may be tokens of their own."""
    for step in (-1, 1):
        at = number + step
        while 0 <= at < len(tokens) and (tokens[at][2] in _QUOTES or tokens[at][2].isspace()):
            at += step
        if 0 <= at < len(tokens) and tokens[at][2].lower() in _COMPARES:
            return True
    return False


def _programs(text: str) -> Iterator[tuple[int, int]]:
    """Marks and flags of the expressions that commands run, and whole programs."""
    for match in _SED.finditer(text) if _EDITS_TEXT.search(text) else ():
        # What looks like a label in an expression has no value behind it.
        parts = (0,) if not _LABELLED.isdisjoint(match.group()) else ("first", "second", "third")
        yield from map(match.span, parts)
    for match in _PROGRAM.finditer(text):
        yield match.span("v")


def _services(text: str) -> Iterator[tuple[int, int]]:
    """Hosts of one word in URLs that the same file declares: a container, an upstream."""
    for match in _SERVICE.finditer(text):
        if re.search(_DECLARED.format(name=re.escape(match["name"])), text):
            yield match.span("name")


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


# Also where a program has a name.
_ANYWHERE = frozenset({EntityType.SECRET, EntityType.EMAIL, EntityType.IP_ADDRESS})
_SHORTEST_REST = 3  # characters of what is beside code


def beside_code(text: str, findings: Iterable[Finding], fixed: Spans) -> Iterator[Finding]:
    """The findings without what a program reads by its place; secrets stay whole."""
    for finding in findings:
        whole = finding.start, finding.end
        is_literal = finding.type is EntityType.PHONE and _is_quoted(text, *whole)
        is_anywhere = finding.type in _ANYWHERE or is_literal
        around = () if is_anywhere else overlapping(fixed, *whole)
        if finding.type is EntityType.DATE and any(
            start > whole[0] or end < whole[1] for start, end in around
        ):
            around = ()  # the number that a lexer sees in it is no number of the program
        for start, end in uncovered(*whole, around):
            if (start, end) == whole or end - start >= _SHORTEST_REST:
                yield replace(finding, start=start, end=end)


def _is_quoted(text: str, start: int, end: int) -> bool:
    marks = text[max(0, start - 1) : start] + text[end : end + 1]
    inside = text[start] + text[end - 1]
    return marks in ('""', "''") or inside in ('""', "''")


def overlapping(fixed: Spans, start: int, end: int) -> Spans:
    """Those of sorted spans that overlap `start:end`."""
    first = bisect_right(fixed, start, key=lambda span: span[1])
    return fixed[first : bisect_left(fixed, end, key=lambda span: span[0])]
