"""What the place of a named file says: routes of a site are no files, and results share folders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.mentions.extensions import DOUBTFUL_EXTENSIONS, extension
from construction.mentions.intent import Intent
from construction.mentions.result_cues import begins_item, result_sections
from construction.mentions.spans import FileSpan

_PAGES = frozenset(("html", "htm", "xhtml"))
_SERVED = _PAGES | {"xml", "json", "txt"}
_OF_A_SITE = re.compile(
    r"(?i)://|\b(?:localhost|endpoint|route|url|web ?site|web ?page|web server|api)s?\b"
    r"|网站|网页|接口|路由"
)
_VERSIONED = re.compile(r"/(?:[\w-]+/)?v\d+(?:\.\d+)?(?:/[\w{}.-]*)*")  # `/api/v2/boats/`
_PAGE_BEFORE = re.compile(r"(?i)(?:\bpages?\b|页面)[^\n]{0,60}$")
_LOOK_BACK = 80
_RESULT_FOLDERS = frozenset(
    ("result", "results", "output", "outputs", "out", "deliverables", "exports", "generated")
) | frozenset(("结果", "输出", "成果", "交付", "交付物"))
_SILENT = frozenset((Intent.ASSUMED, Intent.INPUT))


def is_route(text: str, span: FileSpan) -> bool:
    """True for `/rss.xml` of a site, a page of one, `/api/v2/boats/`, and a handle `@parrot.ai`."""
    path = span.path
    if path.startswith("@") and not _folder(path):
        return extension(path) in DOUBTFUL_EXTENSIONS
    if _VERSIONED.fullmatch(path) and not extension(path):
        return True
    alone, kind = not _folder(path.lstrip("/")), extension(path)
    if not alone or kind not in _SERVED or not _OF_A_SITE.search(text):
        return False
    before = text[max(0, span.start - _LOOK_BACK) : span.start]
    return path.startswith("/") or (kind in _PAGES and _PAGE_BEFORE.search(before) is not None)


def with_result_folders(spans: Sequence[FileSpan], intents: Sequence[Intent]) -> list[Intent]:
    """The intents where a file beside a result, and one in `results/`, may be a result too.

    What is said to be an input stays one in a folder that is only called `results`.
    """
    results = {
        folder
        for span, intent in zip(spans, intents, strict=True)
        if intent is Intent.OUTPUT and (folder := _folder(span.path))
    }
    return [_beside(span, intent, results) for span, intent in zip(spans, intents, strict=True)]


def in_result_sections(
    text: str, spans: Sequence[FileSpan], intents: Sequence[Intent]
) -> list[Intent]:
    """The intents where a name below "Deliverables:" may be a result.

    That is so if its words are silent, or if it begins an item: "- report.md is a short report".
    """
    sections = result_sections(text)
    return [
        Intent.EITHER
        if any(start <= span.start < end for start, end in sections)
        and (intent is Intent.ASSUMED or (intent is Intent.INPUT and begins_item(text, span.start)))
        else intent
        for span, intent in zip(spans, intents, strict=True)
    ]


def _beside(span: FileSpan, intent: Intent, results: set[str]) -> Intent:
    folder = _folder(span.path)
    inside = any(folder == other or folder.startswith(f"{other}/") for other in results)
    if inside and intent in _SILENT:
        return Intent.EITHER
    is_named_so = folder.rpartition("/")[2] in _RESULT_FOLDERS
    return Intent.EITHER if is_named_so and intent is Intent.ASSUMED else intent


def _folder(path: str) -> str:
    return path.casefold().replace("\\", "/").rpartition("/")[0]
