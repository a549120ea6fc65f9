"""Reads Aider's chat history, a Markdown file: what a person typed stands after `####`.

Lines that begin with `>` are Aider's own; all other text is the model's. Edits are no calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO

from construction.sessions.readers.source import Sample, SourceFile
from construction.sessions.readers.talk import Said, Talk
from construction.sessions.readers.turns import Uids
from data.contracts import ReadIssue, Session, SourceFormat

_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TYPED = "####"
_LONGEST = 1 << 20
# Commands that ask the model; all others are about the program.
_ASKING = ("/ask", "/architect", "/code", "/help", "/context", "/chat-mode")
_BLANK = "<blank>"


def fits(sample: Sample) -> bool:
    """A first heading `# aider chat started at` and a time."""
    return any(_START.fullmatch(line) for line in sample.text.splitlines()[:20])


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each start of the program in which something was said."""
    uids = Uids(source.relative)
    talk: Talk | None = None
    started: float | None = None
    with source.path.open(encoding="utf-8", errors="replace", newline="\n") as handle:
        speaker, block, first = "", list[str](), 0
        for number, text in enumerate(_lines(handle), start=1):
            match = _START.fullmatch(text)
            if match is None:
                who = _speaker(text, speaker)
                if who != speaker:
                    _flush(talk, speaker, block, first)
                    speaker, block, first = who, [], number
                block.append(text)
                continue
            _flush(talk, speaker, block, first)
            if talk is not None and talk.drafts:
                yield from talk.session(
                    _name(started), uids=uids, agent_name="aider", started_at=started
                )
            talk, started = Talk(source, SourceFormat.AIDER), _time(match[1])
            speaker, block = "", []
        _flush(talk, speaker, block, first)
    if talk is not None and (talk.drafts or not uids.any_given):
        yield from talk.session(_name(started), uids=uids, agent_name="aider", started_at=started)


def _lines(handle: TextIO) -> Iterator[str]:
    """The lines without their ends; one that is too long comes in pieces."""
    while text := handle.readline(_LONGEST):
        yield text.rstrip("\r\n")


def _speaker(text: str, before: str) -> str:
    if text.startswith(f"{_TYPED} ") or text == _TYPED:
        return "person"
    if text.startswith("> ") or text == ">":
        return "program"
    return before if not text.strip() and before == "agent" else "agent"


def _flush(talk: Talk | None, speaker: str, block: list[str], line: int) -> None:
    """Add what one party said."""
    if talk is None or not any(text.strip() for text in block):
        return
    if speaker == "agent":
        talk.answer(line).say("\n".join(block).strip())
        return
    lead = len(_TYPED) if speaker == "person" else 1
    text = "\n".join(line[lead:].removeprefix(" ").removesuffix("  ") for line in block).strip()
    if speaker == "program":
        talk.skip()
        if _is_result(text):
            talk.notice(text, line)
    elif text == _BLANK:
        talk.skip()
    elif text.startswith(("/", "!")) and not text.startswith(_ASKING):
        talk.notice(text, line)
    elif talk.drafts and isinstance(last := talk.drafts[-1], Said) and last.said == text:
        talk.skip()  # a command that asks is written once more, as what is asked
    else:
        command, _, rest = text.partition(" ")
        talk.person(text, line, said=rest.strip() if command in _ASKING and rest else None)


def _is_result(text: str) -> bool:
    return "Applied edit to " in text or "Commit " in text


def _time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(f"{text}+00:00").timestamp()
    except ValueError:
        return None


def _name(started: float | None) -> str:
    return f"aider-{int(started)}" if started is not None else "aider"
