"""A service that does not work because its settings no longer fit what is around it."""

from __future__ import annotations

from datetime import timedelta

from construction.workflows.contracts import World
from construction.workflows.repair.drafts import (
    Change,
    Draw,
    Files,
    Repair,
    RepairDraft,
    keeps_values,
    read_table,
    stamp,
    swap,
    table,
    value,
)
from data.contracts.candidate import Check

_FILE = "settings.ini"
_NAMES = ("labelprint", "pickroute", "returnsdesk", "dockplan", "slotbook")
_REQUESTS = {
    "port_taken": (
        "{name} has not come up since this morning's restart; its log and settings are attached. "
        "Our port list is in ports.csv. Please give it its own port and hand me back settings.ini. "
        "Nothing else in the file should change."
    ),
    "timeout_unit": (
        "Since we updated {name} to release 4, nearly every upstream call is cut off. The release "
        "notes are in the folder, and so is the log. Correct settings.ini so that the waiting "
        "times are what they were before the update, and leave everything else alone."
    ),
    "moved_store": (
        "{name} cannot write its files any more: storage has been moved around twice this quarter "
        "(moves.csv has every move with its date). Bring the paths in settings.ini up to date. A "
        "path that was not moved stays as it is."
    ),
}


def _settings(name: str, port: int, draw: Draw) -> str:
    root = f"/srv/{name}"
    return (
        f"; {name}, site settings\n[server]\nhost = 0.0.0.0\nport = {port}\nworkers = 4\n\n"
        f"[upstream]\nurl = http://stock.internal:8300\nconnect_timeout = {draw.number(2, 5)}\n"
        f"read_timeout = {draw.number(20, 45)}\nretry_pause_ms = 250\nretries = 3\n\n"
        f"[paths]\nspool = {root}/spool\narchive = /mnt/vol2/{name}/archive\n"
        f"templates = /opt/{name}/templates\n\n[log]\nlevel = info\nrotate_days = 14\n"
    )


def _log(name: str, draw: Draw, rule: str, lines: list[str]) -> bytes:
    # after the last of the moves, where there are moves
    moment = draw.instant("2026-06-11", days=18) if rule == "moved_store" else draw.instant()
    written = []
    for line in [f"{name} starting, settings from settings.ini", "templates loaded: 12", *lines]:
        written.append(f"{stamp(moment)} {line}\n")
        moment += timedelta(milliseconds=draw.number(400, 2600))
    return "".join(written).encode()


def _build(number: int, seed: int) -> RepairDraft:
    rule, draw = REPAIR.start(number, seed)
    name = draw.pick(_NAMES)
    own, taken = draw.number(8410, 8449), draw.number(8450, 8489)
    text = _settings(name, taken if rule == "port_taken" else own, draw)
    around, log = _AROUND[rule](name, own, taken, draw)
    inputs = {_FILE: text.encode(), "service.log": _log(name, draw, rule, log), **around}
    mended = REPAIR.solve(rule, inputs, None)
    checks, mutants = _checks(rule, name, own, text, mended[_FILE].decode())
    original = inputs[_FILE]
    but = [check.params["key"] for check in checks]
    checks.append(keeps_values(_FILE, "ini", original, but))
    mutants[checks[-1].check_id] = swap(_FILE, "workers = 4", "workers = 8")
    return REPAIR.draft(
        number,
        prompt=_REQUESTS[rule].format(name=name),
        inputs=inputs,
        delivers=(_FILE,),
        checks=checks,
        mutants=mutants,
    )


def _ports(name: str, own: int, taken: int, draw: Draw) -> tuple[Files, list[str]]:
    others = draw.several([each for each in _NAMES if each != name], 3)
    rows: list[tuple[object, ...]] = [
        (own - 7, name, "retired", "until the move to hall 3"),
        (taken, others[0], "active", "since 2024"),
        (own, name, "active", "assigned, not yet in use"),
        (taken + 3, others[1], "active", ""),
        (own + 11, "", "free", ""),
        (taken - 6, others[2], "active", "behind the proxy"),
    ]
    readme = (
        f"# {name}\n\nEvery service listens on the port that ports.csv assigns to it (status "
        "active). Retired rows are kept for the auditors. Free ports are handed out by the network "
        "team, not taken.\n"
    )
    files = {
        "ports.csv": table(["port", "service", "status", "note"], rows),
        "README.md": readme.encode(),
    }
    return files, [f"bind 0.0.0.0:{taken}: address already in use", "giving up after 5 tries"]


def _units(name: str, own: int, taken: int, draw: Draw) -> tuple[Files, list[str]]:
    notes = (
        f"# {name} 4.0\n\n- New: retries are counted per call.\n"
        "- Changed: `connect_timeout` and `read_timeout` are given in milliseconds. Up to 3.x they "
        "were seconds. Other settings keep their units.\n"
        "- Changed: `rotate_days` may be 0 for no rotation.\n"
    )
    lines = [f"listening on {own}"]
    lines += [f"GET /stock/{draw.number(1000, 9999)}: cut off while reading" for _ in range(6)]
    return {"RELEASE-NOTES.md": notes.encode()}, lines


def _moves(name: str, own: int, taken: int, draw: Draw) -> tuple[Files, list[str]]:
    day = draw.number(1, 9)
    rows = [
        (f"2026-04-{day:02}", f"/srv/{name}", f"/data/{name}", "old disk array"),
        (f"2026-04-{day + 3:02}", "/mnt/vol1", "/mnt/vol7", "volume 1 retired"),
        (f"2026-06-{day:02}", f"/data/{name}", f"/data/hall3/{name}", "hall split"),
        (f"2026-06-{day + 1:02}", "/mnt/vol2", "/mnt/vol9", "volume 2 full"),
    ]
    lines = [f"spool /srv/{name}/spool: no such directory", "queue is held in memory"]
    return {"moves.csv": table(["date", "from", "to", "why"], rows)}, lines


_AROUND = {"port_taken": _ports, "timeout_unit": _units, "moved_store": _moves}


def _checks(
    rule: str, name: str, own: int, text: str, mended: str
) -> tuple[list[Check], dict[str, Change]]:
    """The checks on what was to be changed, and for each the change that undoes it."""
    changed: dict[str, dict[str, tuple[object, str]]] = {
        "port_taken": {"server.port": (own, "the service listens on its own port")},
        "timeout_unit": {
            f"upstream.{key}": (int(_line(text, key)) * 1000, f"{key} is in milliseconds")
            for key in ("connect_timeout", "read_timeout")
        },
        "moved_store": {
            "paths.spool": (f"/data/hall3/{name}/spool", "both moves of the spool are followed"),
            "paths.archive": (f"/mnt/vol9/{name}/archive", "the move of the archive is followed"),
        },
    }
    checks, mutants = [], {}
    for key, (right, meaning) in changed[rule].items():
        short = key.rpartition(".")[2]
        checks.append(value(short, _FILE, "ini", key, right, meaning))
        before, after = (f"{short} = {_line(each, short)}\n" for each in (text, mended))
        mutants[short] = swap(_FILE, after, before)
    return checks, mutants


def _line(text: str, key: str) -> str:
    return next(line.partition(" = ")[2] for line in text.splitlines() if line.startswith(key))


def _solve(rule: str, inputs: Files, _world: World | None) -> Files:
    lines = inputs[_FILE].decode().splitlines()
    if rule == "port_taken":
        name = lines[0].removeprefix("; ").partition(",")[0]
        own = next(
            row["port"]
            for row in read_table(inputs["ports.csv"])
            if row["service"] == name and row["status"] == "active"
        )
        lines = [f"port = {own}" if line.startswith("port = ") else line for line in lines]
    elif rule == "timeout_unit":
        lines = [
            f"{line}000" if line.startswith(("connect_timeout", "read_timeout")) else line
            for line in lines
        ]
    else:
        for move in read_table(inputs["moves.csv"]):
            lines = [line.replace(f"= {move['from']}/", f"= {move['to']}/") for line in lines]
    return {_FILE: ("\n".join(lines) + "\n").encode()}


REPAIR = Repair(
    name="service_settings",
    kind="configuration",
    meaning="A service does not work because its settings no longer fit what is around it.",
    task_family="workspace_repair",
    rules=("port_taken", "timeout_unit", "moved_store"),
    build=_build,
    solve=_solve,
)
