"""From files to reports."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from intake import cli

HEAD = "delivery,article,date,weight,unit,price_kg,currency,site,changed\n"
FIRST = HEAD + "A1,ART-1005,2026-01-08,100,kg,2.00,EUR,S1,2026-01-08T10:00:00Z\n"
SECOND = HEAD + (
    "A1,ART-1005,2026-01-08,150,kg,2.00,EUR,S1,2026-01-09T10:00:00Z\n"
    "A2,ART-1005,2026-01-09,10,bag,2.00,EUR,S1,2026-01-09T11:00:00Z\n"
    "A3,ART-1006,2026-01-09,40,kg,,,S1,2026-01-09T12:00:00Z\n"
)
PRICES = "article,valid_from,price_kg,currency,changed\n" + (
    "ART-1006,2026-01-01,3.00,EUR,2026-01-01T08:00:00Z\n"
)


class Loading(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        for folder in ("inbox", "data"):
            (self.root / folder).mkdir()
        (self.root / "data/rates.csv").write_text("day,currency,rate\n")
        (self.root / "inbox/2026-01-09_aldane_deliveries.csv").write_text(FIRST)
        (self.root / "inbox/2026-01-10_aldane_deliveries.csv").write_text(SECOND)
        (self.root / "inbox/2026-01-02_aldane_contracts.csv").write_text(PRICES)

    def run_command(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(cli.main(["--root", str(self.root), *arguments]), 0)
        return printed.getvalue().splitlines()

    def test_a_change_replaces_what_was_before(self):
        self.run_command("load", "--until", "2026-01-09")
        self.assertIn("aldane,2026-01,ART-1005,cost,200.00", self.run_command("report"))
        self.run_command("load")
        self.assertIn("aldane,2026-01,ART-1005,cost,300.00", self.run_command("report"))

    def test_a_delivery_without_price_costs_what_was_agreed(self):
        self.run_command("load")
        self.assertIn("aldane,2026-01,ART-1006,cost,120.00", self.run_command("report"))
        self.assertEqual(self.run_command("deviations"), [])

    def test_what_cannot_be_read_waits_in_quarantine(self):
        self.run_command("load")
        line = "2026-01-10_aldane_deliveries.csv,3,unknown unit: bag"
        self.assertEqual(self.run_command("quarantine"), [line])
        self.run_command("retry")
        log = (self.root / "var/intake.log").read_text()
        self.assertIn("quarantine: 0 of 1 rows loaded", log)

    def test_a_file_is_loaded_once(self):
        self.run_command("load")
        before = self.run_command("report")
        self.run_command("load")
        self.assertEqual(self.run_command("report"), before)

    def test_notes_outlive_a_rebuild(self):
        self.run_command("load")
        before = self.run_command("report")
        self.run_command("note", "aldane", "A1", "Ines", "late, truck broke down")
        self.run_command("rebuild")
        self.assertEqual(self.run_command("notes"), ["aldane,A1,Ines,late, truck broke down"])
        self.assertEqual(self.run_command("report"), before)
