"""The words before a file name in its sentence: across wrapped lines, in lists, after ordinals."""

from __future__ import annotations

import re

from construction.mentions.words import FILE
from data.text.scripts import HAN
from data.text.sentences import last_sentence
from data.text.wrapping import begins_item, goes_on

_LOOK_BACK = 240  # characters of a sentence
_LIST_BACK = 1500  # characters to the line that introduces a list
_MOST_LINES = 4
_LIST_ITEM = re.compile(rf"\s*(?:$|[-*•·{FILE}]|\d{{1,2}}[.)、])")
_MARKER = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、])?\s*")
_HAS_WORDS = re.compile(f"[A-Za-z{HAN}]")
_ORDINAL = re.compile(
    r"(?i)(?:the )?(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth|fifth|sixth|finally|lastly)"
    r"(?: (?:one|file))?[,:]?\s*$|"
    r"(?:第[一二三四五六七八九十]个?|其[一二三四五]|最后)[，,、:：]?\s*$"
)
_ANNOUNCES = re.compile(
    r"(?i)\b(?:give|produce|deliver|create|write|need|make|prepare|save|want)\b[^.。\n]{0,60}"
    r"\b(?:deliverables|outputs|files|documents)\b|"
    r"(?:给|交付|输出|生成|产出|写|保存|需要)[^。\n]{0,40}(?:交付物|文件|产物|成果|文档)"
)


# "a.xlsx (two sheets) and b.docx": what stands in brackets behind another name.
_ASIDE = re.compile(rf"{FILE}[\"'`*”’]?\s?[(（][^()（）{FILE}]{{0,160}}[)）]")


def words_before_name(masked: str, start: int) -> str:
    """What stands before a name in its sentence; for an item of a list also what introduces it.

    `masked` is the text with all file names overwritten. A line that was wrapped goes on.
    """
    return _ASIDE.sub(FILE, _before(masked, start))


def _before(masked: str, start: int) -> str:
    line_start = masked.rfind("\n", 0, start) + 1
    line = masked[max(line_start, start - _LOOK_BACK) : start]
    if _ORDINAL.match(line.strip(" *")) and _ANNOUNCES.search(
        masked, max(0, start - _LIST_BACK), start
    ):
        return "write "  # "Give me three deliverables. First, post.md"
    earlier = masked[max(0, line_start - _LIST_BACK) : max(0, line_start - 1)].split("\n")
    if line_start and (lead := _wrapped(earlier, line)):
        return last_sentence(f"{lead} {line.lstrip()}")[-_LOOK_BACK:]
    if line_start == 0 or _HAS_WORDS.search(line):
        return last_sentence(line)
    lead = _introduction(earlier, line)
    leads_in = lead.rstrip().endswith((":", "：")) or _LIST_ITEM.match(line or FILE)
    return f"{last_sentence(lead) or lead} {line}" if leads_in else line


def _wrapped(earlier: list[str], line: str) -> str:
    """The lines that go on in `line`; empty if it begins a sentence or an item of its own."""
    lead: list[str] = []
    while earlier and len(lead) < _MOST_LINES and goes_on(earlier[-1], line + FILE):
        line = earlier.pop()
        lead.append(_MARKER.sub("", line, count=1))
        if begins_item(line):
            break
    return " ".join(reversed(lead))


def _introduction(earlier: list[str], line: str) -> str:
    """The nearest line before a list that is neither an item nor the continuation of one."""
    indent = len(line) - len(line.lstrip()) if line.strip() else len(line)
    for lead in reversed(earlier):
        deeper = len(lead) - len(lead.lstrip()) > indent
        if not _LIST_ITEM.match(lead) and not (deeper and line.strip()):
            return lead
    return ""
