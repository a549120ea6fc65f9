"""The index: what was read of each note, by the digest of its file."""

import hashlib
import json

from slipbox.reading import read_note

VERSION = 5


class Index:
    def __init__(self, settings):
        self._settings = settings
        self._path = settings.var / "index.json"
        self._entries = self._stored()
        self.read_anew = 0

    def _stored(self):
        if not self._path.exists():
            return {}
        stored = json.loads(self._path.read_text("utf-8"))
        return stored["notes"] if stored["version"] == VERSION else {}

    def refreshed(self):
        """The notes of the box by path, after a look at all files."""
        known, self._entries, self.read_anew = self._entries, {}, 0
        for path in self._files():
            name = path.relative_to(self._settings.box).as_posix()
            data = path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            entry = known.get(name)
            if entry is None or entry["digest"] != digest:
                entry = {**read_note(name, data), "digest": digest}
                self.read_anew += 1
            self._entries[name] = entry
        return self._entries

    def _files(self):
        return sorted(path for path in self._settings.box.rglob("*.md") if path.is_file())

    def write(self):
        self._path.parent.mkdir(parents=True, exist_ok=True)
        aside = self._path.with_suffix(".new")
        aside.write_text(json.dumps({"version": VERSION, "notes": self._entries}), "utf-8")
        aside.replace(self._path)
