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
from collections.abc import Sequence
from pathlib import Path

from construction.statements.tools.agent_tools import CallLog
from construction.statements.tools.database import open_database
from flows.evaluate.table_server import build_server
from flows.mcp_serving import add_transport, serve_as_asked


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or until interrupted."""
    parser = argparse.ArgumentParser(prog="server", description="Serve the data tools (MCP).")
    parser.add_argument("data", type=Path, help="folder with companies, series and points")
    add_transport(parser)
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="one line per call")
    options = parser.parse_args(arguments)
    return serve_as_asked(
        parser, options, lambda: build_server(open_database(options.data), CallLog(options.log))
    )
