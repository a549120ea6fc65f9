"""What a reader sees of a page as text, and the codes in it that nothing explains."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from data.reasons import sentences
from flows.gates import GATES
from flows.label_words import all_labels

# Code is shown as code beside its words; what agents, people and files say is quoted.
_QUIET = frozenset({"script", "style", "pre", "code"})
_PARTS = re.compile(r"\b(?:answer|check|rule|rubric)\.[a-z_]+")
_WORD = re.compile(r"[a-z][a-z0-9]*(?:[._][a-z0-9]+)+")
_NAMES = {"operation"}  # of tools, which stand in sentences


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.quiet = 0
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.quiet += tag in _QUIET

    def handle_endtag(self, tag: str) -> None:
        self.quiet -= tag in _QUIET

    def handle_data(self, data: str) -> None:
        if not self.quiet:
            self.texts.append(data)


def shown_text(html: str) -> str:
    """The text of a page outside of code, quotations and scripts."""
    reader = _Text()
    reader.feed(html)
    return " ".join(reader.texts)


def bare_codes(html: str) -> set[str]:
    """Codes of reasons, labels and graded parts that stand as words in a page."""
    labels = {code for kind, own in all_labels().items() if kind not in _NAMES for code in own}
    known = labels | sentences(GATES).keys()
    text = shown_text(html)
    return set(_PARTS.findall(text)) | {word for word in _WORD.findall(text) if word in known}
