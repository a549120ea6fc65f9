"""From what was handed in to the outbox."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from presswork.cli import main

REVISIONS = """article,revision,received,section,kind,publish,embargo,title
a-1,1,2026-02-02T07:00Z,city,major,2026-02-02T09:00,,Snow in the city
a-1,2,2026-02-02T12:00Z,city,minor,2026-02-02T09:00,,Snow in the old city
a-2,1,2026-02-02T07:00Z,islands,major,2026-02-02T09:00,2026-02-02T15:00Z,Ferries
a-3,1,2026-02-02T07:00Z,islands,major,2026-02-03T09:00,,Whales
a-3,2,2026-02-02T08:00Z,islands,retraction,2026-02-03T09:00,,Whales
"""
OUTAGES = "channel,from,until\nletter,2026-02-02T10:00Z,2026-02-02T10:10Z\n"


class AtTheDesk(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        (self.root / "data").mkdir()
        (self.root / "data/revisions.csv").write_text(REVISIONS)
        (self.root / "data/outages.csv").write_text(OUTAGES)

    def ask(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(main(["--root", str(self.root), *arguments]), 0)
        return printed.getvalue().splitlines()

    def test_a_day(self):
        self.ask("run", "2026-02-03T23:00Z")
        self.assertEqual(
            self.ask("outbox"),
            [
                "2026-02-02T08:00Z,wire,a-1,1,article,snow-in-the-city",
                "2026-02-02T08:30Z,partner,a-1,1,article,snow-in-the-city",
                "2026-02-02T10:20Z,letter,a-1,1,article,snow-in-the-city",
                "2026-02-02T15:00Z,wire,a-2,1,article,ferries",
                "2026-02-02T17:00Z,letter,a-2,1,article,ferries",
            ],
        )

    def test_many_runs(self):
        for hour in range(9, 19):
            self.ask("run", f"2026-02-02T{hour:02}:00Z")
        self.assertEqual(len(self.ask("outbox")), 5)

    def test_the_feed(self):
        self.ask("run", "2026-02-03T23:00Z")
        self.assertIn("city,2026-02-02T08:00Z,a-1,snow-in-the-city,Snow in the old city", self.ask("feed"))

    def test_the_log(self):
        self.ask("run", "2026-02-03T23:00Z")
        log = (self.root / "var/log/presswork.log").read_text()
        self.assertIn("INFO a-3 taken back before publication", log)
        self.assertIn("2026-02-02T10:05Z WARNING letter is down, a-1 again in 0:15:00", log)

    def test_sums(self):
        self.ask("run", "2026-02-03T23:00Z")
        self.assertIn("channel letter,all kinds,minutes after publication,260", self.ask("tally"))
        self.assertIn("section city,2026-02,published,1", self.ask("tally"))
