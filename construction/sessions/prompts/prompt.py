"""The text of a packaged prompt: the person's words, released file paths, framing sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from construction.judging.deliverables import ANSWER
from construction.mentions.extensions import path_parts, tail
from construction.mentions.spans import FileSpan, find_file_spans
from construction.mentions.urls import find_urls
from construction.prompt_frame import WORDS, PromptWords
from construction.sessions.prompts.merge import Part
from data.contracts import Deliverable, Fixture
from data.text.language import leading_language
from data.text.scripts import HAN

INPUTS = "inputs/"
_ROOT_AFTER_HAN = re.compile(rf"(?<=[{HAN}])(?:~|\.{{1,2}}|[A-Za-z]:)?[/\\](?=[\x21-\x7e])")


def with_page_paths(text: str, pages: Mapping[str, str]) -> str:
    """The text with the URLs of frozen pages replaced by the released paths of their fixtures.

    `pages` maps a URL to the path of its fixture.
    """
    pieces, position = [], 0
    for mention in find_urls(text):
        if mention.url in pages:
            pieces += [text[position : mention.start], f"{INPUTS}{pages[mention.url]}"]
            position = mention.end
    return "".join(pieces) + text[position:]


def with_released_paths(text: str, fixtures: Sequence[Fixture]) -> str:
    """The text with every file name replaced by the path under which the file is released."""
    pieces, position = [], 0
    for span in find_file_spans(text) if fixtures else ():
        match = _fixture_at(text, span, fixtures)
        if match is not None:
            start, path = match
            pieces += [text[position:start], f"{INPUTS}{path}"]
            position = span.end
    return "".join(pieces) + text[position:]


def _fixture_at(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, path) of the fixture that a span names; None if it names none.

    Of several fixtures with the same name this is the one that shares the longest tail with the
    path as written. A name after Chinese words, whose start is uncertain, is matched by its end.
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
    """The offset of a path that follows Chinese words without a space: "看/root/a.docx"."""
    root = _ROOT_AFTER_HAN.search(written)
    return root.start() if root else 0


def _shared(path: str, written: str) -> int:
    """The number of components that two paths share, counted from their ends."""
    pairs = zip(reversed(path_parts(path)), reversed(path_parts(written)), strict=False)
    count = 0
    for component, other in pairs:
        if component != other:
            break
        count += 1
    return count


def prompt_text(
    earlier: Sequence[str],
    parts: Sequence[Part],
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    *,
    thread: bool = False,
) -> str:
    """The prompt: background, request, how to read them, input files and deliverables.

    A thread is shown as messages with their senders, and the request is to answer it.
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
    """The lines for one deliverable: names from the request, or the names of edited inputs."""
    if item.name_hints == (ANSWER,):
        return [words.answer.format(name=ANSWER)]
    edits = given.issuperset(tail(name) for name in item.name_hints)
    names = item.name_hints if item.source != "produced" or edits else ()
    lines = [words.named.format(name=name) for name in names]
    if item.count > len(names):
        lines.append(words.files.format(count=item.count - len(names), type=item.file_type))
    return lines
