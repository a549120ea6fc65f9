"""Serving the audit page on the loopback until interrupted."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import uvicorn

from data.atomic import private_dir
from data.loopback import LOOPBACK, listen
from flows.audit_server.app import audit_app
from flows.audit_server.load import load_audit

_TOKEN_BYTES = 24
_MAX_CONNECTIONS = 100


def serve(out: Path, port: int) -> None:
    """Serve the newest run under `out` at http://127.0.0.1:PORT/. Port 0 takes a free one.

    Address and token go to standard error. Raises InputError if there is no run or no port.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    audit = load_audit(out, token)
    private_dir(out / "private")
    listening = listen(port)
    port = listening.getsockname()[1]
    app = audit_app(audit, port)
    print(f"benchmint: serving on http://{LOOPBACK}:{port}/", file=sys.stderr)
    print(f"benchmint: token for evidence and sign-off: {token}", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])
