"""The commands: make, list, totals, check."""

import argparse
import sys
from pathlib import Path

from subtitler import reports, srt
from subtitler.log import Log
from subtitler.programme import conformed
from subtitler.settings import read_settings


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="subtitler")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "list", "totals", "check"):
        commands.add_parser(name)
    options = parser.parse_args(arguments)
    settings = read_settings(options.root)
    if options.command == "make":
        log = Log(settings.var / "log/subtitler.log")
        srt.write(settings.var / "out/programme.srt", conformed(settings, log))
        return 0
    entries = conformed(settings)
    for line in getattr(reports, {"list": "listed"}.get(options.command, options.command))(entries):
        print(line)
    sys.stdout.flush()
    return 0
