"""Tags of a note."""

import re

from slipbox.code import blanked
from slipbox.names import entries, key

_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)", re.MULTILINE)


def read_tags(head, text):
    """The tags of head and text as they are written, in their order."""
    written = entries(head.get("tags", ""))
    written += [tag.strip("/") for tag in _TAG.findall(blanked(text))]
    return [tag for tag in written if tag and not tag.isdigit()]


def with_those_above(tag):
    """A tag and the tags that it is below."""
    parts = tag.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]


def counted(tags):
    """The tags that a note counts for, once each: what makes them the same, how they are written."""
    seen = set()
    for tag in tags:
        for each in with_those_above(tag):
            if key(each) not in seen:
                seen.add(key(each))
                yield key(each), each
