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

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def find_secrets(text: str) -> list[Finding]:
    """The secrets in `text`, sorted, without overlap; the time is linear in its length.

    Findings that overlap, or that only a colon parts (a user and a password), become one, which
    covers all of them and bears the name of the surest.
    """
    folded = _folded(text)
    found = [
        *find_armoured(text, folded),
        *find_prefixed(text, folded),
        *find_infixed(text, folded),
        *find_kubernetes(text, folded),
        *find_named(text, folded),
        *find_bare(text, folded),
    ]
    return _merged(text, found)


def _folded(text: str) -> str:
    """The text in lower case, character by character."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _merged(text: str, found: Iterable[Finding]) -> list[Finding]:
    merged: list[Finding] = []
    for finding in sorted(found):
        last = merged[-1] if merged else None
        if last is None or not _touch(text, last, finding):
            merged.append(finding)
            continue
        surest = max(last, finding, key=lambda one: (one.score, -one.start))
        end = max(last.end, finding.end)
        merged[-1] = Finding(last.start, end, surest.type, surest.recognizer, surest.score)
    return merged


def _touch(text: str, first: Finding, then: Finding) -> bool:
    return then.start < first.end or text[first.end : then.start] == ":"
