"""Files that a text names, by form, and the files of an instance."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from data.contracts import Attachment, MissingInput, MissingKind, TaskInstance
from data.text.lexicon import load_table, pattern_of
from data.text.scripts import HAN, has_han, is_han

# File types by their extensions, from `extensions.toml`, and what the parts of a path are.

_TABLE = load_table(__package__, "extensions.toml")
_TOOLS = re.compile(
    r"(?:/mnt/(?:[^/]+/)?|.{0,200}/\.[\w-]+/(?:[^/]+/)?)skills/"
    r"|.{0,300}/(?:site-packages|node_modules|tool-results|\.claude/(?:plans|projects|todos))/"
)
_OCTETS = "application/octet-stream"


def _listed(name: str) -> tuple[str, ...]:
    return tuple(_TABLE["lists"][name].split())


CODE_EXTENSIONS = frozenset(_listed("code"))
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {
        **{ext: mime for group in _TABLE["media"].values() for ext, mime in group.items()},
        **dict.fromkeys(_listed("keys"), _OCTETS),
        **dict.fromkeys(_listed("code"), "text/plain"),
    }
)
_DOUBTFUL_EXTENSIONS = frozenset(_listed("doubtful"))
BARE_NAMES = frozenset(_listed("bare_names"))
_NOT_FILES = frozenset(_listed("not_files"))
_TEXTS = frozenset(_listed("texts"))
COMMON_NAMES = frozenset(_listed("common_names"))


def extension(name: str) -> str:
    """The known extension of a file name in lower case without the dot, "" if none is known."""
    stem, dot, last = name.lower().rpartition(".")
    if not dot or last not in MEDIA_TYPES:
        return ""
    _, dot, before = stem.rpartition(".")
    double = f"{before}.{last}"
    return double if dot and double in MEDIA_TYPES else last


def media_type(name: str) -> str:
    """The media type for a file name; `_OCTETS` if its extension is not in the table."""
    return str(MEDIA_TYPES.get(extension(name), _OCTETS))


def path_parts(path: str) -> list[str]:
    """The components of a path, case-folded, whichever slash divides them."""
    return path.casefold().replace("\\", "/").split("/")


def is_same_path(path: str, other: str) -> bool:
    """Is one path the tail of the other?"""
    parts, others = (
        [part for part in path_parts(one) if part not in ("", ".", "~")] for one in (path, other)
    )
    length = min(len(parts), len(others))
    return length > 0 and parts[-length:] == others[-length:]


def is_text(name: str) -> bool:
    """Is what a file of that name holds the characters that one reads?"""
    return media_type(name).startswith("text/") or extension(name) in _TEXTS


def is_tool(path: str) -> bool:
    """Does a file lie in a folder of the agent's program, or in an installed package?"""
    return _TOOLS.match(path) is not None


def tail(path: str) -> str:
    """The last component of a path, case-folded."""
    return path_parts(path)[-1]


_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_SAME_KIND = {
    "xls": "xlsx",
    "doc": "docx",
    "ppt": "pptx",
    "jpeg": "jpg",
    "htm": "html",
    "yml": "yaml",
}


def spelling(name: str) -> str:
    """A file's name without capitals and signs between words, its ending by its kind.

    Two names with the same spelling are of one file, where nothing is named so to the letter.
    """
    stem, dot, ending = name.casefold().rpartition(".")
    plain = _BETWEEN_WORDS.sub("", stem) or stem
    return f"{plain}{dot}{_SAME_KIND.get(ending, ending)}"


# Where a text names files, by form: names with a known extension, names in quotes, and paths.
#
# These are not files: URLs and e-mail addresses, products such as Node.js, patterns such as
# `*.csv`, and anything inside pasted code, diffs and stack traces.


@dataclass(frozen=True, slots=True)
class FileSpan:
    """A file named at `text[start:end]`; `path` is that text.

    `reach` is the earliest offset at which the name could start. Names with spaces and names
    after Chinese words have no certain start; `_settled` compares them with files that are known.
    A `doubtful` span (a folder, `Makefile`, `logo.ai`) is a file only where one is known.
    """

    path: str
    start: int
    end: int
    reach: int
    doubtful: bool = False


_MAX_SPANS = 400  # per text; a pasted listing of thousands of files declares no further inputs
_LONGEST_NAME = 255
_LONGEST_REACH = 100
_STOPS = (
    " \t\r\n\f\v\u3000\xa0\u2005\"'`“”‘’「」『』《》〈〉<>|*?,;:，；。：、！？…=!()（）[]【】{}\0"
)
_STOP = re.escape(_STOPS)
_TOKEN = pattern_of(
    rf"(?:[A-Za-z]:(?=[/\\]))?(?:[^{_STOP}]|(?<=[\w)\]）】])[(\[（][^\s()（）\[\]]{{1,40}}[)\]）]"
    r"|(?<=\w) \(\d{1,3}\)(?=\.)){1,255}"
)
_QUOTED = pattern_of(
    r"“([^“”\n]{1,200})”|‘([^‘’\n]{1,200})’|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』"
    r"|《([^《》\n]{1,200})》|\"([^\"\n]{1,200})\"|`([^`\n]{1,200})`|(?<!\w)'([^'\n]{1,200})'"
)
_COMMAND = pattern_of(r"(?:\./)?[a-z][\w.-]{0,20} +(?:-|\S*[/.])")  # `cat a.txt`
_EXTENSION = pattern_of(r"\.([A-Za-z0-9]{1,10})(?![A-Za-z0-9_@])")
_GOES_ON = pattern_of(r"\.[A-Za-z0-9]|\\|/(?![^/\s]{1,100}\.[A-Za-z0-9]{2,5}\b)|[(\[（]")
_AWAY = pattern_of(  # URLs, addresses of mail, domains with a path
    rf"(?i)\b(?!file:)[a-z][a-z0-9+.\-]{{1,15}}://[^\s<>\"'`，。；、）】」》{HAN}]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[a-z]{2,24}"
    r"|(?<![\w./-])(?:www\.|(?:[a-z0-9\-]{1,63}\.){1,5}(?:com|org|net|io|cn|dev|edu|gov|app)"
    r"(?::\d{1,5})?/)[^\s<>\"'`]*"
)
_PATTERN = pattern_of(r"(?i)y{4}|x{3,}|(?<![^_. -])\$\w|\$\(|%(?![0-9a-f]{2})")
_PATH = pattern_of(
    r"(?<![\w/\\.:@+%=<-])(?:(?:~|\.{1,2}|[A-Za-z]:)?[/\\])?(?:[\w.+@%=-]{1,120}[/\\]){1,40}"
    r"(?:[\w.+%=-]{1,120})?"
)
_ROOT = pattern_of(rf"(?<=[{HAN}])(?:(?:~|\.{{1,2}}|[A-Za-z]:)?[/\\])(?=[\w.])")
_WHOLE = pattern_of(
    rf"(?<![\w./\\-])(?:[\w.-]{{1,60}}/){{0,8}}(?:{'|'.join(sorted(BARE_NAMES))}|id_rsa|\.env)"
    r"(?![\w./\\-])"
)
# Where a name may begin after Chinese words written without a space.
_AFTER_HAN = pattern_of(
    r"(?:保存|另存|存|导出|输出|写|命名|整理|转|放|合并|汇总)(?:为|成|到|入|在|进)|(?:请|帮我|并)?"
    r"(?:把|将|从|根据|基于|参考|读取|打开|查看|看一下|看|分析|检查|对比|比较|生成|新建|名为|叫做"
    r"|文件|表格|附件|以及|还有|一份|一个)|^(?:在|用|和|与)"
)
_FENCE = pattern_of(r"(?ms)^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)")
_ONLY_PATHS = pattern_of(r"(?:[ \t]*(?=\S*[./\\])[\w./\\:~@+%-]{1,255}[ \t]*(?:\n|\Z)|[ \t]*\n)*")
_MACHINE = pattern_of(  # diffs, stack traces, a shell's lines
    r"(?m)^(?:diff --git |@@ -\d|[+-]{3} [ab]/|[ \t]*(?:at \S{1,200}\(|File \"|[$➜❯%] \S)"
    r"|[\w.-]{1,60}@[\w.-]+[:~ ].{0,80}[$#%] |[\w.]{1,80}(?:Error|Exception)\b:"
    r"|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d).*$"
)


class _Zones:
    """Stretches of a text, merged where they overlap; a lookup takes logarithmic time."""

    def __init__(self, zones: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(zones):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def touch(self, start: int, end: int) -> bool:
        position = bisect_left(self._starts, end) - 1
        return position >= 0 and self._ends[position] > start


def find_file_spans(text: str, known: Sequence[str] = ()) -> tuple[FileSpan, ...]:
    """At most `_MAX_SPANS` spans, in order and without overlap. Linear in the text's length.

    A name whose start is uncertain begins where that of a `known` path does.
    """
    if "." not in text and "/" not in text and "\\" not in text and not _WHOLE.search(text):
        return ()
    away = _Zones([*(match.span() for match in _AWAY.finditer(text)), *_pasted(text)])
    spans_kept: list[FileSpan] = []
    for spans in (_quoted(text), _tokens(text), _paths(text), _whole(text)):
        taken = _Zones([(span.start, span.end) for span in spans_kept])
        for span in spans:
            if len(spans_kept) >= _MAX_SPANS:
                break
            if not (taken.touch(span.start, span.end) or away.touch(span.start, span.end)):
                spans_kept.append(span)
    ordered = sorted(spans_kept, key=lambda span: span.start)
    return tuple(_begun(text, span, known) for span in ordered) if known else tuple(ordered)


def _begun(text: str, span: FileSpan, known: Sequence[str]) -> FileSpan:
    name = tail(_settled(text, span, known) or "")
    if not name or tail(span.path) == name:
        return span
    start = span.end - len(name)
    return replace(span, path=text[start : span.end], start=start)


def _settled(text: str, span: FileSpan, known: Iterable[str]) -> str | None:
    """The longest of the `known` paths with whose name the span ends; None if there is none."""
    wide = text[span.reach : span.end].casefold()
    names = [path for path in known if _ends_with(wide, tail(path))]
    return max(names, key=lambda path: (len(tail(path)), path), default=None)


def _ends_with(wide: str, name: str) -> bool:
    if not name or not wide.endswith(name):
        return False
    before = wide[: -len(name)][-1:]
    return not (before.isascii() and (before.isalnum() or before in ("_", "-")) and before)


def _pasted(text: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks, unless they list only paths, and lines that a machine wrote."""
    for fence in _FENCE.finditer(text):
        if not _ONLY_PATHS.fullmatch(fence[1]):
            yield fence.span()
    yield from (line.span() for line in _MACHINE.finditer(text))


def _quoted(text: str) -> Iterator[FileSpan]:
    for match in _QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        name = text[start:end]
        if name.strip() != name or _COMMAND.match(name) or set("*<>{}\n").intersection(name):
            continue
        if _is_file(name):
            yield FileSpan(name, start, end, start, _is_doubtful(name))
        elif name.endswith("/") and " " not in name:
            yield FileSpan(name, start, end, start, True)


def _tokens(text: str) -> Iterator[FileSpan]:
    for token in _TOKEN.finditer(text):
        floor = token.start()
        if text[floor - 1 : floor] in ("*", "?", "{", "}", "<", ">") and floor:
            continue  # part of a pattern: `*.csv`
        for match in _EXTENSION.finditer(text, floor, token.end()):
            end = match.end()
            is_known = match[1].lower() in MEDIA_TYPES and not _GOES_ON.match(text, end)
            if is_known and end - floor <= _LONGEST_NAME:
                start = _start(text, floor, match.start())
                if _is_file(text[start:end]):
                    reach = _reach(text, floor)
                    path = text[start:end].removeprefix("@")
                    yield FileSpan(path, end - len(path), end, reach, _is_doubtful(path))
                floor = end + text.startswith("/", end)


def _start(text: str, floor: int, dot: int) -> int:
    """Where a name begins that Chinese words may precede without a space."""
    stem = text[floor:dot]
    if not has_han(stem):
        return floor
    root = _ROOT.search(stem)
    if root and is_han(stem[0]):
        return floor + root.start()
    limit = stem.find("/") if "/" in stem else len(stem) - 1
    cuts = [match.end() for match in _AFTER_HAN.finditer(stem, 0, limit + 1)]
    return floor + max((cut for cut in cuts if cut <= limit), default=0)


def _reach(text: str, start: int) -> int:
    """The earliest offset at which a name with spaces could begin without crossing a stop."""
    position, lowest = start, max(0, start - _LONGEST_REACH)
    while position > lowest and (text[position - 1] == " " or text[position - 1] not in _STOPS):
        position -= 1
    return position + len(text[position:start]) - len(text[position:start].lstrip())


def _is_file(path: str) -> bool:
    name = path.replace("\\", "/").rpartition("/")[2]
    ending = extension(name)
    stem = name[: -len(ending) - 1] if ending else ""
    if not ending or (not stem and name == path) or {name.lower(), path.lower()} & _NOT_FILES:
        return False
    if _PATTERN.search(name) or path.startswith("&") or "@" in path[1:]:
        return False
    return not _is_doubtful(name) or len(name) < len(path) or stem[0].isalpha()


def _is_doubtful(path: str) -> bool:
    short = len(extension(path)) == 1 or extension(path) in _DOUBTFUL_EXTENSIONS
    return short and "/" not in path and "\\" not in path


def _paths(text: str) -> Iterator[FileSpan]:
    """Folders and files without extension: from a root, or with a slash at the end."""
    for match in _PATH.finditer(text) if "/" in text or "\\" in text else ():
        path = match.group().rstrip(".")
        start = match.start()
        *folders, last = path.replace("\\", "/").split("/")
        if has_han(last) and not has_han("".join(folders)):
            path = path[: -len(last)]  # `/srv/in/下`: prose follows the folder
        parts: Sequence[str] = [part for part in path.replace("\\", "/").split("/") if part]
        if root := _ROOT.search(path):
            start, path = start + root.start(), path[root.start() :]
        is_rooted = path[0] in "/~." or path[1:2] == ":"
        if (is_rooted and len(parts) > 1) or (path[-1] in "/\\" and not has_han(path)):
            yield FileSpan(path, start, start + len(path), start, True)


def _whole(text: str) -> Iterator[FileSpan]:
    for match in _WHOLE.finditer(text):
        yield FileSpan(match.group(), match.start(), match.end(), match.start(), True)


def file_name_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each file name in a text."""
    return [(span.start, span.end) for span in find_file_spans(text)]


def without_file_names(text: str) -> str:
    """The text with an ellipsis for each file name."""
    pieces, position = [], 0
    for start, end in file_name_spans(text):
        pieces.append(text[position:start])
        position = end
    return "…".join([*pieces, text[position:]])


# The files of an instance: attached, named in the person's words, or read by the agent.
#
# What a name is comes from facts, never from the meaning of the words: a file that is at hand and
# that the agent did not make is an input, one that the agent made is a result.

MAX_MENTIONS = 200  # per instance; a pasted listing of thousands declares no further inputs
_PASTED_LINES = 8  # of a message, as one that holds a file, a diff or a log
BY_AGENT = "read by the agent"

_URL = re.compile(r"(?i)(?:https?|ftp|data):")
# What an export put where a path was: the record says of no file what it is.
_CUT_OUT = re.compile(r"\[(?:trimmed|truncated|omitted|elided|placeholder)\b[^\]]{0,80}\]")


@dataclass(frozen=True, slots=True)
class Mention:
    """A file as named by an attachment, in a person's words, or in an act of the agent.

    `turn` is the position in `user_turns` (-1 for an act). For words, `path` is
    `said[start:end]`, and `wide` also includes any text before it that may belong to the name:
    where the start of a name is uncertain, the existing files decide. `doubtful`: by its form it
    may be no file.
    """

    path: str
    turn: int
    start: int = -1
    end: int = -1
    wide: str = ""
    attachment: Attachment | None = field(default=None, repr=False)
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class _NamedFiles:
    """The files of an instance, each listed once, in order.

    `results` are the paths that the agent, or a program that it ran, made: no input, even where
    the folder holds them by now. A file that it read before it changed it is not among them.
    """

    attached: tuple[Mention, ...]
    named: tuple[Mention, ...]
    read: tuple[Mention, ...]
    results: tuple[str, ...]


def named_files(instance: TaskInstance) -> _NamedFiles:
    """Attachments, names in the person's words, files read by the agent, and its results."""
    first: dict[str, str] = {}
    for act in instance.acts:
        if act.kind in ("read", "wrote") and not _URL.match(act.path):
            first.setdefault(act.path, act.kind)
    made = {*instance.made, *(path for path, kind in first.items() if kind == "wrote")}
    attached = tuple(_attached(instance))
    known = {tail(item.path) for item in attached}
    named = tuple(_named(instance, known, made))
    kept = {text.path for text in instance.kept}
    read = (path for path, kind in first.items() if kind == "read" and path not in made)
    return _NamedFiles(
        attached=attached,
        named=named,
        read=tuple(Mention(path, -1) for path in read if path in kept or not is_tool(path))[
            :MAX_MENTIONS
        ],
        results=tuple(sorted(made)),
    )


def _named(
    instance: TaskInstance, attached: Collection[str], made: Collection[str]
) -> Iterator[Mention]:
    seen: set[str] = set()
    acted = [*made, *(act.path for act in instance.acts)]
    for position, turn in enumerate(instance.user_turns):
        for span in find_file_spans(turn.said):
            wide = turn.said[span.reach : span.end]
            known = _settled(turn.said, span, [*attached, *acted])
            start = span.start if known is None else span.end - len(tail(known))
            path = turn.said[min(start, span.start) : span.end].removeprefix("@")
            if known is not None and tail(known) in attached:
                continue
            if path in seen or len(seen) >= MAX_MENTIONS:
                continue
            seen.add(path)
            doubtful = span.doubtful and known is None
            yield Mention(path, position, span.start, span.end, wide, doubtful=doubtful)


def _attached(instance: TaskInstance) -> Iterator[Mention]:
    for position, turn in enumerate(instance.user_turns):
        for attachment in _without_stand_ins(turn.attachments):
            path = attachment.path or ""
            if not (_URL.match(path) or _CUT_OUT.fullmatch(path)):
                yield Mention(path, position, attachment=attachment)


def _without_stand_ins(attachments: Sequence[Attachment]) -> Iterator[Attachment]:
    """Attachments without the placeholders that duplicate another attachment.

    Gateways write `[图片]` or `<media:image>` beside the picture itself.
    """
    is_stand_in = [sent.path is None and sent.data is None for sent in attachments]
    unmatched = Counter(
        _kind(sent) for sent, empty in zip(attachments, is_stand_in, strict=True) if not empty
    )
    for attachment, empty in zip(attachments, is_stand_in, strict=True):
        kind = _kind(attachment)
        candidates = (kind, "") if kind else tuple(unmatched)
        same = next((known for known in candidates if unmatched[known]), None) if empty else None
        if same is None:
            yield attachment
        else:
            unmatched[same] -= 1


def _kind(attachment: Attachment) -> str:
    """`image`, `audio`, …; empty if the log does not say."""
    ext = extension(attachment.path or "")
    return (attachment.mime or MEDIA_TYPES.get(ext, "")).partition("/")[0]


def is_shown_in_part(instance: TaskInstance, path: str) -> bool:
    """Does the log hold a part of a file that the agent read, or a message text that was pasted?"""
    pasted = any(turn.said.count("\n") >= _PASTED_LINES for turn in instance.user_turns)
    return pasted or any(is_same_path(path, part) for part in instance.in_part)


def missing_file(path: str, source: str) -> MissingInput:
    """A named path that is not at hand, as a missing input; without an extension it is a folder."""
    ending = extension(path)
    last = path.replace("\\", "/").rpartition("/")[2]
    is_folder = bool(path) and "." not in last and last not in BARE_NAMES
    return MissingInput(MissingKind.FOLDER if is_folder else MissingKind.FILE, source, path, ending)
