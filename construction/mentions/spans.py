"""Where a text names files: names with a known extension, paths, and names in quotes.

These are not files: the ends of URLs and e-mail addresses, version numbers, products such as
Node.js, patterns such as `*.csv`, and anything inside pasted code, logs and stack traces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from construction.mentions.extensions import (
    BARE_NAMES,
    CODE_EXTENSIONS,
    DOUBTFUL_EXTENSIONS,
    MEDIA_TYPES,
    NOT_FILES,
    extension,
)
from construction.mentions.name_bounds import (
    LONGEST_NAME,
    NOWHERE,
    Zones,
    pasted,
    reach,
    rooted_start,
    token_start,
    words_before,
)
from data.text.scripts import HAN, has_han


@dataclass(frozen=True, slots=True)
class FileSpan:
    """A file named at `text[start:end]`; `path` is that text.

    `reach` is the earliest offset at which the name could start. Names with spaces and names
    after Chinese words have no certain start; comparing with the existing files settles it.
    A `doubtful` span (a folder, `Makefile`, `logo.ai`) counts only if the sentence says that it
    is a file.
    """

    path: str
    start: int
    end: int
    reach: int
    doubtful: bool = False


_PLACEHOLDER = re.compile(r"\*|<[\w -]{1,40}>|\{[\w -]{1,40}\}")  # a pattern, not a name
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,10})(?![A-Za-z0-9_])")
_AFTER = re.compile(r"@|\.[A-Za-z0-9]|\\|/[\w.-]{1,80}|\((?=[^)]{0,40}\))")
_SPLIT_AT_SLASH = frozenset(
    ("docx", "xlsx", "pptx", "pdf", "doc", "xls", "ppt", "csv", "md", "txt", "png", "jpg")
)

_QUOTES = {
    "”": "“",
    "’": "‘",
    "」": "「",
    "』": "『",
    "》": "《",
    "〉": "〈",
    '"': '"',
    "'": "'",
    "`": "`",
}
MAX_SPANS = 400  # per text; a pasted listing of thousands of files declares no further inputs

_URL = re.compile(rf"(?i)\b(?!file:)[a-z][a-z0-9+.\-]{{1,15}}://[^\s<>\"'`，。；、）】」》{HAN}]+")
_DOMAIN_PATH = re.compile(
    r"(?i)(?:www\.|(?:[a-z0-9\-]+\.)+(?:com|org|net|io|cn|dev|edu|gov|co|app|xyz|info|ai|uk|jp|de)"
    r"(?::\d+)?/)"
)
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]{1,2}$")
# `$` marks a variable only where it fills part of a name (`report_$DATE.csv`).
_PATTERN = re.compile(r"(?i)y{4}|x{3,}|[{}]|(?<![^_. -])\$\w|\$\(|%(?![0-9a-f]{2})|^xx\.")
_COMMAND = re.compile(
    r"(?:python3?|node|npx|npm|yarn|pnpm|bash|sh|cat|git|rm|cp|mv|ls|cd|vim?|nano|head|tail|less|"
    r"curl|wget|pip3?|uv|make|docker|go|cargo|java|javac|tsx?|pytest|ruff|sed|awk|grep|sudo|open)\s"
)

_KNOWN_ROOTS = (
    "home|Users|root|mnt|data|tmp|var|opt|etc|srv|media|workspaces?|Volumes|app|private|proc|dev|sys|"
    "usr|inputs?|outputs?|uploads?|files|projects?|repo"
)
_PATH = re.compile(
    rf"(?<![\w/\\.:@+%=<-])(?:@?(?:~|\.{{1,2}})[/\\]|[A-Za-z]:[/\\]|\\\\|/(?=(?:{_KNOWN_ROOTS})/)|"
    r"/(?=(?:[\w.+-]{1,120}/){2,40}(?![\w.]))|@)?"
    r"(?:[\w.+@%=-]{1,120}[/\\]){1,40}[\w.+%=-]{0,120}"
)
# A path with a root, in a hidden folder (`.aws/credentials`), or with `..` in it.
_IS_PATH = re.compile(
    r"@?(?:~|\.{1,2})[/\\]|[A-Za-z]:[/\\]|\\\\|/|@|\.[A-Za-z]|.{0,240}[/\\]\.\.[/\\]"
)
_DOTTED = (
    r"(?:env(?:\.\w+)?|npmrc|netrc|gitignore|dockerignore|bashrc|zshrc|htpasswd|pypirc|pgpass|"
    r"git-credentials|editorconfig)"
)
_DOT_NAMES = re.compile(rf"\.(?<![\w./\\-].){_DOTTED}(?![\w/\\-])")
_KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
_WHOLE_NAMES = (*sorted(BARE_NAMES), *_KEY_NAMES)
_WHOLE = re.compile(rf"(?<![\w./\\-])(?:{'|'.join(_WHOLE_NAMES)})(?![\w./\\-])")
_ENDS_WHOLE = re.compile(rf"[/\\](?:\.{_DOTTED}|{'|'.join(_WHOLE_NAMES)})$")
_FOLDER = r"(?:这个|那个|该|此|整个)?(?:目录|文件夹|下的|下面|里的|里面)"
_FOLDER_AFTER = re.compile(rf"[\s`\"'」》”]{{0,2}}(?:folder|director(?:y|ies)|dir\b|{_FOLDER})")
_FOLDER_BEFORE = re.compile(r"(?:folder|directory|目录|文件夹)[\s:：`\"'「]{0,3}$")
# A slash between Chinese words is mostly an "or"; a folder stands apart from the words before it.
_IN_HAN = re.compile(rf"[{HAN}]+(?:[/\\][{HAN}]+)*[/\\]?")
_WORD_PAIR = re.compile(
    r"(?!(?:src|lib|docs?|data|tests?|app|pkg|cmd|scripts?|config|assets|sources?|inputs?|outputs?)/)"
    r"[A-Za-z-]+/[A-Za-z-]+"
)
_SHORT = re.compile(r"(?i)(?:w|b|n|h|c)/(?:o|c|a)?")  # with, without, because, not applicable
_APART = re.compile(r"(?:[\s`\"'“‘「《:：(（])$")
_HAN_FOLDER = re.compile(r"[ `\"'」》”]{0,2}(?:目录|文件夹)")
_HAN_INSIDE = re.compile(r"[ `\"'」》”]{0,2}(?:里|下|中|内)")
_FOLDER_WORDS = ("folder", "directory", "文件夹", "目录")  # of a text that can name one so
# A folder without a slash: "the folder named boats", "the `boats` directory".
_NAMED_FOLDER = re.compile(
    r"(?i)\b(?:sub)?(?:folder|directory) (?:named|called|titled) [\"'`“]?"
    r"(?P<after>[a-z][\w-]{1,60})(?![\w./\\])"
    r"|`(?P<before>[a-z][\w-]{1,60})` (?:sub)?(?:folder|directory)\b"
    r"|\b(?:in|into|under|inside) (?:an? |the |new ){0,2}(?:sub)?(?:folder|directory) "
    r"(?!(?:order|form|structure|view)\b)(?P<bare>[a-z][\w-]{2,60})(?=\s*(?:[.,;:]|$|and\b))"
    r"|(?:名为|叫做?)[\s“「`\"']{0,2}(?P<zh>[\w-]{1,40})[”」`\"']?\s?的(?:子)?(?:文件夹|目录)"
)
_FOLDER_INSIDE = re.compile(rf"(?<=[^/\\]){_FOLDER}")


def find_file_spans(text: str) -> tuple[FileSpan, ...]:
    """At most `MAX_SPANS` spans, in order and without overlap. Linear in the text's length."""
    urls = Zones(match.span() for match in _URL.finditer(text)) if "://" in text else NOWHERE
    spans = list(islice(_with_extension(text, urls), MAX_SPANS)) if "." in text else []
    if "/" in text or "\\" in text:
        spans += islice(_paths(text, urls, spans), MAX_SPANS)
    spans += islice(_whole_names(text, spans), MAX_SPANS)
    lowered = text.lower()
    if any(word in lowered for word in _FOLDER_WORDS):
        spans += islice(_named_folders(text, spans), MAX_SPANS)
    if not spans:
        return ()
    pasted_zones = Zones(pasted(text))
    kept = [span for span in spans if not pasted_zones.touch(span.start, span.start + 1)]
    return tuple(sorted(kept, key=lambda span: span.start)[:MAX_SPANS])


def _with_extension(text: str, urls: Zones) -> Iterator[FileSpan]:
    floor = 0
    for match in _EXTENSION.finditer(text):
        ext, end = match.group(1).lower(), match.end()
        if ext not in MEDIA_TYPES or match.start() < floor or not _ends_here(text, end, ext):
            continue
        if urls.touch(match.start(), match.end()):
            continue
        span = _quoted(text, floor, end) or _unquoted(text, floor, match.start(), end)
        if span is not None and _is_file(span.path):
            floor = end
            yield span


def _ends_here(text: str, end: int, ext: str) -> bool:
    after = _AFTER.match(text, end)
    if after is None:
        return True
    if after.group().startswith("/"):
        # "a.docx/b.docx" names two files, but "site.js/" may be a folder.
        follows = extension(after.group()) and text[after.end() : after.end() + 1] != "/"
        return bool(follows) and (ext in _SPLIT_AT_SLASH or ext in CODE_EXTENSIONS - {"js"})
    return after.group() == "(" and ext not in ("json", "log", "html", "text", "map", "xml", "sql")


def _quoted(text: str, floor: int, end: int) -> FileSpan | None:
    """The name in quotes that ends at `end`; it may contain spaces, but is not a command."""
    opener = _QUOTES.get(text[end : end + 1])
    if opener is None:
        return None
    start = text.rfind(opener, max(floor, end - LONGEST_NAME), end) + 1
    content = text[start:end]
    if start == 0 or not content.strip() or "\n" in content or _COMMAND.match(content):
        return None
    if opener == "'" and start > 1 and text[start - 2].isalnum():
        return None  # an apostrophe
    if _PLACEHOLDER.search(content):
        return None
    start += len(content) - len(content.lstrip())
    return FileSpan(text[start:end], start, end, start, _is_doubtful(text[start:end]))


def _unquoted(text: str, floor: int, dot: int, end: int) -> FileSpan | None:
    start = token_start(text, floor, dot)
    if start == dot or _is_pattern(text, start):
        return None
    start = rooted_start(text, floor, start)
    start += words_before(text[start:dot])
    if start >= dot:
        return None
    path = text[start:end]
    return FileSpan(path, start, end, reach(text, floor, start), _is_doubtful(path))


def _is_pattern(text: str, start: int) -> bool:
    """True for a pattern instead of a name: `*.csv`, `report_*.csv`, `v<N>_x.csv`."""
    before, first = text[start - 1 : start], text[start]
    if before in ("*", "?", ">"):
        return first in "._-" or (before == "*" and text[start - 2 : start - 1].isalnum())
    return False


def _is_file(path: str) -> bool:
    name = re.split(r"[/\\]", path)[-1]
    stem = name[: -len(extension(name)) - 1]
    if not stem or name.lower() in NOT_FILES or path.lower() in NOT_FILES:
        return False
    if _ABBREVIATION.match(path) or _PATTERN.search(name) or _DOMAIN_PATH.match(path):
        return False
    if path.startswith("&"):
        return False  # code: `&flags.json`
    at = path.find("@", 1)
    if at > 0 and path[at - 1] not in "/\\":
        return False
    short = len(extension(name)) == 1 or extension(name) in DOUBTFUL_EXTENSIONS
    return not short or stem[0].isalpha() or len(name) < len(path)


def _is_doubtful(path: str) -> bool:
    return extension(path) in DOUBTFUL_EXTENSIONS and "/" not in path and "\\" not in path


def _paths(text: str, urls: Zones, taken: Sequence[FileSpan]) -> Iterator[FileSpan]:
    covered = Zones((span.start, span.end) for span in taken)
    for match in _PATH.finditer(text):
        start, path = match.start(), match.group()
        if inside := _FOLDER_INSIDE.search(path):
            path = path[: inside.start()]
        path = path.rstrip(".")
        end = start + len(path)
        if urls.touch(start, end) or covered.touch(start, end) or _DOMAIN_PATH.match(path):
            continue
        before = _FOLDER_BEFORE.search(text, max(0, start - 20), start)
        named = before is not None or _FOLDER_AFTER.match(text, end) is not None
        if _is_prose(text, start, end, path):
            continue
        is_file = _ENDS_WHOLE.search(path) is not None
        if named or is_file or _IS_PATH.match(path) or path.endswith("/"):
            first = words_before(path)
            doubtful = not (named or is_file)
            yield FileSpan(path[first:], start + first, end, start, doubtful)


def _is_prose(text: str, start: int, end: int, path: str) -> bool:
    """Is the slash an "or" ("theme/skin"), or part of an abbreviation ("w/"), or code?"""
    if _SHORT.fullmatch(path) or path.startswith("&"):
        return True
    if _IN_HAN.fullmatch(path):
        is_apart = _APART.search(text, max(0, start - 1), start) is not None
        is_inside = path.endswith(("/", "\\")) and _HAN_INSIDE.match(text, end) is not None
        is_quoted = path.endswith(("/", "\\")) and text[start - 1 : start] in _QUOTES.values()
        return not (is_apart and (is_inside or is_quoted or _HAN_FOLDER.match(text, end)))
    is_pair = _WORD_PAIR.fullmatch(path) is not None and has_han(text[max(0, start - 9) : end + 9])
    return is_pair and _HAN_FOLDER.match(text, end) is None


def _whole_names(text: str, taken: Sequence[FileSpan]) -> Iterator[FileSpan]:
    patterns = [_DOT_NAMES] if "." in text else []
    if any(name in text for name in _WHOLE_NAMES):
        patterns.append(_WHOLE)
    covered = Zones((span.start, span.end) for span in taken) if taken else NOWHERE
    for pattern in patterns:
        for match in pattern.finditer(text):
            if not covered.touch(*match.span()):
                yield FileSpan(match.group(), match.start(), match.end(), match.start(), True)


def _named_folders(text: str, taken: Sequence[FileSpan]) -> Iterator[FileSpan]:
    covered = Zones((span.start, span.end) for span in taken) if taken else NOWHERE
    for match in _NAMED_FOLDER.finditer(text):
        start, end = match.span(match.lastgroup or 0)
        if not covered.touch(start, end):
            yield FileSpan(text[start:end], start, end, start, True)
