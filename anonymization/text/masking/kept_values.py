"""What stays of private values because a model said so when it was shown what replaces them.

It waits for the owner; where nothing undecided may stay, it is masked like the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from anonymization.text.contracts import UNNAMED, Edit, Finding, SecondLook, Value


def allowed(second: SecondLook, private: Iterable[Value], masks_undecided: bool) -> SecondLook:
    """What may stay: nothing that is `private` by the owner's word or in another scope."""
    if masks_undecided:
        return replace(second, kept=frozenset(), parts={})
    sure = {value for _, value in private}
    parts = {value: parts for value, parts in second.parts.items() if value not in sure}
    return replace(second, kept=second.kept - sure, parts=parts)


def kept_parts(text: str, findings: Iterable[Finding], second: SecondLook) -> Iterator[Finding]:
    """The parts of findings that stay, for the owner to decide."""
    for finding in findings:
        parts = second.parts.get(text[finding.start : finding.end])
        for match in _pattern(parts).finditer(text, finding.start, finding.end) if parts else ():
            yield replace(finding, start=match.start(), end=match.end(), recognizer=UNNAMED)


def without_kept(text: str, edits: Iterable[Edit], second: SecondLook) -> Iterator[Edit]:
    """The edits of a text without values that stay, and around parts that do."""
    for edit in edits:
        old = text[edit.start : edit.end]
        if old in second.kept:
            continue
        yield from _around(edit, old, second.parts)


def _around(edit: Edit, old: str, parts: Mapping[str, tuple[str, ...]]) -> Iterator[Edit]:
    if old not in parts:
        yield edit
        return
    kept = _pattern(parts[old])
    rests, new = kept.split(old), kept.split(edit.new)
    if len(rests) != len(new):
        yield edit
        return
    at = edit.start
    stays = [*kept.findall(old), ""]
    for rest, becomes, stay in zip(rests, new, stays, strict=True):
        if rest:
            yield replace(edit, start=at, end=at + len(rest), new=becomes)
        at += len(rest) + len(stay)


def _pattern(parts: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(part) for part in sorted(parts, key=len, reverse=True)))
