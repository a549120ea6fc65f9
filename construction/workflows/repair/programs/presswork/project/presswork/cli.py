"""The commands: run, outbox, feed, tally."""

import argparse
import sys
from pathlib import Path

from presswork import lists, outbox, state
from presswork.desk import Desk
from presswork.log import Log
from presswork.moments import moment
from presswork.settings import read_settings
from presswork.submissions import read_outages, read_revisions


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="presswork")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run").add_argument("until", type=moment)
    for name in ("outbox", "feed", "tally"):
        commands.add_parser(name)
    options = parser.parse_args(arguments)
    settings = read_settings(options.root)
    kept = state.read(settings.var / "state.json")
    revisions = read_revisions(settings.root / "data/revisions.csv")
    if options.command == "run":
        outages = read_outages(settings.root / "data/outages.csv")
        desk = Desk(settings, kept, revisions, outages, Log(settings.var / "log/presswork.log"))
        sent = desk.run(options.until)
        outbox.add(settings.var / "outbox.csv", sent)
        state.write(settings.var / "state.json", kept)
        return 0
    rows = outbox.read(settings.var / "outbox.csv")
    if options.command == "outbox":
        lines = outbox.listed(rows)
    elif options.command == "feed":
        lines = lists.feed(kept, revisions, settings)
    else:
        lines = lists.tally(kept, revisions, settings, rows)
    for line in lines:
        print(line)
    sys.stdout.flush()
    return 0
