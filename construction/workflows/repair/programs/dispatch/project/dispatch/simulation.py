"""A day in a second: a plan of requests and restarts, carried out in simulated time.

The plan has a JSON object a line: `at` (seconds), and one of `submit` (a request), `get` (a path of
the status service), `config` (a change as conf.d could have it; then a reload), `down` (seconds without a
process; what is in memory is lost). With `torn` it was killed while it wrote that text.
"""

import json

from dispatch.dispatcher import Dispatcher, Refused
from dispatch.guard import Busy
from dispatch.journal import Journal
from dispatch.settings import read_settings
from dispatch.status import Status


class Simulation:
    def __init__(self, root, log):
        self.root, self.log = root, log
        self.up_from = 0
        self.changes = []
        self._start(0)

    def _start(self, now):
        journal = Journal(self.root / "var")
        self.dispatcher = Dispatcher(self._settings(), journal, self.log, now)
        self.status = Status(self.dispatcher, self._settings)
        self.log.info("started", now)

    def _settings(self):
        return read_settings(self.root, self.changes)

    def run(self, plan, until):
        entries = sorted(plan, key=lambda entry: entry["at"])
        for now in range(until + 1):
            while entries and entries[0]["at"] <= now:
                self._carry_out(entries.pop(0), now)
            if now == self.up_from and now:
                self._start(now)
            if now >= self.up_from:
                self._tick(now)

    def _tick(self, now):
        if self.dispatcher.stopped:
            return
        try:
            with self.dispatcher.guard:
                self.dispatcher.tick(now)
        except Busy as error:
            self.log.warning(f"tick left out: {error}", now)
        except Exception as error:
            self.dispatcher.stopped = f"worker stopped: {type(error).__name__}: {error}"
            self.log.error(self.dispatcher.stopped, now)

    def _carry_out(self, entry, now):
        if "down" in entry:
            self.up_from = now + entry["down"]
            with (self.root / "var/journal.jsonl").open("a", encoding="utf-8") as file:
                file.write(entry.get("torn", ""))
            self.log.error("killed", now)
        elif now < self.up_from:
            self.log.error(f"nobody answers: {sorted(entry)}", now)
        elif "submit" in entry:
            try:
                with self.dispatcher.guard:
                    self.dispatcher.submit(entry["submit"], now)
            except (Refused, Busy) as error:
                self.log.warning(f"refused: {error}", now)
        elif "get" in entry:
            code, _ = self.status.answer("GET", entry["get"], {}, now)
            self.log.info(f"GET {entry['get']} {code}", now)
        elif "config" in entry:
            self.changes.append(entry["config"])
            self.status.answer("POST", "/reload", {}, now)


def read_plan(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
