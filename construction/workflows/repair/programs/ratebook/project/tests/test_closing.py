"""A closing from files to files."""

import csv
import shutil
import tempfile
import unittest
from datetime import date
from pathlib import Path

from ratebook import cli

ACCOUNTS = "account,zone,currency,cycle_day,opened,tax_percent\nK1,Europe/Lisbon,EUR,1,2026-05-01,10\n"
EVENTS = """event,revision,account,at,quantity,unit,received
e1,1,K1,2026-05-03T10:00:00Z,100,gb,2026-05-03T12:00:00Z
e2,1,K1,2026-05-04T10:00:00Z,7,parsec,2026-05-04T12:00:00Z
"""


class Closing(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")
        (self.root / "data/events").mkdir(parents=True)
        (self.root / "data/accounts.csv").write_text(ACCOUNTS)
        (self.root / "data/subscriptions.csv").write_text("account,from,plan\nK1,2026-05-01,payg\n")
        (self.root / "data/credits.csv").write_text("credit,account,granted,expires,amount\n")
        (self.root / "data/events/2026-05.csv").write_text(EVENTS)

    def close(self, day):
        self.assertEqual(cli.main(["--root", str(self.root), "close", day]), 0)
        with (self.root / f"var/out/invoices-{day}.csv").open() as file:
            return list(csv.DictReader(file))

    def test_a_period_is_invoiced_once(self):
        rows = self.close("2026-06-04")
        self.assertEqual([(row["item"], row["amount"]) for row in rows], [("transfer payg", "14.00"), ("total", "15.40")])
        self.assertEqual(self.close("2026-06-05"), [])

    def test_it_waits_for_the_days_of_grace(self):
        self.assertEqual(self.close("2026-06-03"), [])
        self.assertEqual(len(self.close(date(2026, 6, 4).isoformat())), 2)

    def test_a_row_that_cannot_be_billed_is_logged(self):
        self.close("2026-06-04")
        log = (self.root / "var/log/ratebook.log").read_text()
        self.assertIn("WARNING 2026-05.csv:3 left out, unknown unit: parsec", log)

    def test_an_account_in_an_unknown_zone_is_not_closed(self):
        path = self.root / "data/accounts.csv"
        path.write_text(path.read_text().replace("Europe/Lisbon", "Mars/Base"))
        self.assertEqual(self.close("2026-06-04"), [])
        log = (self.root / "var/log/ratebook.log").read_text()
        self.assertIn("ERROR K1: unknown zone Mars/Base, not closed", log)
