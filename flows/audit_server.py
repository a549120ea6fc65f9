"""The audit page on the loopback, and as files.

The page and its columns are for whoever is on this machine; private evidence and sign-offs for
whoever has the token.
"""

from __future__ import annotations

import hmac
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.to_thread
import orjson
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from construction.sessions.config import SessionsConfig
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from data import audit_page as page
from data.atomic import private_dir
from data.audit_page.page import PrivateHalf, Refused, parsed_request
from data.canonical import canonical_json
from data.contracts import Lane, Session, gates_in
from data.errors import BenchmintError
from data.loopback import LOOPBACK, listen
from data.neutralise import one_line, visible
from data.reasons import ReasonWords
from data.staging.audit import Rows, cut_long, source_paths, turn_lines, with_records
from flows.gates import GATE_ORDER, GATES
from flows.http_server import Guard, serve_app

_TOKEN_BYTES = 24
_MAX_CONNECTIONS = 100
_MAX_BODY = 16 * 1024
_Handler = Callable[[Mapping[str, Any]], dict[str, Any]]


def with_words(out: Path, turns: Rows) -> Rows:
    """Turns with `text`, what was said, and `record`, the raw line of the log.

    Control characters are named and long texts cut. Where the file no longer holds the session,
    `text` is the record, or says why there is none.
    """
    said = _said(out, {(turn["path"], turn["session_uid"]) for turn in turns})
    return [
        turn | {"text": said.get(_key(turn), turn["record"])} for turn in with_records(out, turns)
    ]


def _evidence(out: Path, instance_id: str) -> Rows:
    """Role, file, line and words of each turn of an instance."""
    turns = turn_lines(out / "staging.duckdb", instance_id)
    return [
        {
            "role": one_line(turn["role"] or ""),
            "path": one_line(turn["path"]),
            "line": turn["line"],
            "text": turn["text"],
        }
        for turn in with_words(out, turns)
    ]


def _key(turn: dict[str, object]) -> tuple[object, object]:
    return turn["session_uid"], turn["turn_index"]


def _said(out: Path, wanted: set[tuple[str, str]]) -> dict[tuple[object, object], str]:
    """The words by session and turn index."""
    sources, uids = source_paths(out), {uid for _, uid in wanted}
    texts: dict[tuple[object, object], str] = {}
    for name in sorted({path for path, _ in wanted if Path(sources.get(path, "")).is_file()}):
        for session in read_source(SourceFile(Path(sources[name]), name)):
            if isinstance(session, Session) and session.uid in uids:
                for turn in session.turns:
                    shown = cut_long(visible(turn.said or turn.text))
                    texts[session.uid, turn.index] = shown
    return texts


@dataclass(frozen=True, slots=True)
class _Audit:
    """What is served: the directory, its columns, and the token that opens the private half.

    `items` are the ids as staging has them; the columns show them without control characters.
    """

    out: Path
    columns: Mapping[str, Any]
    items: tuple[str, ...]
    token: str = field(repr=False)


def _load_columns(out: Path, *, leaves: bool) -> dict[str, Any]:
    """The columns of the newest run under `out`. Raises InputError.

    What `leaves` the house names items as the public report does, by keyed ids; without the key
    (after `benchmint privacy seal`) by their place.
    """
    return _columns(out, _ledger(out), leaves=leaves)


def _load_audit(out: Path, token: str) -> _Audit:
    """The newest run under `out` as it is served. Raises InputError."""
    ledger = _ledger(out)
    return _Audit(out, _columns(out, ledger, leaves=False), page.item_ids(ledger), token)


def _ledger(out: Path) -> page.Books:
    return page.read_books(out / "staging.duckdb").judged_by(GATE_ORDER)


def _columns(out: Path, ledger: page.Books, *, leaves: bool) -> dict[str, Any]:
    config = _config(out, ledger.about["published"])
    gates = {gate.name: (gate, getattr(config, gate.name)) for gate in gates_in(SessionsConfig)}
    shown = page.Shown(page.opaque_names(out) if leaves else None)
    return page.build_columns(ledger, gates, shown, ReasonWords.of(GATES), _lane_of_stages())


def _lane_of_stages() -> dict[str, str]:
    """Stage of the ledger -> lane: that of its tasks, or of the pipeline where it makes none."""
    from flows.build_snapshot import (
        ANALYTICS,
        PIPELINE,
        QUESTIONS,
        REPOSITORIES,
        SESSIONS,
        WORKFLOWS,
    )

    makes = {
        SESSIONS.name: Lane.SESSIONS,
        QUESTIONS.name: Lane.QUESTIONS,
        ANALYTICS.name: Lane.ANALYTICS,
        WORKFLOWS.name: Lane.WORKFLOWS,
        REPOSITORIES.name: Lane.REPOSITORIES,
    }
    return {
        unit.stage or stage.name: str(makes.get(lane.name, lane.name))
        for lane in PIPELINE
        for stage in lane.stages
        for unit in stage.units
    }


def _config(out: Path, published: str) -> SessionsConfig:
    """The limits of the run as its manifest has them; else the defaults.

    Where these are not the run's, its verdicts contradict them, and the page offers no what-if.
    """
    manifest = out / "snapshots" / published / "public" / "manifest.json"
    if not published or not manifest.is_file():
        return SessionsConfig()
    try:
        recipe = orjson.loads(manifest.read_bytes())["recipe"]
        return SessionsConfig.model_validate(recipe["sessions"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        return SessionsConfig()


def export_page(out: Path, target: Path) -> list[Path]:
    """Write page and rejections without names of items, paths or text; returns the files."""
    return page.write_page(_load_columns(out, leaves=True), target)


def serve_page(out: Path, port: int) -> None:
    """Serve the newest run under `out` at http://127.0.0.1:PORT/. Port 0 takes a free one.

    Address and token go to standard error. Raises InputError if there is no run or no port.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    audit = _load_audit(out, token)
    private_dir(out / "private")
    listening = listen(port)
    port = listening.getsockname()[1]
    app = _audit_app(audit, port)
    print(f"benchmint: serving on http://{LOOPBACK}:{port}/", file=sys.stderr)
    print(f"benchmint: token for evidence and sign-off: {token}", file=sys.stderr, flush=True)
    serve_app(app, listening, _MAX_CONNECTIONS)


def _audit_app(audit: _Audit, port: int) -> Guard:
    """The application, behind the checks of Host and Origin. Everything public is made once."""
    private = PrivateHalf(audit.out, audit.items, audit.columns, _evidence)
    html = page.audit_page(audit.columns, served=True).encode()
    routes = [
        Route("/", _fixed(html, "text/html")),
        Route("/data.json", _fixed(canonical_json(audit.columns), "application/json")),
        _download("/rejections.csv", audit, page.as_csv, "text/csv"),
        _download("/rejections.json", audit, page.as_json, "application/json"),
        _private("/evidence", audit.token, private.look),
        _private("/sign-off", audit.token, private.sign),
        _private("/signed", audit.token, private.signed),
    ]
    return Guard(Starlette(routes=routes), port, page.header_policy())


def _fixed(content: bytes, media: str) -> Callable[[Request], Response]:
    return lambda request: Response(content, media_type=media)


def _download(
    path: str, audit: _Audit, make: Callable[[Mapping[str, Any]], str | bytes], media: str
) -> Route:
    """A download, made when it is asked for (in a thread: the function is not a coroutine)."""
    headers = {"Content-Disposition": f'attachment; filename="{path[1:]}"'}
    return Route(
        path, lambda request: Response(make(audit.columns), media_type=media, headers=headers)
    )


def _private(path: str, token: str, handler: _Handler) -> Route:
    async def answer(request: Request) -> Response:
        try:
            body = await _json_body(request, token)
            reply, status = await anyio.to_thread.run_sync(handler, body), 200
        except Refused as refused:
            reply, status = {"error": refused.message}, refused.status
        except (BenchmintError, OSError) as error:
            # Such messages hold names and paths, never session text.
            name = type(error).__name__
            reply, status = {"error": f"{name}: see the files in private/."}, 500
        return Response(orjson.dumps(reply), status, media_type="application/json")

    return Route(path, answer, methods=["POST"])


async def _json_body(request: Request, token: str) -> dict[str, Any]:
    shown = request.headers.get("x-audit-token", "")
    if not hmac.compare_digest(shown.encode(), token.encode()):
        raise Refused(403, "This is not the token printed by the command.")
    if request.headers.get("content-type") != "application/json":
        raise Refused(415, "Send application/json.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY:
            raise Refused(413, f"At most {_MAX_BODY} bytes.")
    return parsed_request(body)
