"""Where links lead."""

from collections import defaultdict
from dataclasses import dataclass

from slipbox.names import key


@dataclass(frozen=True)
class Edge:
    source: dict
    name: str
    target: str | None  # a path


def _folder(path):
    return path.rpartition("/")[0]


def _folders(path):
    return path.count("/")


class Graph:
    """All notes with all links; `notes` by path."""

    def __init__(self, notes):
        self.notes = dict(sorted(notes.items()))
        self._titles, self._aliases = defaultdict(list), defaultdict(list)
        for path, note in self.notes.items():
            self._titles[key(note["title"])].append(path)
            for alias in note["aliases"]:
                self._aliases[key(alias)].append(path)
        self.edges = [edge for note in self.notes.values() for edge in self._edges(note)]

    def _edges(self, note):
        targets = [self.target(note["path"], name) for name in note["links"]]
        return [Edge(note, name, target) for name, target in zip(note["links"], targets)]

    def target(self, source, name):
        """The path of the note that a name means in a note."""
        meant = key(name)
        paths = self._titles.get(meant) or self._aliases.get(meant) or []
        near = [path for path in paths if _folder(path) == _folder(source)]
        if len(near) == 1:
            return near[0]
        return min(near or paths, key=lambda path: (_folders(path), path), default=None)

    def titled(self, title):
        """The note with a title, if there is one."""
        paths = self._titles.get(key(title), [])
        return self.notes[min(paths, key=lambda path: (_folders(path), path))] if paths else None
