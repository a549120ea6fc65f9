"""Do the tests notice? Mutants drawn by a seed, and the share that the tests of their room kill.

    make mutants                               60 mutants, seed 11, into benchmarks/results
    python -m benchmarks.mutation --count 30 --seed 7 --rooms gates,selection

Each mutant is put into a scratch copy of the repository, and the tests of its room run there until
the first fails: those first that import the changed module. A mutant that no test notices is named;
one that changes nothing that could be noticed is named in `mutation_equivalents.toml` with the
reason, and does not count. The layout of pictures is not changed: no test measures where a line is
drawn.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.mutants import Mutant, mutants
from benchmarks.report import table, write_result
from data.randomness import keyed_order

REPO = Path(__file__).resolve().parent.parent
EQUIVALENTS = Path(__file__).with_name("mutation_equivalents.toml")
COUNT, SEED = 60, 11
BAR = 0.9
_DEFAULTS = "tests/flows/test_docs_reference.py"  # compares every default with the documented one
_SLACK_SECONDS = 60.0  # a mutant may take this much longer than three times the room's tests


@dataclass(frozen=True, slots=True)
class Room:
    """Sources that are changed, and the tests that have to notice."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()


ROOMS: Mapping[str, Room] = {
    "gates": Room(
        (
            "construction/sessions/gates",
            "construction/sessions/local_gates.py",
            "anonymization/gates",
            "data/contracts/gate.py",
            "data/contracts/verdict.py",
        ),
        (
            "tests/construction/sessions/gates",
            "tests/construction/sessions/test_local_gates.py",
            "tests/data/contracts",
            "tests/challenge/test_gates.py",
            "tests/anonymization/tables",
            "tests/anonymization/leaks",
            _DEFAULTS,
        ),
    ),
    "masking": Room(
        ("anonymization/text", "anonymization/documents"),
        ("tests/anonymization/text", "tests/anonymization/documents", _DEFAULTS),
    ),
    "sampling": Room(("selection/sampling",), ("tests/selection/sampling", _DEFAULTS)),
    "selection": Room(
        ("selection/*.py",), ("tests/selection/*.py", _DEFAULTS), ("selection/plots.py",)
    ),
    "snapshot": Room(
        ("data/snapshot",), ("tests/data/snapshot",), ("data/snapshot/funnel_picture.py",)
    ),
}


class Outcome(StrEnum):
    KILLED = "killed"
    TIMED_OUT = "killed by time"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant of a room and what became of it; `by` is the test that noticed."""

    room: str
    mutant: Mutant
    outcome: Outcome
    seconds: float
    by: str = ""


def draw(count: int, seed: int, rooms: Iterable[str]) -> list[tuple[str, Mutant]]:
    """As many mutants of each room, by keyed hash: other code coming or going moves none."""
    names = sorted(rooms)
    drawn = []
    for at, room in enumerate(names):
        share = count // len(names) + (at < count % len(names))
        everything = [
            mutant
            for path in _files(ROOMS[room].sources)
            if path not in ROOMS[room].without
            for mutant in mutants(path, (REPO / path).read_text(encoding="utf-8"))
        ]
        order = keyed_order(seed, "mutation", [mutant.name for mutant in everything])
        drawn += [(room, everything[place]) for place in order[:share]]
    return drawn


def _files(patterns: Sequence[str], root: Path = REPO) -> list[str]:
    """The Python files of folders, files and patterns, sorted."""
    paths = {
        path
        for pattern in patterns
        for match in root.glob(pattern)
        for path in (match.rglob("*.py") if match.is_dir() else [match])
    }
    return sorted(path.relative_to(root).as_posix() for path in paths)


def equivalents() -> dict[str, str]:
    """Mutants that change nothing that could be noticed, and why."""
    rows = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("equivalent", [])
    return {row["mutant"]: row["reason"] for row in rows}


def scratch_copy(folder: Path) -> Path:
    """A copy of all that git knows of the work tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (REPO / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, folder / name)
    return folder


def ordered_tests(mutant: Mutant, tests: Sequence[str], root: Path) -> list[str]:
    """The test files of a room; those that name the module, or its function, come first."""
    module = mutant.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    stem, package = module.rpartition(".")[2], module.rpartition(".")[0]

    def distance(path: str) -> tuple[int, str]:
        text = (root / path).read_text(encoding="utf-8")
        if module in text or f"from {package} import {stem}" in text:
            return 0, path
        return (1 if stem in Path(path).stem else 2 if package in text else 3), path

    files = [path for path in _files(tests, root) if Path(path).name.startswith("test_")]
    return sorted(files, key=distance)


def run_tests(root: Path, files: Sequence[str], seconds: float) -> tuple[Outcome, str]:
    """Run test files in the copy until the first failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", *files]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["HYPOTHESIS_STORAGE_DIRECTORY"] = str(root / ".hypothesis")
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return Outcome.TIMED_OUT, ""
    if process.returncode == 0:
        return Outcome.SURVIVED, ""
    lines = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return Outcome.KILLED, lines[0].split()[1] if lines else "import"


def judge(drawn: Sequence[tuple[str, Mutant]]) -> list[Judged]:
    """Run the tests of each mutant's room, the room's tests unchanged first."""
    known, judged = equivalents(), []
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        root = scratch_copy(Path(name))
        limits = {room: _limit(root, room) for room in sorted({room for room, _ in drawn})}
        for room, mutant in drawn:
            began = time.perf_counter()
            if mutant.name in known:
                outcome, by = Outcome.EQUIVALENT, ""
            else:
                outcome, by = _tried(root, mutant, ROOMS[room].tests, limits[room])
            seconds = time.perf_counter() - began
            judged.append(Judged(room, mutant, outcome, seconds, by))
            print(f"{outcome:<15}{seconds:6.0f} s  {mutant.name}  {by}", flush=True)
    return judged


def _limit(root: Path, room: str) -> float:
    """Seconds that the tests of a mutant may take. Raises SystemExit if they fail unchanged."""
    began = time.perf_counter()
    outcome, by = run_tests(root, _files(ROOMS[room].tests, root), 3600)
    if outcome is not Outcome.SURVIVED:
        raise SystemExit(f"the tests of {room} fail on the code as it is: {by}")
    return 3 * (time.perf_counter() - began) + _SLACK_SECONDS


def _tried(root: Path, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[Outcome, str]:
    file = root / mutant.path
    source = file.read_text(encoding="utf-8")
    file.write_text(mutant.applied(source), encoding="utf-8")
    try:
        return run_tests(root, ordered_tests(mutant, tests, root), seconds)
    finally:
        file.write_text(source, encoding="utf-8")


def kill_rate(judged: Sequence[Judged]) -> float:
    """The share of killed mutants among those that are not equivalent."""
    counted = [row for row in judged if row.outcome is not Outcome.EQUIVALENT]
    killed = [row for row in counted if row.outcome is not Outcome.SURVIVED]
    return len(killed) / len(counted) if counted else 1.0


def report(judged: Sequence[Judged], command: str, seconds: float) -> None:
    """Write the page and the figures."""
    rooms = sorted({row.room for row in judged})
    rows = [_room_row(room, [row for row in judged if row.room == room]) for room in rooms]
    rows.append(_room_row("all", judged))
    head = ("room", "mutants", *Outcome, "kill rate")
    verdict = "kept" if kill_rate(judged) >= BAR else "MISSED"
    survivors = [row for row in judged if row.outcome is Outcome.SURVIVED]
    lines = [f"- `{row.mutant.name}` (line {row.mutant.line})\n" for row in survivors]
    named = equivalents()
    equal = [row.mutant.name for row in judged if row.outcome is Outcome.EQUIVALENT]
    reasons = [f"- `{name}`: {named[name]}\n" for name in equal]
    text = table(head, rows)
    text += f"\nBar: at least {BAR:.0%} of the mutants that are not equivalent: {verdict}. "
    text += f"{seconds / 60:.0f} minutes, one test run at a time.\n"
    text += "\n## Survivors\n\n" + ("".join(lines) or "None.\n")
    text += "\n## Equivalent\n\n" + ("".join(reasons) or "None.\n")
    about = f"{(__doc__ or '').partition(chr(10))[0]}\n\nCommand: `{command}`."
    figures = [
        {"room": row.room, "mutant": row.mutant.name, "outcome": str(row.outcome), "by": row.by}
        for row in judged
    ]
    write_result("mutation", about, text, {"kill_rate": kill_rate(judged), "mutants": figures})


def _room_row(room: str, judged: Sequence[Judged]) -> list[str]:
    counts = [sum(row.outcome is outcome for row in judged) for outcome in Outcome]
    return [room, str(len(judged)), *map(str, counts), f"{kill_rate(judged):.0%}"]


def main() -> int:
    """Draw, judge, report; 1 below the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    options = parser.parse_args()
    drawn = draw(options.count, options.seed, options.rooms.split(","))
    if options.list:
        print("\n".join(mutant.name for _, mutant in drawn))
        return 0
    began = time.perf_counter()
    judged = judge(drawn)
    if set(options.rooms.split(",")) == set(ROOMS):
        command = f"python -m benchmarks.mutation --count {options.count} --seed {options.seed}"
        report(judged, command, time.perf_counter() - began)
    print(f"kill rate {kill_rate(judged):.0%}")
    return 0 if kill_rate(judged) >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
