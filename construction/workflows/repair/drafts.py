"""What a repair task is made of, before screening: a folder, a request, checks and mutants.

`Draw` draws by key what varies; then come constructors of checks on the state of delivered files,
and of changes that violate one of them.
"""

from __future__ import annotations

import base64
import csv
import io
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from construction.grading.state_kinds import (
    entries_digest,
    is_keeping,
    lines_digest,
    values_digest,
)
from construction.workflows.contracts import World
from data.contracts.candidate import Check
from data.randomness import keyed_generator

Item = TypeVar("Item")


class Draw:
    """Draws that belong to one draft of one generator."""

    def __init__(self, seed: int, generator: str, number: int) -> None:
        self._random = keyed_generator(seed, "repair", f"{generator}/{number}")

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self._random.integers(low, high + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.number(0, len(items) - 1)]

    def several(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many different items, in random order."""
        order = self._random.permutation(len(items))[:count]
        return [items[int(index)] for index in order]

    def instant(self, first: str = "2026-01-12", days: int = 200, hour: int = 6) -> datetime:
        """An instant in the three hours from `hour` UTC, up to `days` days after `first`.

        Without arguments: a working morning of the year 2026.
        """
        start = datetime.fromisoformat(first).replace(hour=hour, tzinfo=UTC)
        return start + timedelta(days=self.number(0, days), minutes=self.number(0, 180))

    def night(self) -> datetime:
        """An instant of a night of the year 2026, UTC."""
        return self.instant(hour=0)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file with Unix line ends."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue().encode()


def read_table(data: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file by column."""
    return list(csv.DictReader(io.StringIO(data.decode())))


def stamp(moment: datetime) -> str:
    """An instant as logs write it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


Files = Mapping[str, bytes]  # by path below `inputs/` or `outputs/`
Change = Callable[[dict[str, bytes]], None]  # of delivered files, in place


@dataclass(frozen=True, slots=True)
class RepairDraft:
    """One task of a generator.

    `rule` names the fault: siblings of a generator differ in it. `delivers` are the files that the
    prompt asks for, below `outputs/`. `mutants` has a change for each check, which turns the
    reference solution into one that violates that check and no other. `attacks` are submissions
    that look right and must not pass, besides those that every draft is put to. `world` is there if
    papers are behind a service; of these the reference reading makes `requests`, and does not find
    `unreached`.
    """

    generator: str
    rule: str
    number: int  # among the drafts of the generator, from 1
    prompt: str
    inputs: Files
    delivers: tuple[str, ...]
    checks: tuple[Check, ...]
    mutants: Mapping[str, Change]
    attacks: tuple[Files, ...] = ()
    world: World | None = None
    requests: int = 0
    unreached: tuple[str, ...] = ()


Solve = Callable[[str, Files, World | None], Files]


@dataclass(frozen=True, slots=True)
class Repair:
    """A generator of repair tasks of one kind of fault.

    `build(number, seed)` makes the draft of that number; the rules take turns. `solve(rule, inputs,
    world)` is the reference solution: it has the files and the services that an agent is given,
    knows what the fault is, and returns the delivered files. `split` is as of a scenario.
    """

    name: str
    kind: str  # one of the seven kinds of faults
    meaning: str
    task_family: str
    rules: tuple[str, ...]
    build: Callable[[int, int], RepairDraft]
    solve: Solve
    split: Literal["full", "smoke"] = "smoke"

    def start(self, number: int, seed: int) -> tuple[str, Draw]:
        """The rule of the draft of that number, and its keyed draws."""
        return self.rules[(number - 1) % len(self.rules)], Draw(seed, self.name, number)

    def draft(
        self,
        number: int,
        *,
        prompt: str,
        inputs: Files,
        delivers: tuple[str, ...],
        checks: Sequence[Check],
        mutants: Mapping[str, Change],
        rule: str | None = None,
        attacks: tuple[Files, ...] = (),
    ) -> RepairDraft:
        """The draft of that number, with weights of its checks that sum to 1."""
        return RepairDraft(
            generator=self.name,
            rule=rule or self.rules[(number - 1) % len(self.rules)],
            number=number,
            prompt=prompt,
            inputs=inputs,
            delivers=delivers,
            checks=_weighted(checks),
            mutants=mutants,
            attacks=attacks,
        )


_KEPT_SHARE = 0.2  # of the weight, for checks that nothing else was changed


def value(
    check_id: str,
    file: str,
    form: str,
    key: str,
    wanted: Any,
    text: str,
    evidence: Literal["accuracy", "action"] = "action",
) -> Check:
    """The value at a dotted key of a structured file."""
    params = {"file": file, "form": form, "key": key, "is": wanted}
    return _check(check_id, "value", params, text, evidence)


def rows(
    check_id: str,
    file: str,
    columns: Sequence[str],
    wanted: Sequence[Sequence[Any]],
    text: str,
    evidence: Literal["accuracy", "action"] = "action",
) -> Check:
    """The rows of a CSV file, in any order."""
    params = {"file": file, "columns": list(columns), "rows": [list(row) for row in wanted]}
    return _check(check_id, "rows", params, text, evidence)


def schedule(check_id: str, file: str, command: str, times: Sequence[str], text: str) -> Check:
    """When the jobs of a crontab that contain `command` are started."""
    params = {"file": file, "command": command, "times": list(times)}
    return _check(check_id, "schedule", params, text)


def entry(check_id: str, file: str, name: str, mode: int, text: str) -> Check:
    """The permission bits of a member of an archive."""
    return _check(check_id, "entry", {"file": file, "entry": name, "mode": f"{mode:o}"}, text)


def runs(
    check_id: str,
    files: Mapping[str, str | bytes],
    delivered: Mapping[str, str],
    command: str,
    after: Sequence[Mapping[str, Any]],
    text: str,
    *,
    code: int = 0,
    keeps: bool = False,
) -> Check:
    """What a command leaves, run on delivered files (path -> output) beside `files`.

    `keeps`: the inputs as they are do this already.
    """
    staged: dict[str, dict[str, str]] = {path: _source(data) for path, data in files.items()}
    staged |= {path: {"output": name} for path, name in delivered.items()}
    params: dict[str, Any] = {"files": staged, "command": command, "after": list(after)}
    params |= {"code": code} if code else {}
    params |= {"keeps": True} if keeps else {}
    return _check(check_id, "runs", params, text)


def _source(data: str | bytes) -> dict[str, str]:
    if isinstance(data, str):
        return {"text": data}
    return {"base64": base64.b64encode(data).decode()}


def printed_lines(lines: Sequence[str]) -> dict[str, Any]:
    """What a program printed is these lines; for `after`."""
    return {"kind": "lines", "params": {"file": "stdout", "is": list(lines)}}


def keeps_values(file: str, form: str, original: bytes, but: Sequence[str]) -> Check:
    """All other values of a structured file are as they were."""
    digest = values_digest(original, form, but)
    params = {"file": file, "form": form, "but": list(but), "digest": digest}
    return _check(f"kept_{_slug(file)}", "keeps_values", params, f"{file} says the same otherwise")


def keeps_lines(file: str, original: bytes, but: str) -> Check:
    """All lines of a text that the pattern `but` does not match are as they were."""
    params = {"file": file, "but": but, "digest": lines_digest(original, but)}
    return _check(f"kept_{_slug(file)}", "keeps_lines", params, f"{file} is the same otherwise")


def keeps_entries(file: str, original: bytes, but: Sequence[str]) -> Check:
    """All other members of an archive have the content and the permissions that they had."""
    params = {"file": file, "but": list(but), "digest": entries_digest(original, but)}
    return _check(f"kept_{_slug(file)}", "keeps_entries", params, f"{file} is the same otherwise")


def _slug(file: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in file)


def _check(
    check_id: str,
    kind: str,
    params: dict[str, Any],
    text: str,
    evidence: Literal["accuracy", "action"] = "action",
) -> Check:
    return Check(
        check_id=check_id, kind=kind, params=params, text=text, required=True, evidence=evidence
    )


def _weighted(checks: Sequence[Check]) -> tuple[Check, ...]:
    """The checks with weights that sum to 1: what was to be mended shares most of it."""
    kept = sum(is_keeping(check.kind, check.params) for check in checks)
    for_kept = _KEPT_SHARE if kept else 0.0
    weights = {True: for_kept / max(kept, 1), False: (1 - for_kept) / (len(checks) - kept)}
    return tuple(
        check.model_copy(update={"weight": round(weights[is_keeping(check.kind, check.params)], 9)})
        for check in checks
    )


def swap(file: str, old: str, new: str) -> Change:
    """A change of delivered files: the first `old` in a file becomes `new`."""

    def change(files: dict[str, bytes]) -> None:
        text = files[file].decode()
        if old not in text:
            raise ValueError(f"{file} does not hold {old!r}")
        files[file] = text.replace(old, new, 1).encode()

    return change


_MTIME = 1_767_225_600  # 2026-01-01T00:00:00Z


@dataclass(frozen=True, slots=True)
class Member:
    """A file (`content`) or a folder (None) with its permission bits."""

    name: str
    mode: int
    content: bytes | None = None


def tar(members: Sequence[Member]) -> bytes:
    """An archive of members in the given order, owned by root, uncompressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.mode, info.mtime = member.mode, _MTIME
            info.uname = info.gname = "root"
            if member.content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(member.content)
            archive.addfile(info, None if member.content is None else io.BytesIO(member.content))
    return buffer.getvalue()


def untar(data: bytes) -> list[Member]:
    """The files and folders of an archive."""
    members = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive:
            opened = archive.extractfile(info)
            content = opened.read() if opened is not None else None
            members.append(Member(info.name.rstrip("/"), info.mode, content))
    return members


def with_modes(data: bytes, mode_of: Callable[[Member], int]) -> bytes:
    """The archive with the permissions that `mode_of` names."""
    return tar([Member(each.name, mode_of(each), each.content) for each in untar(data)])
