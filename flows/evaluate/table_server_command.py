"""The command of the exported data tools: a server over the tables of one folder.

    python -I server DATA                            one client, over standard input and output
    python -I server DATA --http PORT                on the loopback
    python -I server DATA --http PORT --socket PATH  on a Unix socket, for clients behind a relay
                                                     who call it 127.0.0.1:PORT

Imports nothing that the exported bundle does not have.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from construction.statements.tools.call_log import CallLog
from construction.statements.tools.database import open_database
from data.errors import BenchmintError
from flows.evaluate.table_server import build_server, serve_http, serve_socket, serve_stdio


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or until interrupted."""
    parser = argparse.ArgumentParser(prog="server", description="Serve the data tools (MCP).")
    parser.add_argument("data", type=Path, help="folder with companies, series and points")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve HTTP on the loopback")
    parser.add_argument("--socket", type=Path, help="listen here instead of on the port")
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="one line per call")
    options = parser.parse_args(arguments)
    if options.socket is not None and options.http is None:
        parser.error("--socket needs --http, the port by which clients call the server")
    try:
        server = build_server(open_database(options.data), CallLog(options.log))
        with suppress(KeyboardInterrupt):
            if options.socket is not None:
                serve_socket(server, _listen_at(options.socket), options.http)
            elif options.http is not None:
                serve_http(server, options.http)
            else:
                serve_stdio(server)
    except BenchmintError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _listen_at(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen()
    return listening
