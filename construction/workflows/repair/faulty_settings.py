"""Small folders about a service: settings that no longer fit what is around it, and an archive of a
site whose files have the wrong permissions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from construction.workflows.contracts import World
from construction.workflows.repair.drafts import (
    Change,
    Draw,
    Files,
    Member,
    Repair,
    RepairDraft,
    entry,
    keeps_entries,
    keeps_values,
    read_table,
    stamp,
    swap,
    table,
    tar,
    value,
    with_modes,
)
from data.contracts.candidate import Check

_SETTINGS_FILE = "settings.ini"
_NAMES = ("labelprint", "pickroute", "returnsdesk", "dockplan", "slotbook")
_SETTINGS_REQUESTS = {
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


def _build_settings(number: int, seed: int) -> RepairDraft:
    rule, draw = SERVICE_SETTINGS.start(number, seed)
    name = draw.pick(_NAMES)
    own, taken = draw.number(8410, 8449), draw.number(8450, 8489)
    text = _settings(name, taken if rule == "port_taken" else own, draw)
    around, log = _AROUND[rule](name, own, taken, draw)
    inputs = {_SETTINGS_FILE: text.encode(), "service.log": _log(name, draw, rule, log), **around}
    mended = SERVICE_SETTINGS.solve(rule, inputs, None)
    checks, mutants = _checks(rule, name, own, text, mended[_SETTINGS_FILE].decode())
    original = inputs[_SETTINGS_FILE]
    but = [check.params["key"] for check in checks]
    checks.append(keeps_values(_SETTINGS_FILE, "ini", original, but))
    mutants[checks[-1].check_id] = swap(_SETTINGS_FILE, "workers = 4", "workers = 8")
    return SERVICE_SETTINGS.draft(
        number,
        prompt=_SETTINGS_REQUESTS[rule].format(name=name),
        inputs=inputs,
        delivers=(_SETTINGS_FILE,),
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
        checks.append(value(short, _SETTINGS_FILE, "ini", key, right, meaning))
        before, after = (f"{short} = {_line(each, short)}\n" for each in (text, mended))
        mutants[short] = swap(_SETTINGS_FILE, after, before)
    return checks, mutants


def _line(text: str, key: str) -> str:
    return next(line.partition(" = ")[2] for line in text.splitlines() if line.startswith(key))


def _solve_settings(rule: str, inputs: Files, _world: World | None) -> Files:
    lines = inputs[_SETTINGS_FILE].decode().splitlines()
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
    return {_SETTINGS_FILE: ("\n".join(lines) + "\n").encode()}


SERVICE_SETTINGS = Repair(
    name="service_settings",
    kind="configuration",
    meaning="A service does not work because its settings no longer fit what is around it.",
    task_family="workspace_repair",
    rules=("port_taken", "timeout_unit", "moved_store"),
    build=_build_settings,
    solve=_solve_settings,
)


_SITE_FILE = "site.tar"
_POLICY = """# Permissions of a site

| what | mode |
|---|---|
| private keys (`*.key`) | 600 |
| files with passwords (`secrets/*` other than keys) | 640 |
| everything in `bin/` and `hooks/` | 755 |
| folders below `upload/`, and `upload/` itself | 2775 |
| files below `upload/` | 664 |
| all other folders | 755 |
| all other files | 644 |
"""
_SITE_REQUESTS = {
    "secrets": (
        "The audit of {site} complains that secrets can be read by everybody on the machine. The "
        "deployed tree is in site.tar, our rules in policy.md. Please hand back site.tar with the "
        "permissions that the rules want; contents, names and all other permissions stay."
    ),
    "programs": (
        "After moving {site} to the new server, the deploy hooks and the tools in bin/ fail with "
        '"Permission denied". The tree is in site.tar, the rules in policy.md. Please hand back '
        "site.tar with the right permissions and change nothing else."
    ),
    "uploads": (
        "On {site} the upload area was opened to the whole world, and new folders there no longer "
        "belong to the group. site.tar has the tree, policy.md the rules. Please put the upload "
        "area right and hand back site.tar; leave everything outside it as it is."
    ),
}


def _wanted(member: Member) -> int:
    """The permissions that the policy wants."""
    name = member.name
    if name == "upload" or name.startswith("upload/"):
        return 0o2775 if member.content is None else 0o664
    if member.content is None:
        return 0o755
    if name.endswith(".key"):
        return 0o600
    if name.startswith("secrets/"):
        return 0o640
    return 0o755 if name.startswith(("bin/", "hooks/")) else 0o644


def _members(site: str, draw: Draw) -> list[Member]:
    year = draw.number(2023, 2026)
    texts = {
        "bin/rotate.sh": "#!/bin/sh\nexec logrotate site.conf\n",
        "bin/warm-cache.py": "#!/usr/bin/env python3\nprint('warm')\n",
        "hooks/post-deploy": "#!/bin/sh\nsystemctl reload site\n",
        "hooks/README.md": "Hooks run in the order of their names.\n",
        "htdocs/index.html": f"<!DOCTYPE html><title>{site}</title>\n",
        "htdocs/style.css": "body { margin: 2em }\n",
        "secrets/db.ini": f"[db]\nuser = {site}\npassword = {draw.number(10**8, 10**9)}\n",
        f"secrets/{site}.key": f"-----BEGIN KEY-----\n{draw.number(10**15, 10**16)}\n",
        f"upload/{year}/plan.txt": "Plan of the site, first draft\n",
        f"upload/{year}/photo.jpg": "jpg\n",
        "site.conf": "root htdocs\n",
    }
    folders = sorted({str(name).rpartition("/")[0] for name in texts} | {"upload"} - {""})
    members = [Member(name, 0o755, None) for name in folders if name]
    return [*members, *(Member(name, 0o644, text.encode()) for name, text in texts.items())]


def _broken(rule: str, draw: Draw) -> dict[str, int]:
    """The permissions that are wrong, by the beginning of the name."""
    return {
        "secrets": {"secrets/": draw.pick((0o644, 0o664))},
        "programs": {"bin/": draw.pick((0o644, 0o664)), "hooks/": 0o644},
        "uploads": {"upload": 0o777},
    }[rule]


def _build_site(number: int, seed: int) -> RepairDraft:
    rule, draw = SITE_MODES.start(number, seed)
    site = draw.pick(("harbourmap", "choirbook", "mosswood"))
    right = [Member(each.name, _wanted(each), each.content) for each in _members(site, draw)]
    wrong: dict[str, int] = {}
    for start, mode in _broken(rule, draw).items():
        wrong |= {
            each.name: 0o666 if rule == "uploads" and each.content is not None else mode
            for each in right
            if each.name.startswith(start) and (each.content is not None or rule == "uploads")
        }
    modes = {each.name: each.mode for each in right}
    archive = _with_mode(tar(right), wrong)
    changed = [name for name in wrong if wrong[name] != modes[name]]
    checks = [
        entry(f"mode_{place}", _SITE_FILE, name, modes[name], f"{name} has mode {modes[name]:o}")
        for place, name in enumerate(changed, 1)
    ]
    mutants = {
        check.check_id: _mode(check.params["entry"], wrong[check.params["entry"]])
        for check in checks
    }
    checks.append(keeps_entries(_SITE_FILE, archive, changed))
    mutants[checks[-1].check_id] = _mode("htdocs/style.css", 0o600)
    return SITE_MODES.draft(
        number,
        prompt=_SITE_REQUESTS[rule].format(site=site),
        inputs={_SITE_FILE: archive, "policy.md": _POLICY.encode()},
        delivers=(_SITE_FILE,),
        checks=checks,
        mutants=mutants,
    )


def _with_mode(data: bytes, modes: Mapping[str, int]) -> bytes:
    """The archive with other permissions for some members."""
    return with_modes(data, lambda member: modes.get(member.name, member.mode))


def _mode(name: str, mode: int) -> Change:
    return lambda files: files.update({_SITE_FILE: _with_mode(files[_SITE_FILE], {name: mode})})


def _solve_site(rule: str, inputs: Files, _world: World | None) -> Files:
    areas = {"secrets": ("secrets/",), "programs": ("bin/", "hooks/"), "uploads": ("upload",)}[rule]

    def mode_of(member: Member) -> int:
        return _wanted(member) if member.name.startswith(areas) else member.mode

    return {_SITE_FILE: with_modes(inputs[_SITE_FILE], mode_of)}


SITE_MODES = Repair(
    name="site_modes",
    kind="permissions",
    meaning="An archive of a site whose files have the wrong permissions.",
    task_family="assurance",
    rules=("secrets", "programs", "uploads"),
    build=_build_site,
    solve=_solve_site,
)
