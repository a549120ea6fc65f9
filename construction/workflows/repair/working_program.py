"""A working program as `program.toml` describes it, its faults, and how it is run."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.workflows.repair.drafts import Files
from data.randomness import keyed_order

FOLDER = Path(__file__).parent / "programs"
ENVIRONMENT = {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
ENVIRONMENT |= {"TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"}
SECONDS = 60  # of a run
_SILENT = 2  # faults of a draft beside the pair, which only the docs give away
Tree = dict[str, bytes]  # path below the project -> content
Steps = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What was changed in the working program: (file, what works, what stands there instead).

    The case of its name fails with it. `interacts` names faults that change how this one shows.
    """

    name: str
    edits: tuple[tuple[str, str, str], ...]
    interacts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A working program, as `program.toml` describes it.

    Steps are arguments of its command line, run in one process. `sample` are those of the run that
    the folder shows, `show` prints what came of it: lines whose last cell is a result and whose
    other cells say of what. `case` are those of a hidden case, `fresh` the folders that a case
    brings along; one with a file `driven` runs the script `driver` instead. `recover` mends the
    state once the program is mended; the command `state` prints what it has to be, `kept` what must
    not be lost with it, both without the program; the commands `loses` lose just that.
    """

    name: str
    meaning: str
    kind: str
    task_family: str
    project: Mapping[str, bytes]
    sample: Steps
    show: Steps
    case: Steps
    fresh: tuple[str, ...]
    requests: tuple[str, ...]
    differs: str
    missing: str
    tests_mutant: tuple[str, str, str]
    faults: Mapping[str, Fault]
    recover: Steps = ()
    state: str = ""
    kept: str = ""
    loses: tuple[str, ...] = ()
    driver: str = ""
    driven: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of faults that are declared to interact."""
        return tuple(
            (first, second)
            for first, second in combinations(self.faults, 2)
            if second in self.faults[first].interacts or first in self.faults[second].interacts
        )

    @property
    def rules(self) -> Mapping[str, tuple[str, ...]]:
        """The faults of each kind of draft: a pair, and silent ones; no two have the same."""
        made: dict[frozenset[str], tuple[str, ...]] = {}
        for pair in self.pairs:
            more = list(combinations([name for name in self.faults if name not in pair], _SILENT))
            order = keyed_order(0, self.name, ["+".join((*pair, *names)) for names in more])
            names = next(
                names for each in order if frozenset(names := (*pair, *more[each])) not in made
            )
            made[frozenset(names)] = names
        return {"+".join(names): names for names in made.values()}

    @property
    def archive(self) -> str:
        return f"{self.name}.tar"

    def command(self, steps: Steps) -> str:
        """The shell command that carries out steps in one process."""
        code = f"from {self.name}.cli import main\nfor each in {steps!r}: main(each)"
        return f"python3 -c {shlex.quote(code)}"

    @property
    def case_command(self) -> str:
        steps = self.command(self.case)
        if not self.driver:
            return steps
        return f"if [ -f {self.driven} ]; then python3 {self.driver}; else {steps}; fi"

    def case_files(self, data: Mapping[str, str]) -> dict[str, str]:
        """The files that a hidden case puts in the place of those that were handed back."""
        given = {
            path: content.decode()
            for path, content in self.project.items()
            if path.partition("/")[0] in self.fresh
        }
        if self.driver:
            given[self.driver] = (FOLDER / self.name / self.driver).read_text("utf-8")
        return {**given, **data}


@cache
def read_program(name: str) -> Program:
    """The program in the folder of that name."""
    folder = FOLDER / name
    table = tomllib.loads((folder / "program.toml").read_text("utf-8"))
    faults = {
        each["name"]: Fault(
            each["name"], tuple(map(tuple, each["edits"])), tuple(each.get("interacts", ()))
        )
        for each in table.pop("fault")
    }
    project = {
        path.relative_to(folder / "project").as_posix(): path.read_bytes()
        for path in sorted((folder / "project").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    mutant = table.pop("tests_mutant")
    for key in {"sample", "show", "case", "recover"} & table.keys():
        table[key] = tuple(map(tuple, table[key]))
    table |= {key: tuple(table[key]) for key in ("fresh", "requests", "loses") if key in table}
    return Program(
        name,
        project=project,
        faults=faults,
        tests_mutant=(mutant["file"], mutant["old"], mutant["new"]),
        **table,
    )


def edited(tree: Files, edits: Sequence[tuple[str, str, str]], *, undo: bool = False) -> Tree:
    """The files with replacements. Raises ValueError where the text does not stand there once."""
    changed = dict(tree)
    for file, works, fails in edits:
        old, new = (fails, works) if undo else (works, fails)
        text = changed[file].decode()
        if text.count(old) != 1:
            raise ValueError(f"{file}: found {old!r} {text.count(old)} times; expected it once")
        changed[file] = text.replace(old, new).encode()
    return changed


def run_project(tree: Files, commands: Sequence[str]) -> tuple[str, Tree]:
    """What commands print, and the files after them; `tree` is this project's own.

    Raises ChildProcessError where a command fails.
    """
    with TemporaryDirectory() as name:
        root = Path(name)
        for path, content in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        done = subprocess.run(  # noqa: S603 - programs of this project
            ["/bin/sh", "-c", " && ".join(commands)],
            cwd=root,
            env=ENVIRONMENT,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode:
            raise ChildProcessError(f"{commands}: {done.stderr.decode()[-2000:]}")
        files = [path for path in sorted(root.rglob("*")) if path.is_file()]
        after = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    return done.stdout.decode(), {path: _portable(data) for path, data in after.items()}


_SQLITE, _VERSION = b"SQLite format 3\0", slice(96, 100)  # by which library it was written


def _portable(data: bytes) -> bytes:
    """The same bytes whatever version of SQLite wrote them."""
    if not data.startswith(_SQLITE):
        return data
    written = bytearray(data)
    written[_VERSION] = (3_040_001).to_bytes(4, "big")
    return bytes(written)
