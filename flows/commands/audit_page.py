"""`benchmint audit --serve` and `--export`: the audit page, on the loopback or as files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def serve(out: Path, port: int) -> None:
    """Serve the audit page of `out` until interrupted. Port 0 takes a free one."""
    # The server takes half a second to import: the other audits do not wait for it.
    from flows.audit_server import serve as server

    with suppress(KeyboardInterrupt):
        server.serve(out, port)


def export(out: Path, target: Path) -> None:
    """Write the page and the rejections as files without private names, and say where."""
    from flows.audit_server.export import export as write

    for path in write(out, target):
        print(path)
