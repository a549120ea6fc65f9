"""The journal: every event, a line each, and a snapshot of what came before the first line."""

import json
import os


class Journal:
    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "journal.jsonl"
        self._snapshot = folder / "snapshot.json"
        self.lines = 0

    def append(self, event):
        line = json.dumps(event, sort_keys=True, default=str)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
        self.lines += 1

    def read(self):
        """The snapshot (None if there is none), and the events after it.

        The last line may be half written where the process was killed; it never happened.
        """
        snapshot = None
        if self._snapshot.exists():
            snapshot = json.loads(self._snapshot.read_text("utf-8"))
        events, whole = [], ""
        written = self._path.read_text("utf-8") if self._path.exists() else ""
        for line in written.splitlines(keepends=True):
            try:
                events.append(json.loads(line))
            except json.JSONDecodeError:
                self._path.write_text(whole, "utf-8")
                break
            whole += line
        self.lines = len(events)
        return snapshot, events

    def compact(self, snapshot):
        """Write a snapshot and start the journal anew."""
        aside = self._snapshot.with_suffix(".new")
        aside.write_text(json.dumps(snapshot, sort_keys=True, default=str), "utf-8")
        os.replace(aside, self._snapshot)
        self._path.write_text("", "utf-8")
        self.lines = 0
