"""What the commands print."""

import hashlib
from collections import Counter

from slipbox.tags import counted


def links(graph):
    for edge in graph.edges:
        if edge.target:
            yield f"{edge.source['path']} -> {edge.target}"


def broken(graph):
    for edge in graph.edges:
        if not edge.target:
            yield f"{edge.source['path']}: {edge.name}"


def tags(graph):
    """How many notes a tag has, by the tag as it was first written."""
    numbers, shown = Counter(), {}
    for note in graph.notes.values():
        for same, written in counted(note["tags"]):
            shown.setdefault(same, written)
            numbers[same] += 1
    return {shown[same]: number for same, number in sorted(numbers.items())}


def counts(graph):
    received = Counter(edge.target for edge in graph.edges)
    for path, note in graph.notes.items():
        yield f"{note['title']},{path},links to it,{received[path]}"
    for tag, number in tags(graph).items():
        yield f"#{tag},the box,notes,{number}"
    yield f"all notes,the box,number,{len(graph.notes)}"
    yield f"all links,the box,that lead somewhere,{received.total() - received[None]}"
    yield f"all links,the box,that lead nowhere,{received[None]}"


def files(settings):
    """What devices compare with their own: path, bytes, start of the digest."""
    for path in sorted(settings.box.rglob("*.md")):
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:12]
        yield f"{path.relative_to(settings.box).as_posix()} {len(data)} {digest}"


def hits(ranked):
    for note, score in ranked:
        yield f"{score} {note['title']} ({note['path']})"
