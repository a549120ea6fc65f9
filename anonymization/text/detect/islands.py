"""Words that a person wrote inside lines of code and data: comments, strings, cells, link texts.

A line of code as a whole is no prose; these parts of it are read like prose, so that names and
numbers in them are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ISLAND = re.compile(
    r"(?:(?<![\w:/\\])(?://|\#|--|/\*|<!--)[ \t]{1,4})(?P<comment>[^\n]{3,400}?)(?=\*/|-->|$)"
    r"|\"(?P<double>[^\"\\\n]{3,300})\""
    r"|(?<![\w\\])'(?P<single>(?:[^'\\\n]|''){3,300})'(?!\w)"
    r"|\[(?P<link>[^\]\[\n]{3,80})\]\("
    r"|(?:(?<=\w)|(?<== ))\{(?P<group>[^{}\\\n]{3,200})(?=[}\\])"
    r"|(?P<file>(?<!\S)[^\W\d_a-z][^\W_]*(?: [^\W_]+){1,12})"
    r"(?= (?:pdf|docx?|xlsx?|pptx?|csv|txt|zip|png|jpe?g)\b)"
    r"|(?<=[|\t])[ ]{0,20}(?P<cell>[^|\t\n]{3,120}?)[ ]{0,20}(?=[|\t]|$)"
)
# Two capitalised words, or four words: what is neither is a key, a path or a constant.
_WORDS = re.compile(
    r"[^\W\d_a-z][a-zß-öø-ɏ'-]+\.? (?:[^\W\d_a-z]\.? )?(?:(?:van|von|de|da|del|der|di|le|la) ){0,2}"
    r"[^\W\d_a-z][\w'-]+|(?:[\w',.@+()-]+ ){3}\w|[\d+(][\d ().+-]{7,24}$|@"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_LONE = re.compile(r"[^\W\d_a-z][a-zß-öø-ɏ'-]{2,24}$")


def islands(line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each such part of a line, from left to right."""
    for match in _ISLAND.finditer(line):
        name = str(match.lastgroup)
        has_words = name == "comment" and _WORD.search(match[name])
        if has_words or _WORDS.search(match[name]) or _LONE.match(match[name]):
            yield match.span(name)
