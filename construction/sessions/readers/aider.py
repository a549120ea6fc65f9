"""Reads Aider's chat history, a Markdown file: what a person typed stands after `####`.

Lines that begin with `>` are Aider's own; all other text is the model's. Edits are no calls. Both
end in two spaces, and a notice of several lines has `>` before its first alone; headings and
quotations of the model have no such end. In architect mode the answer stands after `####` once
more, as the prompt of a second model that edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO

from construction.sessions.readers.source import Sample, SourceFile, opened_text
from construction.sessions.readers.talk import Answer, Said, Talk, Uids
from data.contracts import Origin, ReadIssue, Session, SourceFormat

_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TYPED = "####"
# An editor may have taken the ends off.
_MARKED = "#### ", "  "
_UNENDED = "a notice that goes on"
_HEAD = 16_384  # characters
_LONGEST = 1 << 20
# Commands that ask the model; all others are about the program.
_ASKING = ("/ask", "/architect", "/code", "/help", "/context")
_BLANK = "<blank>"
_FOLDER = "> Git repository created in "


def fits(sample: Sample) -> bool:
    """A first heading `# aider chat started at` with a time."""
    return any(_START.fullmatch(line) for line in sample.text.splitlines()[:20])


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each start of the program in which something was said."""
    uids = Uids(source.relative)
    talk: Talk | None = None
    started: float | None = None
    cwd: str | None = None
    with opened_text(source.path) as handle:
        lines = handle.read(_HEAD).split("\n")
    start, end = _MARKED
    is_marked = any(t.startswith(start) and t[len(start) :].endswith(end) for t in lines)
    with opened_text(source.path) as handle:
        speaker, block, first = "", list[str](), 0
        for number, text in enumerate(_lines(handle), start=1):
            match = _START.fullmatch(text)
            if match is None:
                who = _speaker(text, speaker, is_marked)
                if who != speaker and {who, speaker} != {"program", _UNENDED}:
                    _flush(talk, speaker, block, first)
                    block, first = [], number
                speaker = who
                block.append(text)
                cwd = text.removeprefix(_FOLDER).rstrip() if text.startswith(_FOLDER) else cwd
                continue
            _flush(talk, speaker, block, first)
            if talk is not None and talk.drafts:
                yield from _session(talk, uids, started, cwd)
            talk, started, cwd = Talk(source, SourceFormat.AIDER), _time(match[1]), None
            speaker, block = "", []
        _flush(talk, speaker, block, first)
    if talk is not None and (talk.drafts or not uids.any_given):
        yield from _session(talk, uids, started, cwd)


def _session(
    talk: Talk, uids: Uids, started: float | None, cwd: str | None
) -> Iterator[Session | ReadIssue]:
    name = f"aider-{int(started)}" if started is not None else "aider"
    return talk.session(name, uids=uids, agent_name="aider", started_at=started, cwd=cwd)


def _lines(handle: TextIO) -> Iterator[str]:
    """The lines without their ends; one that is too long comes in pieces."""
    while text := handle.readline(_LONGEST):
        yield text.rstrip("\r\n")


def _speaker(text: str, before: str, is_marked: bool) -> str:
    is_ended = text.endswith("  ") or not is_marked
    if before == _UNENDED:
        return "program" if is_ended else before
    if is_ended and (text.startswith(f"{_TYPED} ") or text == _TYPED):
        return "person"
    if text.startswith("> ") or text == ">":
        return "program" if is_ended else _UNENDED if before == "program" else "agent"
    return "agent"


def _flush(talk: Talk | None, speaker: str, block: list[str], line: int) -> None:
    """Add what one party said."""
    if talk is None or not any(text.strip() for text in block):
        return
    last = talk.drafts[-1] if talk.drafts else None
    if speaker == "agent":
        text = "\n".join(block).strip()
        if isinstance(last, Said) and last.origin is Origin.AGENT:
            talk.notice(text, line)  # the edits of the second model
        else:
            talk.answer(line).say(text)
        return
    mark = _TYPED if speaker == "person" else ">"
    words = (line.removeprefix(mark).removeprefix(" ").removesuffix("  ") for line in block)
    text = "\n".join(words).strip()
    if speaker != "person":
        talk.skip()
        if _is_result(text):
            talk.notice(text, line)
    elif text == _BLANK:
        talk.skip()
    elif text in _ASKING or (text.startswith(("/", "!")) and not text.startswith(_ASKING)):
        talk.notice(text, line)
    elif isinstance(last, Answer) and _bare(text) == _bare("\n".join(last.texts)):
        talk.person(text, line, origin=Origin.AGENT)
    elif isinstance(last, Said) and last.said == text:
        talk.skip()  # a command that asks is written once more, as what is asked
    else:
        command, _, rest = text.partition(" ")
        talk.person(text, line, said=rest.strip() if command in _ASKING and rest else None)


def _bare(text: str) -> str:
    return "".join(text.split())


def _is_result(text: str) -> bool:
    return "Applied edit to " in text or "Commit " in text


def _time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(f"{text}+00:00").timestamp()
    except ValueError:
        return None
