"""Batches, answers and renaming."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from slipbox.cli import main

FILES = {
    "01/moss.md": "---\ntitle: Moss\naliases: Bryophyta\ncreated: 2026-01-02\n---\nSee [[Slate]] and [[Fern]].\n",
    "01/slate.md": "---\ntitle: Slate\ncreated: 2026-01-03\ntags: rock\n---\nHosts [[moss]] and [[bryophyta]], on wet slate.\n",
    "01/fern.md": "---\ntitle: Fern\n---\nNear moss.\n",
    "02/bark.md": "---\ntitle: Bark\n---\nWith [[Fern]].\n",
}


class Box(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        for path, text in FILES.items():
            file = self.root / "batches" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        self.ask("take")

    def ask(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(main(["--root", str(self.root), *arguments]), 0)
        return printed.getvalue().splitlines()

    def test_links(self):
        self.assertEqual(len(self.ask("links")), 5)
        self.assertEqual(self.ask("broken"), [])

    def test_counts(self):
        self.assertIn("Moss,moss.md,links to it,2", self.ask("counts"))
        self.assertIn("#rock,the box,notes,1", self.ask("counts"))

    def test_search(self):
        self.assertEqual(self.ask("search", "moss"), ["3 Moss (moss.md)", "1 Slate (slate.md)", "1 Fern (fern.md)"])

    def test_renaming(self):
        self.ask("rename", "Slate", "Blue slate")
        self.assertIn("See [[Blue slate|Slate]] and [[Fern]].", self.ask("text", "Moss"))
        self.assertIn("title: Blue slate", self.ask("text", "Blue slate"))

    def test_the_log(self):
        lines = (self.root / "var/log/slipbox.log").read_text().splitlines()
        self.assertEqual(lines[2], "02 INFO 1 files, 0 removed, 1 read anew")
        self.assertEqual(lines[1], "01 WARNING 0 links lead nowhere, 0 notes with no head")
