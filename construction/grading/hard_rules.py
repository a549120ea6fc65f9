"""Hard rules, checked on the folder of an agent's output files.

The outputs of an agent are untrusted: each file is opened in a confined process of its own
(`file_child`) with limits on time, memory and inflation. These processes only measure; the rules
are judged here, from what was seen. Nothing in a file can raise to the caller: a file that crashes,
hangs or inflates beyond the limits fails a rule, with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from construction.grading.file_child import look_in_children, regular_files
from construction.grading.file_look import RuleLimits, Seen, read_regular, shingles, word_form
from construction.grading.file_types import extension_of, type_of
from construction.grading.openers import TooLarge
from construction.grading.spec import RuleSpec, TaskSpec
from data.contracts.attempt import ScorePart

# Hard rules on what files hold: counts, columns, sheets, texts and terms that a task fixes.
#
# Each takes the parameters of a rule and what was seen in the files of its types, and returns the
# reason for which it fails, what was observed, and the limit. Texts are compared as words, whatever
# their case and punctuation. Imports the standard library and `file_look` alone.

_WHOLE = 3  # characters; shorter terms are whole words, longer ones may be the beginnings of some


class ContentReason(StrEnum):
    """Why a rule on content failed."""

    TOO_SHORT = "rules.too_short"
    TOO_LONG = "rules.too_long"
    MISSING_TEXT = "rules.missing_text"
    MISSING_COLUMN = "rules.missing_column"
    MISSING_SHEET = "rules.missing_sheet"
    OFF_TOPIC = "rules.off_topic"
    UNCHANGED = "rules.unchanged"
    ALTERED = "rules.altered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a rule came out; `reason` is None if it is met."""

    reason: ContentReason | None = None
    observed: int | None = None
    limit: int | None = None


_ContentRule = Callable[[Mapping[str, Any], Sequence[Seen]], Outcome]


def _rows(seen: Seen) -> int:
    return max((table.rows for table in seen.tables), default=0)


_UNITS: Mapping[str, Callable[[Seen], int]] = {
    "words": lambda seen: seen.words,
    "characters": lambda seen: seen.characters,
    "pages": lambda seen: seen.pages,
    "rows": _rows,
}


def _length(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each file lies within the bounds; of rows, the longest table of the file counts."""
    least, most = params.get("min", 0), params.get("max")
    for size in map(_UNITS[params["unit"]], files):
        if size < least:
            return Outcome(ContentReason.TOO_SHORT, size, least)
        if most is not None and size > most:
            return Outcome(ContentReason.TOO_LONG, size, most)
    return Outcome()


def _holds(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each text stands in some file."""
    texts = params["texts"]
    matched = sum(any(word_form(text) in seen.text for seen in files) for text in texts)
    short = matched < len(texts)
    return Outcome(ContentReason.MISSING_TEXT if short else None, matched, len(texts))


def _columns(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each name is that of a column in some table, or is part of one."""
    headers = [
        word_form(name.replace("_", " "))
        for seen in files
        for table in seen.tables
        for name in table.columns
    ]
    names = [word_form(name.replace("_", " ")) for name in params["names"]]
    matched = sum(any(name in header for header in headers) for name in names)
    short = matched < len(names)
    return Outcome(ContentReason.MISSING_COLUMN if short else None, matched, len(names))


def _sheets(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each name is that of a sheet."""
    present = {word_form(table.name) for seen in files for table in seen.tables}
    matched = sum(word_form(name) in present for name in params["names"])
    short = matched < len(params["names"])
    return Outcome(ContentReason.MISSING_SHEET if short else None, matched, len(params["names"]))


def _mentions(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """As many files as are asked for use so many of the terms; with `figures`, a figure does too.

    The terms are words, or beginnings of words, of the request and the inputs: a text with none of
    them is about nothing.
    """
    terms, least, wanted = params["terms"], int(params["min"]), int(params.get("files", 1))
    figures = bool(params.get("figures"))
    hits = [_hits(seen, terms) + (figures and any(map(str.isdigit, seen.text))) for seen in files]
    enough = sum(count >= least for count in hits)
    reason = None if enough >= wanted else ContentReason.OFF_TOPIC
    return Outcome(reason, max(hits, default=0), least)


def _hits(seen: Seen, terms: Sequence[str]) -> int:
    return sum(uses(seen.text, term) for term in terms)


def uses(text: str, term: str) -> bool:
    """Does a `word_form` use a term, or a word that begins with it if it is not short?"""
    return f" {term}{'' if len(term) > _WHOLE else ' '}" in text


def _changed(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Some file is no input saved anew: in words, figures, formulas or look it is another."""
    same = sum(seen.form in params["forms"] for seen in files)
    return Outcome(ContentReason.UNCHANGED if same == len(files) else None, same, len(files) - 1)


def _same(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Some file is an input that was only to be renamed, moved or picked out."""
    same = sum(seen.form in params["forms"] for seen in files)
    return Outcome(None if same else ContentReason.ALTERED, same, 1)


_CONTENT_RULES: Mapping[str, _ContentRule] = {
    "length": _length,
    "holds": _holds,
    "columns": _columns,
    "sheets": _sheets,
    "mentions": _mentions,
    "changed": _changed,
    "same": _same,
}


_Scalar = int | float | str | bool | None
Look = Callable[[Path, Sequence[str], RuleLimits], list[Seen]]


class RuleReason(StrEnum):
    """Why a rule failed."""

    MISSING_FILE = "rules.missing_file"
    TOO_FEW_FILES = "rules.too_few_files"
    TOO_MANY_FILES = "rules.too_many_files"  # more than are examined
    MISSING_NAME = "rules.missing_name"
    WRONG_CONTENT = "rules.wrong_content"  # the extension says one type, the bytes another
    EMPTY_FILE = "rules.empty_file"
    DOES_NOT_OPEN = "rules.does_not_open"
    TRACEBACK = "rules.traceback"
    UNKNOWN_RULE = "rules.unknown_rule"
    # The file could not be judged within the limits, or not safely.
    ENCRYPTED = "rules.encrypted"
    TOO_LARGE = "rules.too_large"
    TOO_DEEP = "rules.too_deep"
    TIMEOUT = "rules.timeout"
    OUT_OF_MEMORY = "rules.out_of_memory"
    CRASHED = "rules.crashed"
    UNSAFE_FILE = "rules.unsafe_file"


_TROUBLES = {
    "broken": RuleReason.DOES_NOT_OPEN,
    "encrypted": RuleReason.ENCRYPTED,
    "too_large": RuleReason.TOO_LARGE,
    "too_deep": RuleReason.TOO_DEEP,
    "timeout": RuleReason.TIMEOUT,
    "out_of_memory": RuleReason.OUT_OF_MEMORY,
    "crashed": RuleReason.CRASHED,
    "unsafe_file": RuleReason.UNSAFE_FILE,
}


class _HardRule(Protocol):
    """A hard rule as data: `data.contracts.Rule` in the pool, `spec.RuleSpec` in a grader."""

    @property
    def rule_id(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def params(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class _OutputFile:
    """A file of the output folder: its relative name, its extension, and what was seen in it."""

    name: str
    extension: str
    seen: Seen


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The output files that rules ask about.

    `copies` are names of files that are byte for byte an input of the task: they deliver nothing
    and are not looked at. `overflow`: the folder holds more files than are examined.
    """

    files: tuple[_OutputFile, ...] = ()
    copies: tuple[str, ...] = ()
    overflow: bool = False


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The outcome of one rule. `file` is the first file that failed it, as a printable name."""

    rule_id: str
    kind: str
    passed: bool
    reason: str | None = None
    observed: _Scalar = None
    limit: _Scalar = None
    file: str | None = None


def check(
    rules: Sequence[_HardRule], output_dir: Path, limits: RuleLimits | None = None
) -> tuple[RuleResult, ...]:
    """Check every rule on the files below `output_dir`; one result per rule, in order."""
    outputs = _look_at_outputs(rules, output_dir, limits)
    return tuple(_judge_rule(rule, outputs.files, outputs.overflow) for rule in rules)


def _look_at_outputs(
    rules: Sequence[_HardRule],
    output_dir: Path,
    limits: RuleLimits | None = None,
    inputs: Sequence[str] = (),
    look: Look = look_in_children,
) -> _Outputs:
    """Look at the output files with an extension that some rule names, except copies of inputs.

    Symlinks, devices and hidden files are skipped, so they deliver nothing. `inputs` are SHA-256
    digests. Files with the same content and type are looked at once.
    """
    limits = limits or RuleLimits()
    wanted = {extension for rule in rules for extension in rule.params.get("extensions", ())}
    present = list(regular_files(output_dir, limits.files + 1))
    names = [name for name in present[: limits.files] if _extension(name) in wanted]
    digests = {name: _digest(output_dir, name, limits.file_bytes) or name for name in names}
    copies = tuple(name for name in names if digests[name] in inputs)
    own = [name for name in names if name not in copies]
    alike = {name: (digests[name], type_of(name)) for name in own}
    first = {content: name for name, content in reversed(alike.items())}
    todo = [name for name in own if first[alike[name]] == name]
    seen = dict(zip(todo, look(output_dir, todo, limits), strict=True))
    files = tuple(_OutputFile(name, _extension(name), seen[first[alike[name]]]) for name in own)
    return _Outputs(files, copies, len(present) > limits.files)


def _extension(name: str) -> str:
    """Its ending; the whole name of a file that has none, such as Makefile."""
    return name.rpartition("/")[2].rpartition(".")[2].lower()


def _digest(folder: Path, name: str, max_bytes: int) -> str | None:
    """The SHA-256 of a file; None if it is too large or cannot be read."""
    try:
        return hashlib.sha256(read_regular(str(folder), name, max_bytes)).hexdigest()
    except (OSError, TooLarge):
        return None


def _judge_rule(rule: _HardRule, outputs: Sequence[_OutputFile], overflow: bool) -> RuleResult:
    """Judge one rule. `overflow`: the folder holds more files than were examined."""
    judge = _content if rule.kind in _CONTENT_RULES else _JUDGES.get(rule.kind)
    if judge is None:
        return _failed(rule, RuleReason.UNKNOWN_RULE)
    if overflow:
        return _failed(rule, RuleReason.TOO_MANY_FILES)
    files = [file for file in outputs if file.extension in rule.params["extensions"]]
    if not files:
        return _failed(rule, RuleReason.MISSING_FILE, 0, rule.params.get("min", 1))
    return judge(rule, files)


def _printable(name: str) -> str:
    """A hostile file name on one line, with escapes for control characters."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    shown = "".join(
        ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in shown
    )
    return shown if len(shown) <= 120 else f"{shown[:117]}..."


def _failed(
    rule: _HardRule,
    reason: RuleReason | ContentReason,
    observed: _Scalar = None,
    limit: _Scalar = None,
    file: _OutputFile | None = None,
) -> RuleResult:
    name = _printable(file.name) if file else None
    return RuleResult(rule.rule_id, rule.kind, False, str(reason), observed, limit, name)


def _each(
    rule: _HardRule, files: Sequence[_OutputFile], fault: Callable[[Seen], RuleReason | None]
) -> RuleResult:
    """Passed if no file has the fault; `observed` counts the files that have none."""
    faults = [fault(file.seen) for file in files]
    sound = faults.count(None)
    for file, reason in zip(files, faults, strict=True):
        if reason is not None:
            return _failed(rule, reason, sound, len(files), file)
    return RuleResult(rule.rule_id, rule.kind, True, None, sound, len(files))


def _file_type(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        return None if seen.signature else RuleReason.WRONG_CONTENT

    return _each(rule, files, fault)


# After these not even the first bytes of the file are known.
_NOT_LOOKED_AT = frozenset({"timeout", "crashed", "unsafe_file"})


def _count(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    wanted = int(rule.params["min"])
    if len(files) < wanted:
        return _failed(rule, RuleReason.TOO_FEW_FILES, len(files), wanted)
    return RuleResult(rule.rule_id, rule.kind, True, None, len(files), wanted)


def _named(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    present = set(map(_base, files))
    wanted = [name.rpartition("/")[2].lower() for name in rule.params["names"]]
    there = sum(name in present for name in wanted)
    if there < len(wanted):
        return _failed(rule, RuleReason.MISSING_NAME, there, len(wanted))
    return RuleResult(rule.rule_id, rule.kind, True, None, there, len(wanted))


def _base(file: _OutputFile) -> str:
    return file.name.rpartition("/")[2].lower()


def _non_empty(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        hollow = not seen.trouble and not seen.items
        return RuleReason.EMPTY_FILE if seen.size == 0 or hollow else None

    return _each(rule, files, fault)


def _opens(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    return _each(rule, files, _trouble)


def _trouble(seen: Seen) -> RuleReason | None:
    return _TROUBLES.get(seen.trouble, RuleReason.CRASHED) if seen.trouble else None


def _no_traceback(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    return _each(
        rule,
        files,
        lambda seen: _trouble(seen) or (RuleReason.TRACEBACK if seen.traceback else None),
    )


def _content(rule: _HardRule, files: Sequence[_OutputFile]) -> RuleResult:
    """A rule on content; only files with the names that it states count, if it states any."""
    names = {name.lower() for name in rule.params.get("names_of_files", ())}
    chosen = [file for file in files if not names or _base(file) in names] or files
    outcome = _CONTENT_RULES[rule.kind](rule.params, [file.seen for file in chosen])
    if outcome.reason is not None:
        return _failed(rule, outcome.reason, outcome.observed, outcome.limit, chosen[0])
    return RuleResult(rule.rule_id, rule.kind, True, None, outcome.observed, outcome.limit)


_JUDGES: dict[str, Callable[[_HardRule, Sequence[_OutputFile]], RuleResult]] = {
    "file_type": _file_type,
    "count": _count,
    "named": _named,
    "non_empty": _non_empty,
    "opens": _opens,
    "no_traceback": _no_traceback,
}


# Output files as graded parts: every hard rule, and whether the deliverables are own work.
#
# A hard rule has no weight: EnterpriseClawBench keeps rules out of the score, so each is a column
# beside it. What a task cannot do without is the part `deliverables`: all rules hold, and enough
# files are the agent's own work. A copy of an input, the text of the prompt, filler and the empty
# shell of a file type are none.
#
# Imports the standard library, the libraries that open files and `data.contracts.attempt`.

DELIVERABLES = "deliverables"
RULE = "rule."  # starts the name of a rule's part
# A file repeats the prompt if nearly all it says is from there, it takes over much of it, and also
# its first words: text that a prompt gives to be copied or corrected comes after a request.
_FROM_PROMPT, _OF_PROMPT, _FIRST_RUNS = 0.9, 0.5, 5


class FileReason(StrEnum):
    """Why a file is not the agent's own work."""

    COPIED_INPUT = "files.copied_input"
    EMPTY_SHELL = "files.empty_shell"
    FILLER = "files.filler"
    REPEATS_PROMPT = "files.repeats_prompt"


def grade_files(
    spec: TaskSpec,
    outputs: Path | None,
    limits: RuleLimits | None = None,
    look: Look = look_in_children,
) -> tuple[ScorePart, ...]:
    """The parts of a task with hard rules, none without; `outputs` None: no file was delivered.

    Each rule is a part of weight 0, then comes the required part `deliverables`.
    """
    if not spec.rules:
        return ()
    seen = _Outputs()
    if outputs is not None:
        is_copying = any(rule.kind == "same" for rule in spec.rules)  # then a copy is the work
        inputs = () if is_copying else spec.inputs
        seen = _look_at_outputs(spec.rules, outputs, limits, inputs, look)
    results = [_judge_rule(rule, seen.files, seen.overflow) for rule in spec.rules]
    columns = [
        ScorePart(
            name=f"{RULE}{result.rule_id}",
            evidence="action",
            weight=0.0,
            value=float(result.passed),
            reason=result.reason,
            detail={"observed": result.observed, "limit": result.limit, "file": result.file},
        )
        for result in results
    ]
    broken = next((result.reason for result in results if not result.passed), None)
    reason = _not_own_work(spec, seen) or broken
    required = ScorePart(
        DELIVERABLES, "action", 0.0, float(reason is None), required=True, reason=reason
    )
    return (*columns, required)


def _not_own_work(spec: TaskSpec, seen: _Outputs) -> str | None:
    """Why own work is missing where files are there; None if it is not, or nothing is there."""
    repeats = _repeating(spec.prompt)
    faults = {file.name: _fault(file.seen, repeats) for file in seen.files}
    for rule in spec.rules:
        extensions = rule.params.get("extensions", ())
        files = [file for file in seen.files if file.extension in extensions]
        if _has_enough(rule, [file for file in files if faults[file.name] is None]):
            continue
        reasons = [reason for file in files if (reason := faults[file.name]) is not None]
        if reasons:
            return reasons[0]
        if any(extension_of(name) in extensions for name in seen.copies):
            return FileReason.COPIED_INPUT
    return None


def _has_enough(rule: RuleSpec, own: Sequence[_OutputFile]) -> bool:
    """Are there as many files of own work as a rule counts, with the names that it asks for?"""
    if rule.kind == "named":
        present = {_base_of(file.name) for file in own}
        return all(_base_of(name) in present for name in rule.params["names"])
    return len(own) >= int(rule.params.get("min", 1))


def _base_of(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _fault(seen: Seen, repeats: Callable[[Seen], bool]) -> str | None:
    if seen.is_shell:
        return FileReason.EMPTY_SHELL
    if seen.is_filler:
        return FileReason.FILLER
    return FileReason.REPEATS_PROMPT if repeats(seen) else None


def _repeating(prompt: str) -> Callable[[Seen], bool]:
    """Whether the text of a file is merely that of the prompt."""
    runs = shingles(prompt)
    distinct, first = frozenset(runs), frozenset(runs[:_FIRST_RUNS])

    def repeats(seen: Seen) -> bool:
        if not distinct or not seen.shingles or not first.issubset(seen.shingles):
            return False
        common = len(distinct.intersection(seen.shingles))
        return common >= _FROM_PROMPT * len(seen.shingles) and common >= _OF_PROMPT * len(distinct)

    return repeats
