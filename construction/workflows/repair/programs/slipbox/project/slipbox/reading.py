"""A note from its file."""

from pathlib import PurePosixPath
from unicodedata import normalize

from slipbox import heads
from slipbox.links import read_links
from slipbox.names import entries
from slipbox.tags import read_tags


def decoded(data):
    """The text of a file, without a byte order mark."""
    return data.decode("utf-8-sig", "replace")


def read_note(path, data):
    """What the index keeps of a note; `path` is the one below the box."""
    text = normalize("NFC", decoded(data))
    head, start = heads.split(text)
    body = text[start:]
    return {
        "path": path,
        "title": head.get("title") or normalize("NFC", PurePosixPath(path).stem),
        "aliases": entries(head.get("aliases", "")),
        "created": head.get("created", ""),
        "tags": read_tags(head, body),
        "links": [link.name.strip() for link in read_links(body)],
        "text": body,
        "head": bool(head),
    }
