"""What a grader sees in an output file: does it open, what does it hold, what was left in it?

Runs only in a confined child (`file_child`) or on files that this project wrote itself.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from construction.grading.file_types import FileType, type_of
from construction.grading.openers import (
    OPENERS,
    Bounds,
    Content,
    Encrypted,
    TooLarge,
    decode,
    says_nothing,
)
from construction.grading.tables import Table
from data.text.scripts import HAN

# A traceback or a crash report of a common runtime instead of content.
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):"
    r"|^Exception in thread \"[^\"\n]{1,80}\" [\w.$]{1,200}"
    r"|^panic: [^\n]{1,200}\n+goroutine \d+"
    r"|^(?:Uncaught |Unhandled )[A-Z]\w{0,40}Error\b"
    r"|^\s{2,8}at [^\n(]{1,200}\((?:node:|file:|/)[^\n()]{1,300}:\d+:\d+\)$",
    re.MULTILINE,
)

_FENCED = re.compile(r"^```[^\n]*\n(?:(?!```)[^\n]*\n)*```", re.MULTILINE)

# Text that fills space: the usual Latin, and words that stand for content that is missing.
_LATIN_TEXT = """
lorem ipsum dolor sit amet consectetur consectetuer adipiscing adipisicing elit sed do eiusmod
tempor incididunt ut labore et dolore magna aliqua enim ad minim veniam quis nostrud
exercitation ullamco laboris nisi aliquip ex ea commodo consequat duis aute irure in reprehenderit
voluptate velit esse
cillum eu fugiat nulla pariatur excepteur sint occaecat cupidatat non proident sunt culpa qui
officia deserunt mollit anim id est laborum"""
_DUMMY_TEXT = "placeholder todo tbd dummy sample text content here insert untitled done finished"
_FILLER_WORDS = frozenset(f"{_LATIN_TEXT} {_DUMMY_TEXT}".split())
_HAN_DUMMY = re.compile(
    r"占位符?|待(?:补充|填写|完善)|示例(?:文本|内容)|此处(?:填写)?|测试(?:文本|内容)"
)
_TOKEN = re.compile(rf"[{HAN}]|[0-9]+(?:[.,][0-9]+)+(?![^\W_{HAN}])|[^\W_{HAN}]+")  # 3.12 is one
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_COMMENT = {"sh": "#", "sql": "--"}  # others: //
_FILLER_SHARE = 0.7  # of the words, from which a text counts as filler
_REPEATED_WORDS = 10  # a document of so many words, all the same one or two, is filler
_MOST_TOKENS = 20_000  # what comes later in a text does not tell whether it is an agent's own
_TEXT_CHARS = 200_000  # of the words that are compared with what a task fixes
_FEW_BYTE_VALUES = 64  # media are compressed: they have nearly all of the 256


@dataclass(frozen=True, slots=True)
class RuleLimits:
    """Limits of one check. Seconds are wall time; `total_seconds` is for all files together."""

    seconds: int = 30
    total_seconds: int = 300
    memory_bytes: int = 1 << 30
    files: int = 500
    file_bytes: int = 100 << 20
    inflated_bytes: int = 300 << 20
    archive_entries: int = 10_000
    cells: int = 5_000_000
    pixels: int = 100_000_000
    pages: int = 2_000
    text_chars: int = 10_000_000

    @property
    def bounds(self) -> Bounds:
        """The limits of what a file holds."""
        values = asdict(self)
        return Bounds(**{field.name: values[field.name] for field in fields(Bounds)})


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in a file; `trouble` is empty exactly if the file was opened.

    `opens` is None if no opener exists for its type. `items` counts the units it holds. `size` is
    in bytes, None if the file was not read.
    `is_shell`: it holds no content. `is_filler`: its words only fill space. `shingles` are hashes
    of the runs of three words in its prose, sorted. `text` is its words in lower case with a space
    around each (`word_form`), of a long text the first; `words` (of Chinese: characters) and
    `characters` count all of it. `form` tells what it holds, with its look, from anything else; it
    is that of the same file saved anew.
    """

    trouble: str = ""
    size: int | None = None
    signature: bool = False
    opens: bool | None = None
    items: int = 0
    traceback: bool = False
    is_shell: bool = False
    is_filler: bool = False
    shingles: tuple[int, ...] = ()
    text: str = ""
    words: int = 0
    characters: int = 0
    pages: int = 0
    tables: tuple[Table, ...] = ()
    form: int = 0


def look_at(folder: str, name: str, limits: RuleLimits) -> Seen:
    """Read one file below `folder` and look at it; raises nothing."""
    try:
        return look(read_regular(folder, name, limits.file_bytes), type_of(name), limits)
    except TooLarge:
        return Seen("too_large")
    except MemoryError:
        return Seen("out_of_memory")
    except OSError:
        return Seen("unsafe_file")


def read_regular(folder: str, name: str, max_bytes: int) -> bytes:
    """The content of a regular file below `folder`; a symlink, device or pipe raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(Path(folder) / name, flags)
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("not a regular file")
        if state.st_size > max_bytes:
            raise TooLarge
        return file.read(max_bytes)


def look(data: bytes, kind: FileType | None, limits: RuleLimits) -> Seen:
    """Compare the first bytes, open the file, and look at its text."""
    signature = kind is None or _signature_fits(data, kind)
    if kind is None or kind.opener is None:
        return _unopened(data, signature)
    content, trouble = _open(data, kind.opener, limits.bounds)
    if content is None:
        return Seen(trouble, len(data), signature, opens=False)
    text = _FENCED.sub("", content.text)
    prose = content.text if content.prose is None else content.prose
    return Seen(
        size=len(data),
        signature=signature,
        opens=True,
        items=content.items,
        traceback=holds_traceback(text),
        is_shell=content.is_shell or _is_only_comments(content.text, kind),
        is_filler=_is_filler(prose, kind),
        shingles=tuple(sorted(set(shingles(prose)))),
        text=word_form(content.text or prose)[:_TEXT_CHARS],
        words=sum(1 for _ in _TOKEN.finditer(content.text)),
        characters=len(content.text.strip()),
        pages=content.pages,
        tables=content.tables,
        form=_form_key(data, content.form, kind),
    )


def _form_key(data: bytes, form: str | None, kind: FileType | None) -> int:
    """The number by which the form of a file is compared; of text the end without blanks."""
    if form is not None:
        return zlib.crc32(form.encode("utf-8", "replace"))
    is_text = kind is None or not (kind.binary or kind.signatures)
    return zlib.crc32(data.rstrip() if is_text else data)


def holds_traceback(text: str) -> bool:
    """Does a text hold a traceback or a crash report of a common runtime?"""
    return _TRACEBACK.search(text) is not None


def word_form(text: str) -> str:
    """The words of a text in lower case, in order, with a space around each; figures are whole."""
    return f" {' '.join(_tokens(text))} "


def _unopened(data: bytes, signature: bool) -> Seen:
    """A file that nothing here opens: as text if it is text, else by the bytes it uses."""
    prose = "" if b"\x00" in data else data.decode("utf-8", "replace")
    if not prose or "\ufffd" in prose:
        is_shell = len(set(data)) < _FEW_BYTE_VALUES
        return Seen(size=len(data), signature=signature, items=len(data), is_shell=is_shell)
    return Seen(
        size=len(data),
        signature=signature,
        items=len(data),
        is_shell=says_nothing(prose),
        is_filler=_is_filler(prose, None),
        shingles=tuple(sorted(set(shingles(prose)))),
        text=word_form(prose)[:_TEXT_CHARS],
        words=sum(1 for _ in _TOKEN.finditer(prose)),
        characters=len(prose.strip()),
        form=_form_key(data, None, None),
    )


def shingles(text: str) -> list[int]:
    """Hashes of each run of three words (of Chinese: characters), in the order of the text."""
    tokens = _tokens(text)
    runs = zip(tokens, tokens[1:], tokens[2:], strict=False) if len(tokens) > 2 else [tokens]
    return [zlib.crc32(" ".join(run).encode("utf-8", "replace")) for run in runs if run]


def _is_only_comments(text: str, kind: FileType) -> bool:
    """Is it code in which every line is a comment?"""
    mark = _COMMENT.get(kind.name, "//")
    lines = [line for line in map(str.strip, text.splitlines()) if not line.startswith(mark)]
    return kind.kind == "code" and kind.opener == "text" and says_nothing("".join(lines))


def _tokens(text: str) -> list[str]:
    tokens = (_GROUPED.sub("", match.group().casefold()) for match in _TOKEN.finditer(text))
    return [token for token, _ in zip(tokens, range(_MOST_TOKENS), strict=False)]


def _is_filler(prose: str, kind: FileType | None) -> bool:
    tokens = _tokens(prose)
    if not tokens:
        return False
    dummies = sum(token in _FILLER_WORDS for token in tokens)
    dummies += sum(len(match.group()) for match in _HAN_DUMMY.finditer(prose))
    repeats = len(tokens) >= _REPEATED_WORDS and len(set(tokens)) <= 2
    is_document = kind is not None and kind.kind == "document"
    return dummies >= _FILLER_SHARE * len(tokens) or (is_document and repeats)


def _signature_fits(data: bytes, kind: FileType) -> bool:
    if kind.signatures:
        return data.startswith(kind.signatures)
    if kind.binary:
        return True
    try:
        decode(data)
    except UnicodeError:
        return False
    return True


def _open(data: bytes, opener: str, bounds: Bounds) -> tuple[Content | None, str]:
    try:
        return OPENERS[opener](data, bounds), ""
    except TooLarge:
        return None, "too_large"
    except Encrypted:
        return None, "encrypted"
    except MemoryError:
        return None, "out_of_memory"
    except RecursionError:
        return None, "too_deep"
    except Exception:  # a library may raise anything on a broken file
        return None, "broken"
