"""Secrets in a text: keys, tokens, passwords, private keys, connection strings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from anonymization.text.contracts import Finding
from anonymization.text.secrets.by_form import (
    find_armoured,
    find_infixed,
    find_kubernetes,
    find_prefixed,
)
from anonymization.text.secrets.named import find_named
from anonymization.text.secrets.unnamed import find_bare
from data.text.folding import lower_in_place


def find_secrets(text: str) -> list[Finding]:
    """The secrets in `text`, sorted, without overlap; the time is linear in its length.

    Findings that overlap, or are separated only by a colon (a user and a password), become one
    that covers them all and takes the recognizer of the one with the highest score. A token with
    colour codes inside is found with them. One that is put together of several strings, or is
    broken at the end of a line, is found in its parts, if a rule knows the form of the whole.
    """
    if _COLOUR.search(text):
        plain, starts = _without(_COLOUR, text)
        return [
            replace(f, start=starts[f.start], end=starts[f.end - 1] + 1)
            for f in _plain_secrets(plain)
        ]
    findings = _plain_secrets(text)
    return _merged(text, [*findings, *_joined_secrets(text)]) if _JOINT.search(text) else findings


# Between two strings that are put together, and at the end of a line inside a token.
_JOINT = re.compile(
    r"(?<=[A-Za-z0-9_/+=-])(?:(?P<quote>[\"'`])(?: ?[+.&] ?|[ \t]{0,4})(?:\\?\r?\n[ \t]{0,40})?"
    r"(?:[+.&] ?)?(?P=quote)|(?<=[A-Za-z0-9_-]{8})(?:\\|=)?\r?\n[ \t>|]{0,16})"
    r"(?=[A-Za-z0-9_/+=-]{3})"
)
_REACH = 300  # characters on either side of a joint


def _joined_secrets(text: str) -> Iterator[Finding]:
    """The parts of secrets across joints: each part a finding of its own."""
    done = 0
    for joint in _JOINT.finditer(text):
        start, end = max(done, joint.start() - _REACH), min(len(text), joint.end() + _REACH)
        if joint.start() < start:
            continue
        plain, starts = _without(_JOINT, text[start:end])
        folded = lower_in_place(plain)
        for whole in [*find_prefixed(plain, folded), *find_infixed(plain, folded)]:
            yield from _parts(whole, [start + offset for offset in starts])
            done = max(done, start + starts[whole.end - 1] + 1)


def _parts(whole: Finding, starts: Sequence[int]) -> Iterator[Finding]:
    """A finding in the joined text as findings in the text; none if it crosses no joint."""
    first = whole.start
    cuts = [n for n in range(whole.start + 1, whole.end) if starts[n] != starts[n - 1] + 1]
    for last in [*cuts, whole.end] if cuts else ():
        yield replace(whole, start=starts[first], end=starts[last - 1] + 1)
        first = last


_COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;:]{0,20}m")


def _without(marks: re.Pattern[str], text: str) -> tuple[str, list[int]]:
    """The text without some marks (codes that colour a terminal), and where each character was."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for code in [*marks.finditer(text), None]:
        end = code.start() if code else len(text)
        parts.append(text[at:end])
        starts += range(at, end)
        at = code.end() if code else end
    return "".join(parts), starts


def _plain_secrets(text: str) -> list[Finding]:
    folded = lower_in_place(text)
    findings = [
        *find_armoured(text, folded),
        *find_prefixed(text, folded),
        *find_infixed(text, folded),
        *find_kubernetes(text, folded),
        *find_named(text, folded),
        *find_bare(text, folded),
    ]
    return _merged(text, findings)


def _merged(text: str, findings: Iterable[Finding]) -> list[Finding]:
    merged: list[Finding] = []
    for finding in sorted(findings):
        last = merged[-1] if merged else None
        if last is None or not _touch(text, last, finding):
            merged.append(finding)
            continue
        surest = max(last, finding, key=lambda finding: (finding.score, -finding.start))
        end = max(last.end, finding.end)
        merged[-1] = Finding(last.start, end, surest.type, surest.recognizer, surest.score)
    return merged


def _touch(text: str, first: Finding, then: Finding) -> bool:
    return then.start < first.end or text[first.end : then.start] == ":"
