"""From files to the ledger."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from shiftbook.cli import main

PUNCHES = """id,person,kind,at,received
p1,Aino,in,2026-02-10T07:00:00Z,2026-02-10T07:01:00Z
p2,Aino,out,2026-02-10T11:00:00Z,2026-02-10T11:01:00Z
p2,Aino,out,2026-02-10T11:00:00Z,2026-02-10T11:09:00Z
v1,Visitor,in,2026-02-10T11:00:00Z,2026-02-10T11:09:00Z
"""
CORRECTIONS = """id,number,person,kind,at,received
p2,1,Aino,out,2026-02-10T12:00:00Z,2026-02-19T09:00:00Z
"""


class Posting(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        for folder in ("punches", "corrections"):
            (self.root / "data" / folder).mkdir(parents=True)
        people = "person,site,weekly_hours,started\nAino,norrby,4.5,2026-02-09\n"
        (self.root / "data/people.csv").write_text(people)
        (self.root / "data/punches/2026-02.csv").write_text(PUNCHES)
        (self.root / "data/corrections/2026-02.csv").write_text(CORRECTIONS)

    def run_command(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(main(["--root", str(self.root), *arguments]), 0)
        return printed.getvalue().splitlines()

    def test_a_week_is_posted_once(self):
        self.run_command("close", "2026-W07")
        before = (self.root / "var/ledger.csv").read_text()
        self.run_command("close", "2026-W07")
        self.assertEqual((self.root / "var/ledger.csv").read_text(), before)
        self.assertEqual(self.run_command("hours"), ["Aino,2026-W07,work,4:00"])

    def test_a_late_correction_is_posted_as_a_difference(self):
        self.run_command("close", "2026-W08")
        rows = (self.root / "var/ledger.csv").read_text().splitlines()
        self.assertEqual(rows[1:], ["2026-W07,2026-W07,Aino,work,240", "2026-W08,2026-W07,Aino,work,60"])
        self.assertEqual(self.run_command("sites"), ["norrby,2026-W07,work,5:00"])

    def test_balances(self):
        self.run_command("close", "2026-W08")
        self.assertEqual(self.run_command("balances")[-2:], ["Aino,2026-W07,balance,-0:30", "Aino,2026-W08,balance,-4:00"])

    def test_visitors_are_logged(self):
        self.run_command("close", "2026-W07")
        log = (self.root / "var/log/shiftbook.log").read_text()
        self.assertIn("WARNING unknown person Visitor", log)
        self.assertIn("WARNING copy of p2", log)
