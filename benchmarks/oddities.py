"""Odd environments: each command works there, or ends with one clear line.

Locales, time zones, terminals, closed streams, limits, folders, networks. A command that works must
print nothing to standard error but lines of its own; one that does not must exit with 1 or 2 and
one line. Run: python -m benchmarks.oddities [--quick]. Writes benchmarks/results/oddities.md.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.oddities_list import ODDITIES, Oddity
from data.snapshot.signature import public_line, sign
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from data.staging.runs import stage_run
from tests.conftest import REPO
from tests.data.snapshot import test_signature as signature
from tests.data.snapshot.sample import release
from tests.data.staging.test_runs import FACTS, stage
from tests.flows.command import command, environment

RESULTS = REPO / "benchmarks" / "results" / "oddities.md"
LONGEST = 240  # seconds
_LONG = ("build", "dry run")  # commands
_UNEXPLAINED = re.compile(r"internal error|a bug\. Please report| at \w+\.py:\d+")
HEAD = """# Odd environments

`python -m benchmarks.oddities`: a command in an environment that somebody has. It works, or it
exits with 1 or 2 and one line that explains it; no traceback or internal error, no warning of a
library, no waiting without end.

| environment | command | exit | seconds | as it should be | first line on standard error |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What the commands work on: a signed snapshot, a staging file, a silent server."""

    root: Path
    snapshot: Path
    key: Path
    out: Path
    silent: str

    def arguments(self, name: str, folder: Path) -> list[str]:
        """The command of an oddity; `build` makes a release of a tiny demo in `folder`."""
        build = ["build", "--config", str(self.root / "tiny.toml"), "--out", str(folder / "made")]
        return {
            "verify": command("verify", self.snapshot, "--key", self.key),
            "sql": command("sql", "SELECT item_id FROM ledger", "--out", self.out),
            "releases": command("release", "list", "--out", self.snapshot.parent.parent),
            "help": command("--help"),
            "demo": command("demo", folder / "demo", "--size", "3"),
            "dry run": command(*build, "--dry-run"),
            "build": command(*build, "--quiet"),
        }[name]


@contextmanager
def workshop() -> Iterator[Workshop]:
    """Make it in a temporary folder; the server accepts connections and never answers."""
    with tempfile.TemporaryDirectory() as scratch, socket.create_server(("127.0.0.1", 0)) as silent:
        root = Path(scratch)
        snapshot = write_snapshot(release(root), root / "work" / "snapshots").path
        sign(snapshot, signature.KEY, verify(snapshot))
        key = root / "signer.pub"
        key.write_text(public_line(signature.KEY.public_key()))
        stage_run(root / "staged", FACTS, stage(root / "stages", "x"))
        tiny = "[demo]\nsize = 3\n[runtime]\nworkers = 1\n[questions.sampling]\nsize = 5\n"
        (root / "tiny.toml").write_text(tiny)
        port = silent.getsockname()[1]
        yield Workshop(root, snapshot, key, root / "staged", f"http://127.0.0.1:{port}/api")


def tried(oddity: Oddity, shop: Workshop, number: int) -> tuple[str, bool]:
    """The row of an oddity, and whether it is as it should be."""
    folder = shop.root / f"o-{number}"
    folder.mkdir()
    known = {"FOLDER": str(folder), "SILENT": shop.silent, "ROOT": str(shop.root)}
    variables = environment() | {
        name: value.format(**known) for name, value in oddity.variables.items()
    }
    for name in oddity.without:
        variables.pop(name, None)
    arguments = shop.arguments(oddity.command, folder)
    script = ["/bin/sh", "-c", oddity.shell.format(**known), "sh", *arguments]
    began = time.monotonic()
    try:
        done = subprocess.run(
            script, capture_output=True, env=variables, timeout=LONGEST, cwd=folder, check=False
        )
        code, errors = done.returncode, done.stderr.decode("utf-8", "replace").splitlines()
    except subprocess.TimeoutExpired:
        code, errors = 124, [f"no end within {LONGEST} s"]
    seconds = time.monotonic() - began
    shutil.rmtree(folder, ignore_errors=True)
    good = _is_good(code, errors, oddity)
    shown = (errors[0] if errors else "").replace(str(shop.root), "…").replace("|", "\\|")[:120]
    answer = "yes" if good else "NO"
    title = oddity.name.replace("|", "\\|")
    return f"| {title} | {oddity.command} | {code} | {seconds:.0f} | {answer} | {shown} |", good


def _is_good(code: int, errors: list[str], oddity: Oddity) -> bool:
    own = all(line.startswith(("benchmint: ", oddity.says)) for line in errors)
    if any(_UNEXPLAINED.search(line) for line in errors):
        return False
    if code == 0:
        return not errors or own
    return (code in (1, 2) and len(errors) == 1 and own) or code in oddity.codes


def _say(row: str) -> None:
    print(row, flush=True)


def measure(oddities: list[Oddity], say: Callable[[str], None] = _say) -> list[tuple[str, bool]]:
    """The row of each, and whether it is as it should be."""
    with workshop() as shop:
        rows = []
        for number, oddity in enumerate(oddities):
            rows.append(tried(oddity, shop, number))
            say(rows[-1][0])
        return rows


def main() -> None:
    """Try all, print each, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="part of a name")
    parser.add_argument("--quick", action="store_true", help="leave out those that build or plan")
    given = parser.parse_args()
    chosen = [one for one in ODDITIES if not (given.quick and one.command in _LONG)]
    rows = measure([one for one in chosen if (given.only or "") in one.name])
    good = sum(is_good for _, is_good in rows)
    if given.only is None:
        text = HEAD + "\n".join(row for row, _ in rows)
        count = f"{good} of {len(rows)} are as they should be."
        missing = len(ODDITIES) - len(chosen)
        note = (
            f" {missing} environments in which a release is built were left out." if missing else ""
        )
        RESULTS.write_text(f"{text}\n\n{count}{note}\n", encoding="utf-8")
    sys.exit(good != len(rows))


if __name__ == "__main__":
    main()
