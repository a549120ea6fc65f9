"""From files to the programme."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from subtitler.cli import main

REELS = "reel,rate\nA,25\nB,24\n"
EDITS = "reel,from,to\nA,00:00:10:00,00:00:20:00\nB,00:00:00:00,00:00:10:00\n"
CUES = {
    "A": "cue,revision,in,out,style,text\n1,1,00:00:09:00,00:00:12:00,dialogue,Who is there?\n2,1,00:00:14:00,00:00:16:00,dialogue,Nobody.\n2,2,00:00:14:00,00:00:16:00,dialogue,Only me.\n",
    "B": "cue,revision,in,out,style,text\n1,1,00:00:01:00,00:00:02:00,signs,HARBOUR\\nCLOSED\n2,1,00:00:01:00,00:00:03:00,dialogue,\n",
}


class Programme(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        (self.root / "data/cues").mkdir(parents=True)
        (self.root / "data/reels.csv").write_text(REELS)
        (self.root / "data/edits.csv").write_text(EDITS)
        for reel, text in CUES.items():
            (self.root / f"data/cues/{reel}.csv").write_text(text)

    def ask(self, command):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(main(["--root", str(self.root), command]), 0)
        return printed.getvalue().splitlines()

    def test_the_list(self):
        self.assertEqual(
            self.ask("list"),
            [
                "1 00:00:00,000 00:00:02,000 dialogue: Who is there?",
                "2 00:00:04,000 00:00:06,000 dialogue: Only me.",
                "3 00:00:11,000 00:00:12,000 signs: HARBOUR / CLOSED",
            ],
        )

    def test_the_file(self):
        self.ask("make")
        text = (self.root / "var/out/programme.srt").read_text()
        self.assertTrue(text.endswith("3\n00:00:11,000 --> 00:00:12,000\nHARBOUR\nCLOSED\n"))
        self.assertIn("INFO 2 edits, 3 entries, 20000 ms", (self.root / "var/log/subtitler.log").read_text())

    def test_totals(self):
        self.assertIn("A,dialogue,milliseconds,4000", self.ask("totals"))

    def test_what_is_cut_away_is_not_shown(self):
        (self.root / "data/edits.csv").write_text("reel,from,to\nA,00:00:16:00,00:00:20:00\n")
        self.assertEqual(self.ask("list"), [])

    def test_an_entry_ends_before_the_next(self):
        path = self.root / "data/cues/A.csv"
        path.write_text(path.read_text() + "3,1,00:00:15:00,00:00:19:00,dialogue,Then come in.\n")
        self.assertIn("2 00:00:04,000 00:00:04,920 dialogue: Only me.", self.ask("list"))
