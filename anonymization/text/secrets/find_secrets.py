"""Secrets in a text: keys, tokens, passwords, private keys, connection strings."""

from __future__ import annotations

from collections.abc import Iterable

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
    that covers them all and takes the recognizer of the one with the highest score.
    """
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
