"""What the released files of packaged cases show, and that no output may be one saved anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.content_rules import text_key
from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits
from construction.grading.file_types import TYPES, extension_of
from construction.judging.contracts import Case
from construction.judging.evidence.views import look, tree_of
from data.contracts import Rule

_LIMITS = RuleLimits(total_seconds=3600, files=100_000)


def with_files(cases: Sequence[Case], files: Mapping[str, Path]) -> list[Case]:
    """The cases with views of their inputs; `files` are the contents by SHA-256.

    A deliverable of an input's type under another name gets the rule that it is no copy of it.
    """
    keys = _text_keys(cases, files)
    return [_with_files(case, files, keys) for case in cases]


def _with_files(case: Case, files: Mapping[str, Path], keys: Mapping[str, int]) -> Case:
    fixtures = case.candidate.fixtures
    views = look({fixture.path: files[fixture.sha256] for fixture in fixtures})
    evidence = case.evidence.model_copy(
        update={"files": views, "tree": tree_of(fixture.path for fixture in fixtures)}
    )
    known = {rule.rule_id for rule in case.candidate.rules}
    rules = [rule for rule in _changed(case, keys) if rule.rule_id not in known]
    candidate = case.candidate.model_copy(update={"rules": (*case.candidate.rules, *rules)})
    return case.model_copy(update={"evidence": evidence, "candidate": candidate})


def _changed(case: Case, keys: Mapping[str, int]) -> list[Rule]:
    given = {fixture.path.rpartition("/")[2] for fixture in case.candidate.fixtures}
    rules = []
    for item in case.candidate.deliverables:
        kind = TYPES.get(item.file_type)
        if kind is None or not given.isdisjoint(item.name_hints):
            continue
        same = sorted(
            {
                keys[_stored(fixture.sha256, fixture.path)]
                for fixture in case.candidate.fixtures
                if extension_of(fixture.path) in kind.extensions
                and _stored(fixture.sha256, fixture.path) in keys
            }
        )
        if same:
            params = {"extensions": list(kind.extensions), "keys": same}
            text = f"No .{kind.name} file says just what an input says."
            rule_id = f"changed.{kind.name}"
            rules.append(Rule(rule_id=rule_id, kind="changed", params=params, text=text))
    return rules


def _text_keys(cases: Sequence[Case], files: Mapping[str, Path]) -> dict[str, int]:
    """A key of the words of each input of a type that is also delivered, by its stored name."""
    wanted: dict[str, Path] = {}
    for case in cases:
        requested = {item.file_type for item in case.candidate.deliverables}
        types = {ext for kind in requested & TYPES.keys() for ext in TYPES[kind].extensions}
        for fixture in case.candidate.fixtures:
            if extension_of(fixture.path) in types:
                wanted[_stored(fixture.sha256, fixture.path)] = files[fixture.sha256]
    names = sorted(wanted)
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(wanted[name].read_bytes())
        seen = look_in_children(Path(folder), names, _LIMITS)
        return {
            name: text_key(one.text)
            for name, one in zip(names, seen, strict=True)
            if one.words and not one.trouble
        }


def _stored(sha256: str, path: str) -> str:
    return f"{sha256}.{extension_of(path)}"
