"""Tokens without form and without assignment: random characters in the middle of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.cues import (
    has_name_after,
    has_name_before,
    line_after,
    line_before,
    names_a_hash,
)
from anonymization.text.secrets.table import claims_a_family, load
from anonymization.text.secrets.values import (
    entropy,
    has_uuid,
    is_gibberish,
    is_mixed,
    is_placeholder,
    is_random,
)

_WITH_NAME, _WITHOUT_NAME = 0.75, 0.6
# A run of the characters of base64 and its URL-safe kin. `=` only closes it.
_RUN = re.compile(
    r"(?<![A-Za-z0-9_+/.~%\\@#&=\-])[A-Za-z0-9_+/.~\-]{14,}={0,2}|(?<==)[A-Za-z0-9_+/.~\-]{14,}={0,2}"
)
_MAX_LENGTH, _MIN_ENTROPY = 160, 2.8
_MIN_NUMBER = 16
_SEPARATORS = re.compile(r"[-_.~]")
_MIN_PART, _MIN_CORE = 8, 11  # characters between separators; names of models have fewer
_OPEN_IDS: tuple[str, ...] = tuple(load("words.toml")["open_ids"])
_WORD = re.compile(r"(?<![\w./\\=(\[{<-])[A-Za-z]{1,15}(?![\w/\\=(\[{>-])|[一-鿿]{2}")
_MIN_WORDS = 3
_URL_REACH = 300


def find_bare(text: str, folded: str) -> Iterator[Finding]:
    """Runs that look drawn at random, unless the text around calls them a hash or an id."""
    for hit in _RUN.finditer(text):
        start = hit.start()
        run = hit.group().rstrip(".~-") if hit.group()[-1] in ".~-" else hit.group()
        end = start + len(run)
        if len(run) > _MAX_LENGTH or not _may_be_secret(run) or is_placeholder(run):
            continue
        if _is_in_url(text, start) or _is_half(text, start, end):
            continue
        if has_name_before(folded, start) or has_name_after(folded, end):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITH_NAME)
        elif _stands_alone(run, folded, start, end):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITHOUT_NAME)


def _may_be_secret(run: str) -> bool:
    if run.isdigit():
        return len(run) >= _MIN_NUMBER
    if run.startswith(_OPEN_IDS) or ("/" in run and not _is_base64(run)):
        return False
    if "." in run or claims_a_family(run):
        return False
    if max(map(len, _SEPARATORS.split(run))) < _MIN_PART:
        return False
    return is_mixed(run) and (is_random(run) or is_gibberish(run))


def _is_base64(run: str) -> bool:
    """Base64 with slashes, and not a path: every part of it looks random."""
    return (
        "-" not in run
        and "_" not in run
        and all(len(part) < 5 or is_random(part) for part in run.split("/"))
        and not run.startswith("/")
    )


def _stands_alone(run: str, folded: str, start: int, end: int) -> bool:
    """Does it stand in a sentence that calls it neither a hash nor an id?"""
    return (
        not has_uuid(run)
        and entropy(run) >= _MIN_ENTROPY
        and max(map(len, _SEPARATORS.split(run))) >= _MIN_CORE
        and _is_in_sentence(folded, start, end)
        and not names_a_hash(folded, start, end)
    )


def _is_in_sentence(folded: str, start: int, end: int) -> bool:
    around = line_before(folded, start) + " " + line_after(folded, end)
    return len(_WORD.findall(around)) >= _MIN_WORDS


def _is_half(text: str, start: int, end: int) -> bool:
    """Is it one half of `123456:token`, which the families judge as a whole?"""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return (before[:1].isdigit() and before[1:] == ":") or (
        text[end - 1].isdigit() and after[:1] == ":" and after[1:].isalnum()
    )


def _is_in_url(text: str, start: int) -> bool:
    """Does the run belong to a URL that began before it?"""
    scheme = text.rfind("://", max(0, start - _URL_REACH), start)
    return scheme >= 0 and not any(map(str.isspace, text[scheme:start]))
