"""The head of a note."""

import re

_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)


def split(text):
    """The values of the head, and where the text behind it starts."""
    match = _HEAD.match(text)
    if match is None:
        return {}, 0
    return dict(_LINE.findall(match.group(1))), match.end()


def with_title(text, title):
    """The text with another title in its head, and a head if it had none."""
    match = _HEAD.match(text)
    if match is None:
        return f"---\ntitle: {title}\n---\n{text}"
    for line in _LINE.finditer(text, match.start(1), match.end(1)):
        if line.group(1) == "title":
            return text[: line.start(2)] + title + text[line.end(2) :]
    return f"{text[: match.start(1)]}title: {title}\n{text[match.start(1) :]}"
