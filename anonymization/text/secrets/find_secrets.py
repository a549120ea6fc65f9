"""Secrets in a text: keys, tokens, passwords, private keys, connection strings."""

from __future__ import annotations

import re
from bisect import bisect_left
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
        plain, starts = _without(list(_COLOUR.finditer(text)), text, 0, len(text))
        return [
            replace(f, start=starts[f.start], end=starts[f.end - 1] + 1)
            for f in _plain_secrets(plain)
        ]
    findings = _plain_secrets(text)
    return _merged(text, [*findings, *_joined_secrets(text, findings)])


# Between two strings that are put together, and at the end of a line inside a token.
_JOINT = re.compile(
    r"(?<=[A-Za-z0-9_/+=-])(?:(?P<quote>[\"'`])(?: ?[+.&] ?|[ \t]{0,4})(?:\\?\r?\n[ \t]{0,40})?"
    r"(?:[+.&] ?)?(?P=quote)|(?<=[A-Za-z0-9_-]{8})(?:\\|=)?\r?\n[ \t>|]{0,16}"
    r"(?=[A-Za-z0-9_/+=-]{0,60}[0-9A-Z]))"
    r"(?=[A-Za-z0-9_/+=-]{3})"
)
_LAST_WORD = re.compile(r"[A-Za-z0-9_.-]{12,140}\Z")
_KEY_BEGINNING = re.compile(
    r"(?=[^0-9]{0,40}[0-9])(?:[A-Za-z]{2,12}[0-9]{0,2}[_-]|AKIA|ASIA|AIza|eyJ|SG\.|ya29)"
)
_REACH = 300  # characters on either side of a joint


def _joined_secrets(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The parts of secrets across joints: each part a finding of its own.

    What is found as a whole at the end of a line does not go on in the next.
    """
    ends = {finding.end for finding in findings}
    joints = [
        joint
        for joint in _JOINT.finditer(text)
        if joint["quote"] or (joint.start() not in ends and _begins_a_key(text, joint.start()))
    ]
    begins = [joint.start() for joint in joints]
    done = 0
    for joint in joints:
        start, end = max(done, joint.start() - _REACH), min(len(text), joint.end() + _REACH)
        if joint.start() < start:
            continue
        within = [
            inner
            for inner in joints[bisect_left(begins, start) : bisect_left(begins, end)]
            if inner.end() <= end
        ]
        plain, starts = _without(within, text, start, end)
        folded = lower_in_place(plain)
        for whole in [
            *find_prefixed(plain, folded),
            *find_infixed(plain, folded),
            *find_bare(plain, folded),
        ]:
            yield from _parts(whole, starts)
            done = max(done, starts[whole.end - 1] + 1)


def _begins_a_key(text: str, end: int) -> bool:
    """Does the last word of a line look like the beginning of a key: a prefix, then digits?"""
    word = _LAST_WORD.search(text, max(0, end - _REACH // 2), end)
    return word is not None and _KEY_BEGINNING.match(word.group()) is not None


def _parts(whole: Finding, starts: Sequence[int]) -> Iterator[Finding]:
    """A finding in the joined text as findings in the text; none if it crosses no joint."""
    first = whole.start
    cuts = [n for n in range(whole.start + 1, whole.end) if starts[n] != starts[n - 1] + 1]
    for last in [*cuts, whole.end] if cuts else ():
        yield replace(whole, start=starts[first], end=starts[last - 1] + 1)
        first = last


_COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;:]{0,20}m")


def _without(
    marks: Sequence[re.Match[str]], text: str, at: int, last: int
) -> tuple[str, list[int]]:
    """`text[at:last]` without some marks (codes that colour a terminal, say), and where each
    character was."""
    parts: list[str] = []
    starts: list[int] = []
    for code in [*marks, None]:
        end = code.start() if code else last
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
