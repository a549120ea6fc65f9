"""The commands: serve, simulate, list, show."""

import argparse
import json
import time
from pathlib import Path

from dispatch.board import Board
from dispatch.dispatcher import Dispatcher
from dispatch.journal import Journal
from dispatch.service import serve
from dispatch.settings import read_settings
from dispatch.simulation import Simulation, read_plan


class Log:
    """Lines of var/dispatch.log: seconds, level, text."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path

    def _write(self, level, text, now):
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{now:12.3f} {level:7} {text}\n")

    def info(self, text, now):
        self._write("INFO", text, now)

    def warning(self, text, now):
        self._write("WARNING", text, now)

    def error(self, text, now):
        self._write("ERROR", text, now)


def _board(root):
    return Board.restored(*Journal(root / "var").read())


def _list(root):
    """State, attempts and time of the last change of each job."""
    for job in _board(root).jobs.values():
        print(f"{job.queue},{job.id},state,{job.state}")
        print(f"{job.queue},{job.id},attempts,{job.attempts}")
        print(f"{job.queue},{job.id},changed,{job.changed:g}")


def _parser():
    parser = argparse.ArgumentParser(prog="dispatch")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve until SIGTERM")
    serving.add_argument("--port-file", type=Path, required=True)
    simulating = commands.add_parser("simulate", help="carry out a plan in simulated time")
    simulating.add_argument("plan", type=Path)
    simulating.add_argument("--until", type=int, default=600, help="seconds")
    commands.add_parser("list", help="all jobs")
    showing = commands.add_parser("show", help="all of a job")
    showing.add_argument("id")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    root = options.root
    log = Log(root / "var/dispatch.log")
    if options.command == "serve":
        settings, now = read_settings(root), time.time()
        dispatcher = Dispatcher(settings, Journal(root / "var"), log, now, settings.busy)
        serve(root, dispatcher, options.port_file, log)
    elif options.command == "simulate":
        Simulation(root, log).run(read_plan(options.plan), options.until)
    elif options.command == "list":
        _list(root)
    else:
        job = _board(root).jobs.get(options.id)
        if job is None:
            print(f"there is no {options.id}")
            return 1
        print(json.dumps({**job.view(), "history": job.history}, indent=1, default=str))
    return 0
