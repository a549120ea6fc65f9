"""The demo, generated and built once for all tests of a session; its users only read it."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl
import pytest
import tomli_w

from data.demo import generate
from tests.flows.command import benchmint, key_file
from tests.needs import path_without_box

SIZE, SEED = 60, 7  # one block: every defect that the demo plants


@dataclass(frozen=True, slots=True)
class Demo:
    """`config` names all of `folder`, and the key; `out` is what `benchmint build` made of it.

    `has_box`: bubblewrap could be called, if this machine has it.
    """

    folder: Path
    config: Path
    out: Path
    has_box: bool

    def sessions(self) -> list[Path]:
        """The folders of session logs, one for each format."""
        return sorted((self.folder / "sessions").iterdir())

    def build(self, out: Path, *more: object) -> list[object]:
        """The arguments of a build of the same release elsewhere."""
        return ["build", *more, "--config", self.config, "--out", out, "--quiet"]


def base(factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of this session share."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def begin(folder: Path, *, has_box: bool) -> subprocess.Popen[bytes]:
    """Make the one demo of this session in the background; whoever needs it waits for it."""
    words = [sys.executable, "-m", "tests.demo", str(folder), *(["box"] if has_box else [])]
    repo = Path(__file__).resolve().parent.parent
    return subprocess.Popen(words, cwd=repo, stderr=subprocess.DEVNULL, start_new_session=True)


def shared(folder: Path, *, has_box: bool) -> Demo:
    """The one demo of this session: the first process to ask makes it, the others wait."""
    root = folder / "shared-demo"
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root / "done"
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)  # of a process that did not come to its end
            _make(root, has_box=has_box)
            done.touch()
    return _in(root, has_box)


def assert_all_but_what_needs_a_box(out: Path) -> None:
    """The release has every lane; its manifest and its ledger say what is missing, and why."""
    release = out / "snapshots" / "latest"
    inputs = orjson.loads((release / "public/manifest.json").read_bytes())["inputs"]
    assert "sandbox: absent" in inputs
    lines = (release / "public/tasks.jsonl").read_bytes().splitlines()
    tasks = [orjson.loads(line) for line in lines]
    assert {row["lane"] for row in tasks} == {"sessions", "questions", "analytics", "workflows"}
    made = [row["execution_surface"] for row in tasks if row["lane"] == "workflows"]
    assert set(made) == {"services"}
    left_out = pl.read_parquet(release / "private/ledger.parquet").filter(
        pl.col("reason") == "screen.no_sandbox"
    )
    assert left_out.select("stage", "unit", "outcome").unique().rows() == [
        ("workflows", "draft", "rejected")
    ]


def _in(root: Path, has_box: bool) -> Demo:
    return Demo(root / "demo", root / "all.toml", root / "out", has_box)


def _make(root: Path, has_box: bool) -> None:
    demo = _in(root, has_box)
    generate(demo.folder, SIZE, SEED)
    for name in (b"sessions/chat/bad\xff.txt", b"files/bad\xff.csv"):  # no UTF-8
        Path(os.fsdecode(os.fsencode(demo.folder) + b"/" + name)).write_text("x")
    result = (demo.folder / "benchmint.toml").read_text(encoding="utf-8")
    demo.config.write_text(f"{result}\n{tomli_w.dumps({'runtime': _runtime(demo, root)})}")
    path = os.environ["PATH"] if has_box else path_without_box(root / "bin")
    built = benchmint(*demo.build(demo.out, "--workers", 1), path=path)
    assert built.returncode == 0, built.stderr


def _runtime(demo: Demo, root: Path) -> dict[str, object]:
    folders = {"files": "files", "tables": "tables"}
    folders |= {"sec": "statements/sec", "edinet": "statements/edinet"}
    return {name: [str(demo.folder / path)] for name, path in folders.items()} | {
        "sessions": [str(path) for path in demo.sessions()],
        "signals": sorted(map(str, (demo.folder / "signals").glob("*.csv"))),
        "environment": str(demo.folder / "environment/environment.toml"),
        "tripwires": str(demo.folder / "tripwires.txt"),
        "key_file": str(key_file(root)),
    }


if __name__ == "__main__":
    shared(Path(sys.argv[1]), has_box="box" in sys.argv[2:])
