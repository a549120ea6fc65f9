"""Tiny invented repositories with git, and Claude Code logs of sessions that worked in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import IO, Any

START = 1_760_000_000
ROOT = "/home/ada/tally"
BASE: Mapping[str, str] = {
    "tally/__init__.py": "",
    "tally/sums.py": "\n".join(
        ["def total(numbers):", "    result = 0", "    for number in numbers:",
         "        result += number", "    return result", ""]
    ),
    "tests/test_sums.py": "from tally.sums import total\n\n\ndef test_total():\n"
    "    assert total([1, 2]) == 3\n",
    "pyproject.toml": '[project]\nname = "tally"\nversion = "1"\ndependencies = []\n',
    "LICENSE": "Permission is hereby granted, free of charge, to any person obtaining a copy\n",
}  # fmt: skip
MEAN = "\n\ndef mean(numbers):\n    return total(numbers) / len(numbers) if numbers else 0\n"
MEAN_TEST = (
    "from tally import sums\n\n\ndef test_total():\n    assert sums.total([1, 2]) == 3\n"
    "\n\ndef test_mean():\n    assert sums.mean([1, 3]) == 2\n    assert sums.mean([]) == 0\n"
)
REQUEST = "Add a function `mean` to the sums module; the mean of nothing is 0."


def git(folder: Path, *arguments: str, at: int = START, stdin: IO[str] | None = None) -> str:
    """What a git command prints, as Ada at a time."""
    who = {"NAME": "Ada", "EMAIL": "ada@example.com", "DATE": f"{at} +0000"}
    own = {f"GIT_{role}_{key}": v for role in ("AUTHOR", "COMMITTER") for key, v in who.items()}
    blank = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={"PATH": os.environ["PATH"], **own, **blank},
        stdin=stdin, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def commit(folder: Path, files: Mapping[str, str | None], subject: str, at: int) -> str:
    """Write and commit files (None: removed); the name of the commit."""
    for path, text in files.items():
        target = folder / path
        if text is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "-m", subject, at=at)
    return git(folder, "rev-parse", "HEAD")


def clone(folder: Path) -> tuple[Path, str, str]:
    """A clone with a commit before a session and that which ended it: folder and both names."""
    clone_folder = folder / "repos" / "tally"
    clone_folder.mkdir(parents=True)
    git(clone_folder, "init", "-q", "-b", "main")
    base = commit(clone_folder, BASE, "Sums", START)
    changes = {"tally/sums.py": BASE["tally/sums.py"] + MEAN, "tests/test_sums.py": MEAN_TEST}
    return clone_folder, base, commit(clone_folder, changes, "Add mean", START + 600)


def log(
    folder: Path,
    ending: str | None,
    *,
    request: str = REQUEST,
    edits: bool = True,
    start: int = START + 60,
    name: str = "s1",
) -> Path:
    """The log of a session: a reading, two edits, and what `git commit` printed."""
    shown = "\n".join(
        f"{number:6}\t{line}" for number, line in enumerate(BASE["tally/sums.py"].split("\n"), 1)
    )
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("Read", {"file_path": f"{ROOT}/tally/sums.py"}, shown)
    ]
    if edits:
        old = "    return result\n"
        calls += [
            ("Edit", {"file_path": f"{ROOT}/tally/sums.py", "old_string": old,
                      "new_string": old + MEAN}, "done"),
            ("Write", {"file_path": f"{ROOT}/tests/test_sums.py", "content": MEAN_TEST}, "done"),
        ]  # fmt: skip
    if ending is not None:
        calls.append(("Bash", {"command": "git commit -am x"}, f"[main {ending[:7]}] Add mean"))
    records = [_record("u0", None, "user", request, start)]
    for number, (tool, arguments, result) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
        back = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
        at = start + 10 * number
        records.append(_record(f"a{number}", records[-1]["uuid"], "assistant", [use], at))
        records.append(_record(f"r{number}", f"a{number}", "user", [back], at + 5))
    path = folder / "sessions" / f"{name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def _record(uuid: str, parent: str | None, role: str, content: Any, at: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"m-{uuid}", "model": "model-c", "stop_reason": "tool_use"}
    when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {
        "uuid": uuid, "parentUuid": parent, "type": role, "sessionId": "s1", "cwd": ROOT,
        "version": "2.1.0", "timestamp": when, "message": message,
        "isSidechain": False, "userType": "external",
    }  # fmt: skip


def environment(folder: Path) -> Path:
    """An environment with pytest alone, copied from here: no registry is asked."""
    site = folder / "site"
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        package = distribution(name)
        for file in {file.parts[0] for file in package.files or () if file.parts[0] != ".."}:
            source = Path(str(package.locate_file(file)))
            if source.is_dir():
                shutil.copytree(source, site / file, dirs_exist_ok=True)
            elif source.is_file():
                site.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, site / file)
    return folder
