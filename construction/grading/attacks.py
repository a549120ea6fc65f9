"""Submissions without work, none of which may pass, and how far a task's grader lets them come.

An attack gains the share of the deterministic weight that it earns, and all of it if it passes or
satisfies a required part. What each means depends on how the task is graded:

- `null`: nothing is answered, called or delivered. Tasks with deliverables are attacked with files
  of the right types and names too: the empty shell of each type, filler, stubs such as a table of
  `a,b` and `1,2`, the pasted prompt, a copy of an input, and the same input saved anew. A grader
  that only asks whether a file is there lets these pass.
- `talk`: the prompt restated, the reference path told as if it had been walked, and "Done.", with
  no call, no change and no file. The gold answer is left out of what is told: an answer that is
  right is no attack. If the prompt itself holds the gold, restating it must still not pass.
- `empty_calls`: the same talk, and one successful call without arguments to each tool and each
  operation of a service that the task knows. A grader that counts calls lets it pass.

A judge's parts stay unjudged. They can earn an attack nothing here, and decide nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from construction.grading.combine import deterministic_score
from construction.grading.file_look import RuleLimits, Seen, look
from construction.grading.file_types import FileType, extension_of, type_of
from construction.grading.null_files import LOREM, holding, saved_anew, shell, stub
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, RuleSpec, TaskSpec
from data.contracts.attempt import AuditRow, Call, Score, Submission

DONE = "Done. Everything was carried out as requested."
Grader = Callable[[TaskSpec, Submission], Score]


@dataclass(frozen=True, slots=True)
class Attack:
    """A submission without work. `name` tells the variants of a family apart."""

    family: str
    name: str
    submission: Submission


def attacks(
    spec: TaskSpec, tools: Sequence[str], inputs: Mapping[str, Path], folder: Path
) -> Iterator[Attack]:
    """All attacks on a task, the cheapest first.

    `tools` are those that the task offers and `inputs` its input files by the names that
    agents see; files of the attacks are written into `folder`.
    """
    yield Attack(NULL, "nothing", Submission())
    for name, outputs in _null_deliverables(spec, inputs, folder):
        yield Attack(NULL, name, Submission(answer="", outputs=str(outputs), steps=1))
    text = reference_text(spec)
    talk = Submission(answer=text, statements=((1, text),), steps=1)
    yield Attack(TALK, "reference text", talk)
    calls = tuple(
        Call(f"call-{number}", 1, name, {}, "{}") for number, name in enumerate(_tools(spec, tools))
    )
    audit = tuple(AuditRow(service, name, {}, "ok", 1) for service, name in _operations(spec))
    both = Submission(answer=text, statements=((1, text),), calls=calls, audit=audit, steps=1)
    yield Attack(EMPTY_CALLS, "reference text and empty calls", both)


def gain(score: Score) -> float:
    """What an attack achieved, from 0 to 1; 1 if it passed or satisfied a required part."""
    if score.passed or any(part.required and part.value == 1 for part in score.parts):
        return 1.0
    return deterministic_score(score.parts)


def reference_text(spec: TaskSpec) -> str:
    """The prompt, then the reference path and the checks in words, without the gold answer."""
    path = [step.text for step in spec.steps] + [check.text for check in spec.checks]
    path += [criterion.text for criterion in spec.criteria]
    gold = sorted({form for answer in spec.answers for form in (answer.value, *answer.aliases)})
    return "\n".join([spec.prompt, *(_without(line, gold) for line in path), DONE])


def _without(text: str, gold: Sequence[str]) -> str:
    for form in gold:
        if form.strip():
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "…", text, flags=re.IGNORECASE)
    return text


def _tools(spec: TaskSpec, tools: Sequence[str]) -> list[str]:
    """The tools that the task offers and those that its steps and checks name, each once."""
    named = [step.operation for step in spec.steps if step.operation]
    return list(dict.fromkeys([*tools, *named, *(name for _, name in _operations(spec))]))


def _operations(spec: TaskSpec) -> list[tuple[str, str]]:
    """Service and operation of each request that a check names, in the order of the checks."""
    requests = [
        request
        for check in spec.checks
        for request in (check.params, *check.params.get("calls", ()))
    ]
    pairs = [
        (str(request.get("service", "")), str(request["operation"]))
        for request in requests
        if request.get("operation")
    ]
    return list(dict.fromkeys(pairs))


def _null_deliverables(
    spec: TaskSpec, inputs: Mapping[str, Path], folder: Path
) -> Iterator[tuple[str, Path]]:
    """Folders of files with the names asked for, by what the files hold."""
    names = list(asked_names(spec.rules))
    if not names:
        return
    contents: dict[str, Callable[[str], bytes | None]] = {
        "empty shells": shell,
        "filler": _filler,
        "stubs": stub,
        "the prompt": lambda extension: holding(extension, spec.prompt),
    }
    for title, content in contents.items():
        files = {name: content(extension_of(name)) for name in names}
        if any(data is not None for data in files.values()):
            yield title, _written(folder / title, files)
    if inputs and not any(rule.kind == "same" for rule in spec.rules):  # else a copy is the work
        likest = {name: _likest_input(name, inputs) for name in names}
        copies = {name: inputs[source].read_bytes() for name, source in likest.items()}
        yield "a copy of an input", _written(folder / "copies", copies)
        anew = {
            name: _again(name, source, copies[name]) or copies[name]
            for name, source in likest.items()
        }
        if anew != copies:
            yield "an input saved anew", _written(folder / "anew", anew)


@lru_cache(maxsize=64)
def _filler(extension: str) -> bytes | None:
    return holding(extension, LOREM)


def _written(folder: Path, files: Mapping[str, bytes | None]) -> Path:
    """Types that hold no text are empty shells."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(shell(extension_of(name)) if data is None else data)
    return folder


def asked_names(rules: Sequence[RuleSpec]) -> Iterator[str]:
    """File names that satisfy what rules say of names, types and numbers."""
    hints = [name for rule in rules if rule.kind == "named" for name in rule.params["names"]]
    named = [name for name in map(_base, hints) if _is_writable(name)]
    yield from named
    for rule in rules:
        extensions = rule.params.get("extensions", ())
        if rule.kind == "count" and extensions:
            present = sum(extension_of(name) in extensions for name in named)
            for number in range(present, int(rule.params["min"])):
                yield f"output-{number + 1}.{extensions[0]}"


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def _is_writable(name: str) -> bool:
    """Hidden files are not graded, and a name that no file can have needs no attack."""
    return not name.startswith(".") and "\0" not in name and 0 < len(os.fsencode(name)) <= 255


def _likest_input(name: str, inputs: Mapping[str, Path]) -> str:
    """The input of the same name as a file asked for; else the first of its type; else any."""
    return min(
        inputs,
        key=lambda path: (_base(path) != name, extension_of(path) != extension_of(name), path),
    )


def _again(name: str, source: str, data: bytes) -> bytes | None:
    """The input saved anew, if the file asked for is of its type and holds what can be saved."""
    return saved_anew(extension_of(name), data) if type_of(name) == type_of(source) else None


def look_here(folder: Path, names: Sequence[str], limits: RuleLimits) -> list[Seen]:
    """What is seen in files that this project wrote itself; no process of their own is needed."""
    return [_look((folder / name).read_bytes(), type_of(name), limits) for name in names]


@lru_cache(maxsize=256)
def _look(data: bytes, kind: FileType | None, limits: RuleLimits) -> Seen:
    return look(data, kind, limits)
