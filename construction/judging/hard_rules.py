"""Hard rules: made from a candidate's deliverables, as data, and checked on an output folder.

The outputs of an agent are untrusted: each file is opened in a child process of its own
(`rules_runner`) with limits on time, memory and inflation. The children only measure; the
rules are judged here, from what they saw (`rules_checks`). Nothing in a file can raise to the
caller: what crashes, hangs or unfolds is a failed rule with its reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from construction.judging.file_types import TYPES, FileType, type_of
from construction.judging.hard_rule_checks import OutputFile, RuleResult, judge_rule
from construction.judging.hard_rule_runner import Seen
from data.contracts import Deliverable, Rule, StageConfig


class RuleLimits(StageConfig):
    """Bounds of one check. Seconds are wall time; `total_seconds` holds for all files together."""

    seconds: int = 30
    total_seconds: int = 300
    memory_bytes: int = 1 << 30
    files: int = 500
    file_bytes: int = 100 << 20
    inflated_bytes: int = 300 << 20
    archive_entries: int = 10_000
    cells: int = 5_000_000
    pixels: int = 100_000_000
    pages: int = 2_000
    text_chars: int = 10_000_000


_PLACEHOLDER_KINDS = ("document", "data")
_TALKS_ABOUT_ERRORS = ("traceback", "stack trace", "stacktrace", "报错", "堆栈", "异常信息")
_TALKS_ABOUT_GAPS = ("placeholder", "todo", "tbd", "template", "{{", "占位", "模板", "待补充")


def hard_rules(deliverables: Sequence[Deliverable], request: str) -> tuple[Rule, ...]:
    """The rules that any good output keeps, whatever its content, in a fixed order.

    A request that itself speaks of tracebacks or placeholders (a bug report, a template) has
    no rule against them: its deliverable may well quote one.
    """
    rules: list[Rule] = []
    for deliverable in deliverables:
        rules += _rules_of_type(deliverable)
    known = [TYPES[item.file_type] for item in deliverables if item.file_type in TYPES]
    everything = _extensions(known) or [item.file_type for item in deliverables]
    rules.append(_rule("non_empty", everything, "No deliverable is empty."))
    words = request.lower()
    readable = _extensions([kind for kind in known if kind.opener])
    if readable and not any(word in words for word in _TALKS_ABOUT_ERRORS):
        rules.append(
            _rule("no_traceback", readable, "No deliverable holds a traceback in place of content.")
        )
    prose = _extensions([kind for kind in known if kind.kind in _PLACEHOLDER_KINDS and kind.opener])
    if prose and not any(word in words for word in _TALKS_ABOUT_GAPS):
        rules.append(
            _rule("no_placeholder", prose, "No deliverable holds an unfilled placeholder.")
        )
    return tuple(rules)


def _rules_of_type(deliverable: Deliverable) -> Iterator[Rule]:
    name, count = deliverable.file_type, deliverable.count
    kind = TYPES.get(name)
    extensions = list(kind.extensions) if kind else [name]
    yield _rule(
        f"file_type.{name}", extensions, f"There is .{name} output, and it is what it says."
    )
    yield _rule(f"count.{name}", extensions, f"At least {count} .{name} file(s).", min=count)
    if deliverable.source != "produced" and deliverable.name_hints:
        names = list(deliverable.name_hints)
        yield _rule(
            f"named.{name}", extensions, f"Named as asked: {', '.join(names)}.", names=names
        )
    if kind is not None and kind.opener:
        yield _rule(f"opens.{name}", extensions, f"Every .{name} file opens with its own library.")


def _rule(rule_id: str, extensions: list[str], text: str, **params: object) -> Rule:
    kind = rule_id.partition(".")[0]
    return Rule(rule_id=rule_id, kind=kind, params={"extensions": extensions, **params}, text=text)


def _extensions(kinds: Sequence[FileType]) -> list[str]:
    return sorted({extension for kind in kinds for extension in kind.extensions})


def check(
    rules: Sequence[Rule], output_dir: Path, limits: RuleLimits | None = None
) -> tuple[RuleResult, ...]:
    """Check every rule on the files below `output_dir`; one result per rule, in order.

    Symlinks, devices and hidden files are passed over, so they deliver nothing. Only files
    with an extension that some rule names are opened.
    """
    limits = limits or RuleLimits()
    wanted = {ext for rule in rules for ext in rule.params.get("extensions", ())}
    names = list(_walk(output_dir, limits.files + 1))
    deadline = time.monotonic() + limits.total_seconds
    outputs: list[OutputFile] = []
    for name in names[: limits.files]:
        kind = type_of(name)
        extension = name.rpartition(".")[2].lower()
        if extension not in wanted:
            continue
        remaining = deadline - time.monotonic()
        seen = _look(output_dir, name, kind, limits) if remaining > 0 else Seen("timeout")
        outputs.append(OutputFile(name, extension, seen))
    overflow = len(names) > limits.files
    return tuple(judge_rule(rule, outputs, overflow) for rule in rules)


def _walk(folder: Path, most: int) -> Iterator[str]:
    """Names of regular files below `folder`, relative, sorted, at most `most`."""
    pending = [""]
    while pending and most > 0:
        below = pending.pop()
        try:
            entries = sorted(os.scandir(folder / below), key=lambda entry: entry.name)
        except OSError:
            continue
        folders = []
        for entry in entries:
            relative = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(relative)
            elif entry.is_file(follow_symlinks=False) and most > 0:
                most -= 1
                yield relative
        pending += reversed(folders)


def _look(folder: Path, name: str, kind: FileType | None, limits: RuleLimits) -> Seen:
    """Let a child open one file. A child that dies or hangs is what the rule then reports."""
    task = {
        "folder": str(folder.resolve()),
        "name": name,
        "signatures": [start.hex() for start in kind.signatures] if kind else [],
        "binary": kind.binary if kind else True,
        "opener": kind.opener if kind else None,
        "limits": limits.model_dump(),
    }
    command = [sys.executable, "-I", "-B", "-m", "construction.judging.hard_rule_runner"]
    environment = {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as nowhere, tempfile.TemporaryFile() as answer:
        try:
            done = subprocess.run(  # noqa: S603 - our own module, no shell
                command,
                input=json.dumps(task).encode(),
                stdout=answer,
                stderr=subprocess.DEVNULL,
                cwd=nowhere,
                env=environment,
                timeout=limits.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Seen("timeout")
        answer.seek(0)
        return _read_answer(answer.read(), done.returncode)


def _read_answer(raw: bytes, status: int) -> Seen:
    if status != 0:
        return Seen("crashed")
    try:
        fields = json.loads(raw)
        return Seen(**{**fields, "placeholders": tuple(fields["placeholders"])})
    except (ValueError, TypeError, KeyError):
        return Seen("crashed")
