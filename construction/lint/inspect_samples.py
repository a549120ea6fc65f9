"""Samples in the form of Inspect: `input, target, choices, id, files`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from construction.lint.findings import Finding, Report, Row, repeated, words_of

_KEYS = ("input", "target", "choices", "id", "metadata", "files", "setup", "sandbox")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*%?")
_PATH = re.compile(r"[\w./-]+\.[A-Za-z]\w{0,5}")
_SHORT = 400  # characters: longer inputs are passages, which hold their answers on purpose
_OFTEN, _FEW = 0.3, 10  # share of samples, and number of them, from which this looks meant


def recognises(row: Row) -> bool:
    """Has it an input, and no keys that Inspect's `Sample` lacks? (`target` may be absent.)"""
    return "input" in row and row.keys() <= {*_KEYS} and len(row) > 1


def lint(rows: Sequence[Row], path: Path) -> Report:
    """The faults of samples; `path` is their file, beside which the files of samples lie."""
    report = Report("samples of Inspect", len(rows))
    named = [(str(row.get("id", f"#{number}")), row) for number, row in enumerate(rows, 1)]
    ids = [(name, name) for name, row in named if "id" in row]
    report.defects += repeated(ids, "record.repeated_id", "the id")
    wanted = [(name, words_of(f"{row.get('input')} {row.get('files', '')}")) for name, row in named]
    report.defects += repeated(wanted, "task.duplicate", "the input")
    holding = [Finding(name, "answer.in_question", "the question contains the answer")
               for name, row in named if _holds_answer(row)]  # fmt: skip
    if len(named) >= _FEW and len(holding) > _OFTEN * len(named):
        what = (
            f"{len(holding)} of {len(named)} inputs contain their target: intended, or given away"
        )
        report.unchecked.append(Finding("", "answer.in_question", what))
    else:
        report.defects += holding
    has_targets = any(not _is_empty(row.get("target")) for _, row in named)
    if not has_targets:
        what = "no sample has a target; the scorer decides without one"
        report.unchecked.append(Finding("", "answer.empty", what))
    for name, row in named:
        report.defects += _sample(name, row, path.parent, has_targets=has_targets)
    report.unchecked.append(
        Finding(
            "", "grader", "the scorer is not part of the dataset, so nothing was solved or attacked"
        )
    )
    return report


def _sample(name: str, row: Row, folder: Path, *, has_targets: bool) -> Iterator[Finding]:
    if _is_empty(row.get("input")):
        yield Finding(name, "record.no_input", "an empty input")
    target, choices = row.get("target"), row.get("choices")
    if _is_empty(target) and has_targets:
        yield Finding(name, "answer.empty", "an empty target")
    elif isinstance(choices, list) and choices:
        for each in target if isinstance(target, list) else [target]:
            if not _is_choice(str(each), choices):
                yield Finding(name, "answer.no_choice", "the target is not one of the choices")
    files = row.get("files")
    for value in files.values() if isinstance(files, dict) else ():
        if isinstance(value, str) and _is_lost(value, folder):
            yield Finding(name, "fixture.missing", f"file missing: {value}")


def _is_empty(value: Any) -> bool:
    return value is None or not str(value).strip() or value == []


def _is_choice(target: str, choices: Sequence[Any]) -> bool:
    """A letter of the list, or one of its texts."""
    letters = {chr(ord("A") + place) for place in range(min(len(choices), 26))}
    return target.strip().upper() in letters or target.strip() in {str(c).strip() for c in choices}


def _is_lost(value: str, folder: Path) -> bool:
    """A relative path that leads to no file; texts and data URIs stand for themselves."""
    path = PurePosixPath(value)
    if not _PATH.fullmatch(value) or path.is_absolute() or ".." in path.parts:
        return False
    return not (folder / path).exists()


def _holds_answer(row: Row) -> bool:
    """Does a short question hold the number that it asks for? Names may be those wanted about."""
    text, target = row.get("input"), row.get("target")
    if not isinstance(text, str) or not isinstance(target, str | int | float) or row.get("choices"):
        return False
    number = str(target).strip()
    if isinstance(target, bool) or not _NUMBER.fullmatch(number) or len(number) < 2:
        return False
    return len(text) <= _SHORT and bool(
        re.search(rf"(?<![\w.,]){re.escape(number)}(?![\w%])(?![.,]\d)", text)
    )
