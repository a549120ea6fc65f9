"""The commands: load, retry, rebuild, report, payable, deviations, quarantine, note, notes."""

import argparse
from pathlib import Path

from intake.database import opened
from intake.loading import load, rebuild, retry
from intake.reports import costs, deviations, payable, read_rates
from intake.settings import read_settings


class Log:
    """Lines of var/intake.log, numbered; the time is that of the system that collects them."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path

    def _write(self, level, text):
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{level:7} {text}\n")

    def info(self, text):
        self._write("INFO", text)

    def warning(self, text):
        self._write("WARNING", text)


def _report(settings):
    for (supplier, month, article), (grams, cents, unpriced) in costs(
        settings, read_rates(settings)
    ).items():
        cost = f"{cents // 100}.{cents % 100:02}"
        print(f"{supplier},{month},{article},kg,{grams / 1000:.3f}")
        print(f"{supplier},{month},{article},cost,{cost}")
        if unpriced:
            print(f"{supplier},{month},{article},unpriced,{unpriced}")


def _payable(settings):
    for *names, cents in payable(settings, read_rates(settings)):
        print(",".join((*names, f"{cents // 100}.{cents % 100:02}")))


def _deviations(settings):
    for line in deviations(settings, read_rates(settings)):
        print(",".join(map(str, line)))


def _quarantine(settings):
    with opened(settings.database) as connection:
        for row in connection.execute("SELECT * FROM quarantine ORDER BY file, line"):
            print(f"{row['file']},{row['line']},{row['reason']}")


def _note(settings, options):
    with opened(settings.database) as connection:
        connection.execute(
            "INSERT INTO notes (supplier, number, author, text) VALUES (?, ?, ?, ?)",
            (options.supplier, options.number, options.author, options.text),
        )


def _notes(settings):
    with opened(settings.database) as connection:
        for row in connection.execute("SELECT * FROM notes ORDER BY id"):
            print(f"{row['supplier']},{row['number']},{row['author']},{row['text']}")


def _parser():
    parser = argparse.ArgumentParser(prog="intake")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    loading = commands.add_parser("load", help="load new files of the inbox")
    loading.add_argument("--until", default="9999", help="last date of files, YYYY-MM-DD")
    for name in ("retry", "rebuild", "report", "payable", "deviations", "quarantine", "notes"):
        commands.add_parser(name)
    note = commands.add_parser("note", help="a remark of a buyer on a delivery")
    for name in ("supplier", "number", "author", "text"):
        note.add_argument(name)
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    settings = read_settings(options.root)
    log = Log(options.root / "var/intake.log")
    if options.command == "load":
        load(settings, log, options.until)
    elif options.command == "retry":
        retry(settings, log)
    elif options.command == "rebuild":
        rebuild(settings, log)
    elif options.command == "note":
        _note(settings, options)
    else:
        shows = {
            "report": _report,
            "payable": _payable,
            "deviations": _deviations,
            "quarantine": _quarantine,
            "notes": _notes,
        }
        shows[options.command](settings)
    return 0
