"""The commands: close, hours, sites, balances, open."""

import argparse
import sys
from pathlib import Path

from shiftbook import flexitime, ledger, posting, reports
from shiftbook.log import Log
from shiftbook.people import read_people
from shiftbook.settings import read_settings
from shiftbook.weeks import Week


def _parser():
    parser = argparse.ArgumentParser(prog="shiftbook")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    close = commands.add_parser("close", help="post all weeks up to this one")
    close.add_argument("week", type=Week.parsed, help="YYYY-Www")
    commands.add_parser("hours", help="what was posted, by person")
    commands.add_parser("sites", help="what was posted, by site")
    commands.add_parser("balances", help="flexitime after each week")
    commands.add_parser("open", help="punches without a counterpart")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    settings = read_settings(options.root)
    people = read_people(settings)
    if options.command == "close":
        posting.close(settings, people, options.week, Log(settings.var / "log/shiftbook.log"))
        return 0
    rows = ledger.read(settings.ledger)
    if options.command == "hours":
        lines = reports.hours(rows)
    elif options.command == "sites":
        lines = reports.sites(rows, people)
    elif options.command == "balances":
        lines = reports.balances(flexitime.balances(rows, people, settings))
    else:
        lines = reports.open_punches(settings, people)
    for line in lines:
        print(line)
    sys.stdout.flush()
    return 0
