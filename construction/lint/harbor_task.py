"""A task folder of Harbor as a lint reads it, with as much of its Dockerfile as is understood:
images, what is copied into them, and plain steps.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from data.errors import InputError

TASK, INSTRUCTION, SOLVE, TEST = "task.toml", "instruction.md", "solution/solve.sh", "tests/test.sh"
NET = re.compile(r"\b(?:apt-get|apt|curl|wget|uvx?|npm|npx|git clone|pip3? install)\b")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_STEP_NAME = re.compile(r"[\w][\w.-]*")
_LARGEST, _MOST_FILES = 4 << 20, 2_000

_STEP = re.compile(r"^\s*([A-Za-z]+)\s+(.*)$", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_ADDRESSES = tuple(
    f"{scheme}{mark}" for scheme in ("http", "https", "git", "ssh") for mark in ("://", "@")
)
_IDLE = frozenset(
    "CMD ENTRYPOINT EXPOSE LABEL USER SHELL STOPSIGNAL HEALTHCHECK".split()  # noqa: SIM905
)
# What a plain system has, so that it need not be built; trials begin with a solution that passes.
_PLAIN = frozenset(
    "python3 python3-pip python-is-python3 coreutils bash grep sed gawk findutils tar".split()  # noqa: SIM905
)
_LINK = "ln -s /usr/bin/python3 /usr/bin/python"
_TEST_TOOL = re.compile(r"pytest(?:-json-ctrf)?(?:[=<>!~]=?[\w.*]+)?")


@dataclass(slots=True)
class Dockerfile:
    """`unplain` is the first step that cannot be done without building the image."""

    images: list[str] = field(default_factory=list)
    copies: list[tuple[tuple[str, ...], str]] = field(default_factory=list)  # sources, target
    workdir: str = "/"
    variables: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    unplain: str = ""


def _parse(text: str) -> Dockerfile:
    """Read a Dockerfile; what is not understood makes it `unplain`, and is no error."""
    made, stages = Dockerfile(), set[str]()
    for name, rest in _steps(text):
        if name == "FROM":
            words = [word for word in rest.split() if not word.startswith("--")]
            if words and words[0].lower() not in stages | {"scratch"}:
                made.images.append(words[0])
            if len(words) > 2 and words[1].lower() == "as":
                stages.add(words[2].lower())
            if len(made.images) > 1 or "$" in rest:
                made.unplain = made.unplain or f"FROM {rest}"
        elif name == "WORKDIR":
            made.workdir = str(PurePosixPath(made.workdir, rest.strip()))
        elif name in ("COPY", "ADD"):
            _copy(made, name, rest)
        elif name == "ENV":
            _variables(made, rest)
        elif name not in _IDLE and not (name == "RUN" and _is_plain(made, rest)):
            made.unplain = made.unplain or f"{name} {rest}".split("\n")[0][:80]
    return made


def _steps(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    steps, at = [], 0
    while at < len(lines):
        line = lines[at]
        at += 1
        while line.rstrip().endswith("\\") and at < len(lines):
            line = line.rstrip()[:-1] + " " + lines[at]
            at += 1
        if (document := _HEREDOC.search(line)) is not None:
            while at < len(lines) and lines[at].strip() != document[1]:
                at += 1
            at += 1
        if (match := _STEP.match(line)) is not None:
            steps.append((match[1].upper(), match[2].strip()))
    return steps


def _copy(made: Dockerfile, name: str, rest: str) -> None:
    words = rest.split()
    flags = [word for word in words if word.startswith("--")]
    paths = [word for word in words if not word.startswith("--")]
    is_plain = len(paths) > 1 and not any(mark in rest for mark in ("$", "<<", "[", '"'))
    if not is_plain or any(flag.startswith("--from") for flag in flags):
        made.unplain = made.unplain or f"{name} {rest}"[:80]
        return
    if any(path.startswith(_ADDRESSES) for path in paths[:-1]):
        made.unplain = made.unplain or f"{name} {rest}"[:80]
        return
    target = str(PurePosixPath(made.workdir, paths[-1]))
    is_folder = paths[-1].endswith(("/", "/.")) or paths[-1] == "." or len(paths) > 2
    made.copies.append((tuple(paths[:-1]), target + "/" * is_folder))


def _variables(made: Dockerfile, rest: str) -> None:
    try:
        words = shlex.split(rest)
    except ValueError:
        words = []
    pairs = [word.partition("=") for word in words if "=" in word]
    if "$" in rest or not pairs:
        made.unplain = made.unplain or f"ENV {rest}"[:80]
    made.variables |= {name: value for name, _, value in pairs if name.isidentifier()}


def _is_plain(made: Dockerfile, rest: str) -> bool:
    """Folders made, modes set, tools of a plain system installed: had without the image."""
    for command in rest.replace("&&", ";").split(";"):
        words = command.split()
        names = [word for word in words[1:] if not word.startswith("-")]
        match words[:1], names[:1]:
            case ([] | ["chmod"], _) | (["apt-get"], ["update" | "clean"]):
                continue
            case ["mkdir"], _ if all(name.startswith("/") for name in names):
                made.folders += names
            case ["apt-get"], ["install"] if _PLAIN.issuperset(names[1:]):
                continue
            case ["pip" | "pip3"], ["install"] if all(map(_TEST_TOOL.fullmatch, names[1:])):
                continue
            case ["rm"], _ if all(name.startswith("/var/lib/apt/") for name in names):
                continue
            case _ if command.split() != _LINK.split():
                return False
    return True


@dataclass(frozen=True, slots=True)
class HarborTask:
    """A task folder as it was read; `docker` is None where no Dockerfile is there.

    A task of several steps has an instruction, tests and a solution in the folder of each; their
    texts are joined here. `has_bom` says that its settings begin with a byte order mark.
    """

    folder: Path
    root: Path  # of the set
    name: str
    instruction: str
    image: str
    docker: Dockerfile | None
    test: str
    solve: str
    steps: tuple[str, ...] = ()
    has_own_verifier: bool = False  # tests may lie in the image of a verifier
    has_bom: bool = False

    def places(self) -> tuple[str, ...]:
        """The folders with an instruction and tests, from the folder of the task."""
        return tuple(f"steps/{step}/" for step in self.steps) or ("",)

    def files(self, part: str) -> list[Path]:
        """The regular files of a part, by name."""
        root = self.folder / part
        paths = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        return sorted(path for path, _ in zip(paths, range(_MOST_FILES), strict=False))

    def parts(self, part: str) -> list[Path]:
        """The files of a part of the task and of its steps."""
        names = dict.fromkeys((part, *(f"{place}{part}" for place in self.places())))
        return [path for name in names for path in self.files(name)]


def read_task(folder: Path, root: Path | None = None) -> HarborTask:
    """Read a folder of the set in `root`, out of which no link is followed.

    Raises InputError for a task.toml that is none, OSError for files that cannot be read.
    """
    text = _text(folder / TASK, root or folder)
    try:
        document = tomllib.loads(text.removeprefix(_BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(
            str(folder / TASK), f"invalid TOML ({error})", "a task's settings", "Correct it."
        ) from None
    settings, verifier = document.get("environment"), document.get("verifier")
    image = settings.get("docker_image") if isinstance(settings, dict) else None
    steps = document.get("steps")
    listed = steps if isinstance(steps, list) else []
    named = [step.get("name") for step in listed if isinstance(step, dict)]
    task = HarborTask(
        folder=folder,
        root=root or folder,
        name=folder.name,
        instruction="",
        image=image if isinstance(image, str) else "",
        docker=None,
        test="",
        solve="",
        steps=tuple(name for name in named if isinstance(name, str) and _STEP_NAME.fullmatch(name)),
        has_own_verifier=isinstance(verifier, dict) and "environment" in verifier,
        has_bom=text.startswith(_BOM),
    )
    docker = folder / "environment/Dockerfile"
    return replace(
        task,
        instruction=_joined(task, INSTRUCTION),
        docker=_parse(_text(docker, task.root)) if docker.is_file() else None,
        test=_joined(task, TEST),
        solve=_joined(task, SOLVE),
    )


def _joined(task: HarborTask, name: str) -> str:
    places = dict.fromkeys((*task.places(), ""))
    texts = (script(task.folder / place / name, task.root) for place in places)
    return "\n".join(filter(None, texts))


def script(path: Path, root: Path) -> str:
    """The text of a file; of a script also that for Windows."""
    return _text(path, root) or (
        _text(path.with_suffix(".bat"), root) if path.suffix == ".sh" else ""
    )


def _text(path: Path, root: Path) -> str:
    """A text of at most 4 MiB; "" if none is there. Raises OSError."""
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return ""
    if not path.resolve().is_relative_to(root.resolve()):
        return ""
    return path.read_text("utf-8", errors="replace")


def matches(root: Path, source: str) -> list[Path]:
    """What a source of COPY names below the folder of the image, as far as it is there."""
    name = source.removeprefix("./").strip("/")
    if name in ("", "."):
        return [root]
    if ".." in PurePosixPath(name).parts:
        return []
    paths = sorted(root.glob(name)) if any(c in name for c in "*?[") else [root / name]
    return [path for path in paths if path.exists() and not path.is_symlink()]
