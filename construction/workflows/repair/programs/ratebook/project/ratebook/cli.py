"""The commands: close, statements, totals, check."""

import argparse
import csv
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path

from ratebook.accounts import read_accounts
from ratebook.closing import close
from ratebook.settings import read_settings


class Log:
    """Lines of var/log/ratebook.log. The nightly job starts at 04:10 of the closing day."""

    def __init__(self, path, day):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._moment = datetime.combine(day, time(4, 10))

    def _write(self, level, text):
        self._moment += timedelta(milliseconds=37)
        stamp = self._moment.isoformat(timespec="milliseconds")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{stamp}Z {level} {text}\n")

    def info(self, text):
        self._write("INFO", text)

    def warning(self, text):
        self._write("WARNING", text)

    def error(self, text):
        self._write("ERROR", text)


def _invoice_rows(settings):
    for path in sorted((settings.var / "out").glob("invoices-*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


def _statements(settings, name):
    """All lines of an account, or of all accounts, so far."""
    for row in _invoice_rows(settings):
        if name in (None, row["account"]):
            print(",".join(row.values()))


def _totals(settings):
    """The total of each period of each account."""
    for row in _invoice_rows(settings):
        if row["item"] == "total":
            print(",".join((row["account"], row["start"], row["end"], row["amount"])))


def _check(settings):
    """Faults in the accounts, a line each; 1 if there are some."""
    faults = []
    for account in read_accounts(settings.data):
        if account.zone not in settings.zones:
            faults.append(f"{account.name}: unknown zone {account.zone}")
        faults += [
            f"{account.name}: unknown plan {plan}"
            for _, plan in account.changes
            if plan not in settings.plans and plan != "paused"
        ]
    for fault in faults:
        print(fault)
    return int(bool(faults))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="ratebook")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    closing = commands.add_parser("close", help="close the periods that are over")
    closing.add_argument("until", type=date.fromisoformat, help="local day, YYYY-MM-DD")
    statements = commands.add_parser("statements", help="the lines of invoices")
    statements.add_argument("--account", help="of this one alone")
    commands.add_parser("totals", help="the totals of all periods")
    commands.add_parser("check", help="look for faults in the accounts")
    options = parser.parse_args(arguments)
    settings = read_settings(options.root)
    if options.command == "close":
        close(settings, options.until, Log(settings.var / "log/ratebook.log", options.until))
    elif options.command == "statements":
        _statements(settings, options.account)
    elif options.command == "totals":
        _totals(settings)
    else:
        return _check(settings)
    sys.stdout.flush()
    return 0
