"""The commands; the README lists them."""

import argparse
import sys
from pathlib import Path

from slipbox import batches, reports
from slipbox.graph import Graph
from slipbox.index import Index
from slipbox.renaming import rename
from slipbox.searching import search
from slipbox.settings import read_settings


def _parser():
    parser = argparse.ArgumentParser(prog="slipbox")
    parser.add_argument("--root", type=Path, default=Path())
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("take", "counts", "links", "broken", "files"):
        commands.add_parser(name)
    commands.add_parser("search").add_argument("words", nargs="+")
    renaming = commands.add_parser("rename")
    renaming.add_argument("old")
    renaming.add_argument("new")
    commands.add_parser("text").add_argument("title")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    settings = read_settings(options.root)
    index = Index(settings)
    lines = []
    if options.command == "take":
        batches.take(settings, index)
    elif options.command == "rename":
        if not rename(settings, index, options.old, options.new):
            print(f"there is no note {options.old}")
            return 1
    else:
        graph = Graph(index.refreshed())
        index.write()
        if options.command == "search":
            lines = reports.hits(search(graph.notes, options.words, settings))
        elif options.command == "files":
            lines = reports.files(settings)
        elif options.command == "text":
            note = graph.titled(options.title)
            lines = (settings.box / note["path"]).read_bytes().decode("utf-8", "replace").splitlines() if note else []
        else:
            lines = getattr(reports, options.command)(graph)
    for line in lines:
        print(line)
    sys.stdout.flush()
    return 0
