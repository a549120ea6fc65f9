"""Instances in the form of SWE-bench: a repository at a commit, a patch, tests that it mends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from construction.lint.findings import Finding, Report, Row, repeated, words_of
from data.canonical import is_hex

_KEYS = {"instance_id", "repo", "base_commit", "patch", "problem_statement"}
_COMMIT_CHARS = 40
_TELLING = 25  # characters of a line that is not written twice by chance
_ENOUGH = 3  # such lines of the patch in the statement, if they are at least half of it


def recognises(row: Row) -> bool:
    return row.keys() >= _KEYS


def lint(rows: Sequence[Row], _path: Path) -> Report:
    """What can be seen without the repositories."""
    report = Report("SWE-bench instances", len(rows))
    named = [(str(row["instance_id"]), row) for row in rows]
    report.defects += repeated([(n, n) for n, _ in named], "record.repeated_id", "the id")
    wanted = [(n, words_of(f"{row['repo']} {row['problem_statement']}")) for n, row in named]
    report.defects += repeated(wanted, "task.duplicate", "the statement")
    for name, row in named:
        report.defects += _instance(name, row)
    what = (
        "repositories and images are not available, so no tests were run before or after the patch"
    )
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _instance(name: str, row: Row) -> Iterator[Finding]:
    if not str(row["problem_statement"] or "").strip():
        yield Finding(name, "instruction.empty", "an empty problem statement")
    if not str(row["patch"] or "").strip():
        yield Finding(name, "oracle.missing", "an empty patch")
    if not is_hex(str(row["base_commit"]), _COMMIT_CHARS):
        yield Finding(name, "image.unpinned", "base_commit is not a full commit digest")
    if _is_told(str(row["patch"] or ""), str(row["problem_statement"] or "")):
        yield Finding(
            name, "solution.in_instruction", "the statement contains lines from the patch"
        )
    mended, kept = _tests(row.get("FAIL_TO_PASS")), _tests(row.get("PASS_TO_PASS"))
    if mended is not None and not mended:
        yield Finding(name, "tests.missing", "FAIL_TO_PASS lists no tests, so doing nothing passes")
    if mended and kept and mended & kept:
        yield Finding(name, "tests.contradict", "a test in both FAIL_TO_PASS and PASS_TO_PASS")


def _is_told(patch: str, statement: str) -> bool:
    added = {line[1:].strip() for line in patch.splitlines() if line.startswith("+")}
    telling = {line for line in added if len(line) >= _TELLING}
    n_lines = sum(line in statement for line in telling)
    return n_lines >= _ENOUGH and 2 * n_lines >= len(telling)


def _tests(value: Any) -> set[str] | None:
    """Names of tests: a list, or one as JSON text; None where there is none."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
    return set(map(str, value)) if isinstance(value, list) else None
