"""Places that say "this is the answer": phrases, boxes, tags, JSON keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from construction.statements.answers.cleaning import SENTENCE_END, Clean, Span
from construction.statements.answers.passage import Passage

_MARKER = re.compile(
    r"(?<![A-Za-z])(?:(?:final |my |short |correct )?answer\s*(?:\([^()\n]{0,40}\)\s*)?[:=]"
    r"|the (?:final |correct )?answer is(?![A-Za-z])\s*:?|final answer is(?![A-Za-z])\s*:?)"
    r"|(?:最终|最終)?答案\s*(?:[:=]|是|为|為)\s*:?|(?:最終)?回答\s*(?:[:=]|は)|答え\s*(?:[:=]|は)、?",
    re.I,
)
_KEYS = ("answer", "final_answer", "value", "result", "amount", "答案", "回答")
_FENCED = re.compile(r"(?:```|~~~)\w*\s*\n(.*?)\n\s*(?:```|~~~)", re.S)
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """The text under an answer key, with the texts of sibling keys unit, currency and scale."""

    text: str
    declares: tuple[str, ...]


def text_markers(passage: Passage, clean: Clean) -> list[Span]:
    """Scopes of all markers in the order of their position."""
    found = list(_MARKER.finditer(passage.text))
    scopes: list[tuple[int, Span]] = [(start, (start, end)) for start, end in clean.boxes]
    for number, match in enumerate(found):
        limit = found[number + 1].start() if number + 1 < len(found) else len(passage.text)
        scopes.append((match.start(), _scope(passage, match.end(), limit)))
    return [scope for _, scope in sorted(scopes)]


def _scope(passage: Passage, start: int, limit: int) -> Span:
    """To the end of the sentence with the first value, of the line, or to the next marker."""
    text = passage.text
    end = _line_end(text, start, limit)
    while end < limit and not text[start:end].strip(" *:\"'"):
        start = end + 1
        end = _line_end(text, start, limit)
    inside = passage.within(start, end)
    first = passage.values[inside[0]].end if inside else start
    stop = SENTENCE_END.search(text, first, end) if inside else None
    return start, stop.start() if stop else end


def _line_end(text: str, start: int, limit: int) -> int:
    end = text.find("\n", start, limit)
    return limit if end < 0 else end


def json_answer(raw: str) -> JsonAnswer | None:
    """The answer key of a JSON answer: the whole text, a fenced block, or the outermost braces."""
    if "{" not in raw:
        return None
    for piece in _pieces(raw):
        try:
            loaded = json.loads(piece, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            continue
        found = _under_key(loaded, (), 0)
        if found is not None:
            return found
    return None


def _pieces(raw: str) -> Iterator[str]:
    yield raw.strip()
    yield from [match[1] for match in _FENCED.finditer(raw)][-1:]
    yield raw[raw.index("{") : raw.rindex("}") + 1] if "}" in raw[raw.index("{") :] else ""


def _under_key(loaded: Any, outer: tuple[str, ...], depth: int) -> JsonAnswer | None:
    if not isinstance(loaded, dict) or depth > _MAX_DEPTH:
        return None
    lower = {str(key).lower(): value for key, value in loaded.items()}
    siblings = tuple(
        lower[key] for key in ("unit", "currency", "scale") if isinstance(lower.get(key), str)
    )
    declares = (*siblings, *outer)
    for key in _KEYS:
        if key not in lower:
            continue
        value = lower[key]
        if isinstance(value, dict):
            return _under_key(value, declares, depth + 1)
        return JsonAnswer("null" if value is None else str(value), declares)
    return None
