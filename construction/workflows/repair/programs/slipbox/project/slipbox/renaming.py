"""Another title for a note, and the links that name it."""

from slipbox import heads
from slipbox.graph import Graph
from slipbox.links import read_links
from slipbox.names import key

MARK = b"\xef\xbb\xbf"


def _rewritten(text, named, new):
    """The text with the links for which `named` is true under the new name."""
    _, start = heads.split(text)
    body = text[start:]
    for link in reversed(read_links(body)):
        if named(link.name):
            words = link.words or f"|{link.name}"
            body = f"{body[: link.start]}[[{new}{link.part}{words}]]{body[link.end :]}"
    return text[:start] + body


def rename(settings, index, old, new):
    """Give the note titled `old` the title `new`; False if there is none."""
    graph = Graph(index.refreshed())
    note = graph.titled(old)
    if note is None:
        return False
    for path in graph.notes:
        file = settings.box / path
        data = file.read_bytes()
        mark = MARK if data.startswith(MARK) else b""
        text = data.removeprefix(MARK).decode("utf-8", "surrogateescape")

        def named(name, path=path):
            return key(name) == key(old) and graph.target(path, name) == note["path"]

        changed = _rewritten(text, named, new)
        if path == note["path"]:
            changed = heads.with_title(changed, new)
        if changed != text:
            file.write_bytes(mark + changed.encode("utf-8", "surrogateescape"))
    index.refreshed()
    index.write()
    return True
