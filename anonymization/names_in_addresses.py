"""Names that a request or its inputs say only within an address that masking replaces.

"Collect the mails of Dana" over mails from `dana@quill.example`: behind a surrogate nobody is Dana
any more. So is a firm of which the request has only the address, where its inputs call it by name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])"
    r"|(?<![\w.])(?:https?://|www\.)[!-~]{3,400}"
)
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 3  # letters of a name
_MOST_SPOTS = 20  # of a word that are looked at
# What addresses and requests share without meaning anybody.
_COMMON = re.compile(
    r"accounts?|admin|alerts?|app|billing|blog|com|contact|customers?|data|dev|docs|edu|e?mail"
    r"|events?|example|files?|finance|gmail|gov|help|home|hotmail|html|https?|index|info|jobs"
    r"|marketing|media|net|news|newsletter|noreply|notifications?|office|online|org|outlook|page"
    r"|press|reply|reports?|sales|school|security|server|service|shop|site|staff|store|students?"
    r"|support|system|team|test|university|updates?|web|www",
    re.IGNORECASE,
)

Spot = tuple[str, int, int]  # a text, and where in it an address stands


@dataclass(slots=True)
class Words:
    """The words of some texts: those outside addresses, and where those within them stand.

    Lower case throughout; `names` are the plain words that are written with a capital.
    """

    plain: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    held: dict[str, list[Spot]] = field(default_factory=lambda: defaultdict(list))


def words_of(texts: Iterable[str], file_names: Iterable[str] = ()) -> Words:
    """Read some texts. Linear in their length; names of files count as plain words."""
    words = Words()
    for text in texts:
        position = 0
        for match in _ADDRESS.finditer(text):
            _take(text[position : match.start()], words)
            position = match.end()
            for word in set(_telling(match.group())):
                if len(words.held[word]) < _MOST_SPOTS:
                    words.held[word].append((text, *match.span()))
        _take(text[position:], words)
    for name in file_names:
        _take(name, words)
    return words


def lost_names(
    request: Words, inputs: Words, is_replaced: Callable[[str, int, int], bool]
) -> tuple[str, ...]:
    """The names that one side says plainly and the other only in addresses that are replaced."""
    lost = (*_only_held(request, inputs), *_only_held(inputs, request))
    return tuple(name for name, spots in lost if all(is_replaced(*spot) for spot in spots))


def _only_held(said: Words, elsewhere: Words) -> Iterator[tuple[str, list[Spot]]]:
    """The names of one side that the other has in addresses alone, with these.

    Where the side that says a name has an address with it too, that tells whose it is.
    """
    for name in sorted(said.names & elsewhere.held.keys()):
        if name not in elsewhere.plain and name not in said.held:
            yield name, elsewhere.held[name]


def _take(text: str, words: Words) -> None:
    for match in _WORD.finditer(text):
        word = match.group()
        words.plain.add(word.lower())
        if word[0].isupper() and len(word) >= _LEAST and not _COMMON.fullmatch(word):
            words.names.add(word.lower())


def _telling(address: str) -> Iterator[str]:
    """The words of an address that may name somebody."""
    for match in _WORD.finditer(address):
        if len(match.group()) >= _LEAST and not _COMMON.fullmatch(match.group()):
            yield match.group().lower()
