"""Constructors of checks on the state of delivered files, and changes that violate one of them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from construction.grading.state_kinds import (
    entries_digest,
    is_keeping,
    lines_digest,
    values_digest,
)
from construction.workflows.repair.drafts import Change
from data.contracts.candidate import Check

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


def printed_rows(columns: Sequence[str], wanted: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """What a program printed is this table; for `after`."""
    rows = [list(row) for row in wanted]
    return {"kind": "rows", "params": {"file": "stdout", "columns": list(columns), "rows": rows}}


def printed_lines(lines: Sequence[str]) -> dict[str, Any]:
    """What a program printed is these lines; for `after`."""
    return {"kind": "lines", "params": {"file": "stdout", "is": list(lines)}}


def printed_value(key: str, wanted: Any) -> dict[str, Any]:
    """What a program printed is JSON with this value; for `after`."""
    params = {"file": "stdout", "form": "json", "key": key, "is": wanted}
    return {"kind": "value", "params": params}


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


def shared(checks: Sequence[Check]) -> tuple[Check, ...]:
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
