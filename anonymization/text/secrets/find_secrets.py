"""Secrets in a text: keys, tokens, passwords, private keys, connection strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    colour codes inside is found with them.
    """
    if not _COLOUR.search(text):
        return _plain_secrets(text)
    plain, starts = _without_colours(text)
    return [
        replace(f, start=starts[f.start], end=starts[f.end - 1] + 1) for f in _plain_secrets(plain)
    ]


_COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;:]{0,20}m")


def _without_colours(text: str) -> tuple[str, list[int]]:
    """The text without the codes that colour a terminal, and where each character stood."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for code in [*_COLOUR.finditer(text), None]:
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
