"""An archive of a site whose files have the wrong permissions."""

from __future__ import annotations

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
    tar,
    with_mode,
    with_modes,
)

_FILE = "site.tar"
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
_REQUESTS = {
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


def _build(number: int, seed: int) -> RepairDraft:
    rule, draw = REPAIR.start(number, seed)
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
    archive = with_mode(tar(right), wrong)
    changed = [name for name in wrong if wrong[name] != modes[name]]
    checks = [
        entry(f"mode_{place}", _FILE, name, modes[name], f"{name} has mode {modes[name]:o}")
        for place, name in enumerate(changed, 1)
    ]
    mutants = {
        check.check_id: _mode(check.params["entry"], wrong[check.params["entry"]])
        for check in checks
    }
    checks.append(keeps_entries(_FILE, archive, changed))
    mutants[checks[-1].check_id] = _mode("htdocs/style.css", 0o600)
    return REPAIR.draft(
        number,
        prompt=_REQUESTS[rule].format(site=site),
        inputs={_FILE: archive, "policy.md": _POLICY.encode()},
        delivers=(_FILE,),
        checks=checks,
        mutants=mutants,
    )


def _mode(name: str, mode: int) -> Change:
    return lambda files: files.update({_FILE: with_mode(files[_FILE], {name: mode})})


def _solve(rule: str, inputs: Files, _world: World | None) -> Files:
    areas = {"secrets": ("secrets/",), "programs": ("bin/", "hooks/"), "uploads": ("upload",)}[rule]

    def mode_of(member: Member) -> int:
        return _wanted(member) if member.name.startswith(areas) else member.mode

    return {_FILE: with_modes(inputs[_FILE], mode_of)}


REPAIR = Repair(
    name="site_modes",
    kind="permissions",
    meaning="An archive of a site whose files have the wrong permissions.",
    task_family="assurance",
    rules=("secrets", "programs", "uploads"),
    build=_build,
    solve=_solve,
)
