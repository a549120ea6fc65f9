"""What the released files of packaged cases show, and that results are more than these files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits
from construction.grading.file_types import TYPES, extension_of, type_of
from construction.judging.contracts import Case
from construction.judging.evidence.views import look, tree_of
from data.contracts import Rule

_LIMITS = RuleLimits(total_seconds=3600, files=100_000)


def with_files(cases: Sequence[Case], files: Mapping[str, Path]) -> list[Case]:
    """The cases with views of their inputs; `files` are the contents by SHA-256.

    Deliverables of an input's type get the rule that they are more than inputs saved anew.
    """
    forms = _forms(cases, files)
    return [_with_files(case, files, forms) for case in cases]


def _with_files(case: Case, files: Mapping[str, Path], forms: Mapping[str, int]) -> Case:
    fixtures = case.candidate.fixtures
    views = look({fixture.path: files[fixture.sha256] for fixture in fixtures})
    evidence = case.evidence.model_copy(
        update={"files": views, "tree": tree_of(fixture.path for fixture in fixtures)}
    )
    candidate = case.candidate.model_copy(update={"rules": tuple(_changed(case, forms))})
    return case.model_copy(update={"evidence": evidence, "candidate": candidate})


def _changed(case: Case, forms: Mapping[str, int]) -> Iterator[Rule]:
    """For every type of input, whether it is asked for yet or not: `judge` keeps what it needs."""
    for kind in TYPES.values():
        own = {
            forms[stored]
            for fixture in case.candidate.fixtures
            if extension_of(fixture.path) in kind.extensions
            and (stored := _stored(fixture.sha256, fixture.path)) in forms
        }
        if own:
            yield Rule(
                rule_id=f"changed.{kind.name}",
                kind="changed",
                params={"extensions": list(kind.extensions), "forms": sorted(own)},
                text=f"Some .{kind.name} file is more than an input saved anew.",
            )


def _forms(cases: Sequence[Case], files: Mapping[str, Path]) -> dict[str, int]:
    """The form of each input that is no bare shell, by its stored name."""
    wanted = {
        _stored(fixture.sha256, fixture.path): files[fixture.sha256]
        for case in cases
        for fixture in case.candidate.fixtures
        if type_of(fixture.path) is not None
    }
    names = sorted(wanted)
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(wanted[name].read_bytes())
        seen = look_in_children(Path(folder), names, _LIMITS)
        return {
            name: one.form
            for name, one in zip(names, seen, strict=True)
            if one.form and not one.trouble
        }


def _stored(sha256: str, path: str) -> str:
    return f"{sha256}.{extension_of(path)}"
