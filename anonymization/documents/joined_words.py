"""Names of a few everyday words that stand joined (`open-door`, `openDoor`), or name a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_JOINED = re.compile(r"(?<![\w-])[A-Za-z]{3,20}(?:[_-][A-Za-z]{3,20}){1,2}(?![\w-])")
_NAME = r"[A-Za-z]{3,20}(?:[_-][A-Za-z]{3,20}){1,3}"
_BRANCH = re.compile(
    r"(?:\b(?:features?|releases?|bugfix|hotfix|fix|chore|topic|origin|heads)/"
    r"|\b(?:branch|checkout|switch|merge|rebase)\b[\"']?(?: -[bcB])? ?[:=]? ?[\"']?)"
    rf"({_NAME})(?![\w-])"
)
_CAMEL = r"[A-Za-z][a-z]{2,19}[A-Z][a-z]{2,19}"
_KEY_NAME = rf"(?:{_CAMEL}|[a-z]{{3,20}}(?:[_-][a-z]{{3,20}}){{1,2}})"
_ONLY = re.compile(_KEY_NAME)
_KEY = re.compile(
    rf"(?m:^|(?<=[{{,;\[(<\"'])) *(?<!\w)({_KEY_NAME})[\"']?(?:: |:$|=(?=[\w\"'/]))"
    rf"|</?({_KEY_NAME})[ />]"
)
_TITLE = re.compile(r"(?<![^\W_])[^\W\d_]{2,20}(?:[ _-][^\W\d_]{2,20}){1,4}(?![^\W_])")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|(?![A-Za-z])[^\W\d_]+")
_SHORT = 2  # letters

Span = tuple[int, int]


def joined_words(text: str) -> Iterator[Span]:
    """The words of a text that hyphens or underscores join."""
    yield from (match.span() for match in _JOINED.finditer(text))


def branches(text: str) -> Iterator[Span]:
    """The joined words of a text that name a branch."""
    yield from (match.span(1) for match in _BRANCH.finditer(text))


def keys(text: str) -> Iterator[Span]:
    """The joined words of a text that stand alone, or where keys and elements stand."""
    if _ONLY.fullmatch(text):
        yield 0, len(text)
    for match in _KEY.finditer(text):
        yield match.span(match.lastindex or 0)


def titles(text: str) -> Iterator[Span]:
    """The runs of words in the name of a file."""
    yield from (match.span() for match in _TITLE.finditer(text))


def is_titled(words: Sequence[str]) -> bool:
    """Do words of some length with a capital begin and end a run, as in `Open Door`?"""
    return all(word.istitle() and len(word) > _SHORT for word in (words[0], words[-1]))


def parts_of(name: str) -> list[str]:
    """The words of such a name."""
    return _PART.findall(name)
