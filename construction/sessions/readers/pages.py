"""The Markdown page of a session: a heading for each speaker or call, in a program's own form.

No program escapes what it quotes, so a heading counts only where its program can write one: after
a rule, outside a fence, or where the block before it has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from construction.sessions.readers import cline
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, opened_text
from construction.sessions.readers.talk import Talk
from data.contracts import ReadIssue, Session, SourceFormat

BLOCK = re.compile(r"^(`{3,}|~{3,})[^`\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
RULE = "---"


def _nothing(*_: object) -> str:
    return ""


@dataclass(slots=True)
class Page(cline.Task):
    """A page while it is read: `head` are the lines before the first heading."""

    head: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading; `heading` is the match of its form."""

    heading: re.Match[str]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Form:
    """A program's Markdown: how it begins, its headings, and what stands under them.

    `follows` says by the heading before, the state and the last line whether a heading may stand
    there; `track` gives the state, what is open, after each line of a section; `facts` are fields
    of a Session with the words that stand before each in a line of the head. `start` and `heading`
    are patterns.
    """

    format: SourceFormat
    agent: str
    signature: str
    start: str
    heading: str
    add: Callable[[Page, Section], None]
    follows: Callable[[re.Match[str], re.Match[str] | None, str, str], bool]
    track: Callable[[re.Match[str] | None, str, str], str] = _nothing
    facts: Mapping[str, str] = field(default_factory=dict)

    def fits(self, sample: Sample) -> bool:
        text = sample.text.lstrip()
        heading = re.compile(self.heading)
        return re.match(self.start, text) is not None and any(
            heading.fullmatch(line) for line in text.splitlines()
        )

    def read(self, source: SourceFile) -> Iterator[Session | ReadIssue]:
        """The one session of the page."""
        page = Page(Talk(source, self.format))
        for section in self._sections(source, page):
            self.add(page, section)
        stated = {key: _stated(page.head, mark) for key, mark in self.facts.items()}
        talk: dict[str, Any] = {"cwd": page.cwd} | {
            key: text for key, text in stated.items() if text
        }
        at = epoch_seconds(talk.pop("started_at", None))
        name = talk.pop("session_id", "").split(" ")[0].removeprefix("agent-") or None
        yield from page.talk.session(name, agent_name=self.agent, started_at=at, **talk)

    def _sections(self, source: SourceFile, page: Page) -> Iterator[Section]:
        heading: re.Match[str] | None = None
        form = re.compile(self.heading)
        block, first, before, state = page.head, 0, "", ""
        with opened_text(source.path) as handle:
            for number, line in enumerate(handle, start=1):
                text = line.rstrip("\r\n")
                match = form.fullmatch(text)
                if match is not None and self.follows(match, heading, state, before):
                    if heading is not None:
                        yield Section(heading, body_of(block), first)
                    heading, block, first, state = match, [], number, ""
                else:
                    block.append(text)
                    state = self.track(heading, state, text)
                before = text if text.strip() else before
        if heading is not None:
            yield Section(heading, body_of(block), first)


def _stated(head: list[str], mark: str) -> str:
    """What stands behind `mark` in the first line that has it, without the frame of a window."""
    behind = (line.partition(mark)[2] for line in head)
    return next((text.partition("│")[0].strip().strip("`") for text in behind if text), "")


def body_of(block: list[str]) -> str:
    text = "\n".join(block).strip()
    return "" if text == RULE else text.removesuffix(f"\n{RULE}").strip()
