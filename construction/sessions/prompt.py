"""The text of a packaged prompt: the person's words, files by their released paths, the frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from construction.judging.deliverables import ANSWER
from construction.judging.language import leading_language
from construction.sessions.mention_spans import FileSpan, find_file_spans
from construction.sessions.merge import Part
from construction.sessions.prompt_words import WORDS, PromptWords
from construction.sessions.urls import find_urls
from data.contracts import Deliverable, Fixture

INPUTS = "inputs/"
_ROOT_AFTER_HAN = re.compile(r"(?<=[\u3400-\u9fff])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?=[\x21-\x7e])")


def with_page_paths(text: str, pages: Mapping[str, str]) -> str:
    """The text with frozen pages, fixture paths by URL, under the paths they are released by."""
    pieces, position = [], 0
    for mention in find_urls(text):
        if mention.url in pages:
            pieces += [text[position : mention.start], f"{INPUTS}{pages[mention.url]}"]
            position = mention.end
    return "".join(pieces) + text[position:]


def with_released_paths(text: str, fixtures: Sequence[Fixture]) -> str:
    """The text with every file under the path it is released by."""
    pieces, position = [], 0
    for span in find_file_spans(text) if fixtures else ():
        found = _fixture_at(text, span, fixtures)
        if found is not None:
            start, path = found
            pieces += [text[position:start], f"{INPUTS}{path}"]
            position = span.end
    return "".join(pieces) + text[position:]


def _fixture_at(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """The fixture that a span names, and where the name starts.

    Of several with the same name the one that shares the longest tail with the path as written;
    a name whose beginning is unsure, after Chinese words, is found by its end.
    """
    wide = text[span.reach : span.end].casefold()
    named = [fixture.path for fixture in fixtures if _ends_with_name(wide, tail(fixture.path))]
    if not named:
        return None
    path = min(named, key=lambda path: (-_shared(path, span.path), -len(path), path))
    if tail(span.path) == tail(path):
        return span.start + _root_at(span.path), path
    return span.end - len(tail(path)), path


def _ends_with_name(wide: str, name: str) -> bool:
    if not wide.endswith(name):
        return False
    before = wide[: -len(name)]
    return not before or not (before[-1].isascii() and (before[-1].isalnum() or before[-1] in "_-"))


def _root_at(written: str) -> int:
    """Where a path begins that follows Chinese words without a space: "看/root/a.docx"."""
    root = _ROOT_AFTER_HAN.search(written)
    return root.start() if root else 0


def _shared(path: str, written: str) -> int:
    """How many components two paths share, counted from their ends."""
    pairs = zip(reversed(_components(path)), reversed(_components(written)), strict=False)
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _components(path: str) -> list[str]:
    return path.casefold().replace("\\", "/").split("/")


def tail(path: str) -> str:
    """The last component of a path, in one case."""
    return _components(path)[-1]


def prompt_text(
    earlier: Sequence[str],
    parts: Sequence[Part],
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    *,
    thread: bool = False,
) -> str:
    """The prompt: background, request, how to read them, input files, what to deliver.

    A thread is shown as messages with their writers, and an answer to it is asked for.
    """
    words = WORDS[leading_language("\n".join(part.said for part in parts))]
    blocks = [words.context if thread else words.earlier, *earlier] if earlier else []
    if thread:
        blocks += [words.thread, *(f"{part.sender}: {part.said}" for part in parts), words.reply]
    else:
        blocks += [words.now] if earlier else []
        blocks += _said(parts, words)
    if not thread and len(parts) + len(earlier) > 1:
        blocks.append(words.as_one)
    if not thread and any(fixture.role == "observed" for fixture in fixtures):
        blocks.append(words.gaps)
    if fixtures:
        paths = [f"- {INPUTS}{fixture.path}" for fixture in fixtures]  # as attached and named
        blocks.append("\n".join([words.inputs, *paths]))
    given = frozenset(tail(fixture.path) for fixture in fixtures)
    lines = [f"- {line}" for item in deliverables for line in _deliver(item, given, words)]
    blocks.append("\n".join([words.deliver, *lines]))
    return "\n\n".join(blocks)


def _said(parts: Sequence[Part], words: PromptWords) -> list[str]:
    if len({part.sender for part in parts if part.sender}) < 2:
        return [part.said for part in parts]
    named = [f"{part.sender}: {part.said}" if part.sender else part.said for part in parts]
    return [words.several_people, *named]


def _deliver(item: Deliverable, given: frozenset[str], words: PromptWords) -> list[str]:
    """The lines for one deliverable: names that were asked for, or that an input file has."""
    if item.name_hints == (ANSWER,):
        return [words.answer.format(name=ANSWER)]
    edits = given.issuperset(tail(name) for name in item.name_hints)
    told = item.name_hints if item.source != "produced" or edits else ()
    lines = [words.named.format(name=name) for name in told]
    if item.count > len(told):
        lines.append(words.files.format(count=item.count - len(told), type=item.file_type))
    return lines
