"""Tokens without a known form or an assignment: random characters in the middle of a text.

A UUID is a secret only in a sentence in which someone hands it over; else it is an identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.evidence import (
    claims_a_family,
    entropy,
    hands_over,
    has_inner_numbers,
    has_name_after,
    has_name_before,
    has_uuid,
    is_example,
    is_gibberish,
    is_mixed,
    is_placeholder,
    is_random,
    is_scattered,
    is_uuid,
    line_after,
    line_before,
    names_a_hash,
)
from data.text.lexicon import load_table
from data.text.scripts import HAN

_WITH_NAME, _WITHOUT_NAME = 0.75, 0.6
# A run of the characters of base64 and its URL-safe kin; `=` closes it or stands between two of
# them. Letters such as `ü` make it part of a word.
_CHAR = r"[A-Za-z0-9_+/.~\-]"
_RUN = re.compile(
    rf"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=\-])(?:{_CHAR}|=(?={_CHAR})){{14,}}={{0,2}}(?![À-ɏ])"
    rf"|(?<==){_CHAR}{{14,}}={{0,2}}(?![À-ɏ])"
)
# A password of all four kinds of characters, or a user and one: `svc:aB3…!`.
_MARKS = "!@#$%^&*?~"
_SPOKEN_MARKS = "!?*~"  # at the end they close a sentence
_PASSWORD = re.compile(
    r"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=:\-])(?:[A-Za-z][A-Za-z0-9_.\-]{0,23}:|:)?"
    rf"(?P<own>[A-Za-z0-9][A-Za-z0-9_.+-]{{0,37}}[{_MARKS}][A-Za-z0-9{_MARKS}_+&-]{{0,30}})"
    r"(?![A-Za-zÀ-ɏ0-9_/=(\[{<>\\|\-])"
)
# A short token of all three kinds of characters; only where somebody hands it over.
_SHORT_RUN = re.compile(
    r"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=:\-])[A-Za-z0-9]{10,13}(?![A-Za-zÀ-ɏ0-9_+/~%\\@#&=(\[{<\-]|\.\w)"
)
_MIN_PASSWORD = 9
_MAX_LENGTH, _MIN_ENTROPY, _MIN_NUMBER_ENTROPY = 200, 2.8, 2.4
_MIN_NUMBER = 16
_SEPARATORS = re.compile(r"[-_.~]")
_MIN_PART, _MIN_CORE = 8, 11  # characters between separators; names of models have fewer
_MIN_DOTTED, _MOST_DOTS = 10, 2
_OPEN_IDS: tuple[str, ...] = tuple(load_table(__package__, "words.toml")["open_ids"])
_WORD = re.compile(rf"(?<![\w./\\=(\[{{<-])[A-Za-z]{{1,15}}(?![\w/\\=(\[{{>-])|[{HAN}]{{2}}")
_MIN_WORDS = 3
_URL_REACH = 300
# Parts of a value that SOPS has encrypted: it opens nothing without its key.
_SEALED = re.compile(r"enc\[aes256_gcm,(?:[a-z]{2,4}:[^,\]]{0,4000},){0,3}[a-z]{2,4}:$")
_SEALED_REACH = 4_400


def find_bare(text: str, folded: str) -> Iterator[Finding]:
    """Runs that look drawn at random, unless the text around calls them a hash or an id."""
    for hit in _RUN.finditer(text):
        start, end = _own_span(hit)
        run = text[start:end]
        if len(run) > _MAX_LENGTH or not _may_be_secret(run) or is_placeholder(run):
            continue
        if _is_in_url(text, start) or _is_half(text, start, end):
            continue
        if has_uuid(run) and is_example(folded, start):
            continue
        if _SEALED.search(folded, max(0, start - _SEALED_REACH), start):
            continue
        if has_name_before(folded, start) or has_name_after(folded, end):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITH_NAME)
        elif _stands_alone(run, folded, start, end):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITHOUT_NAME)
    for hit in _SHORT_RUN.finditer(text):
        if _is_short_token(hit.group()) and _is_handed(folded, *hit.span()):
            yield Finding(*hit.span(), EntityType.SECRET, "secret.bare", _WITHOUT_NAME)
    for hit in _PASSWORD.finditer(text):
        is_password = _is_password(hit["own"]) or (
            _is_chosen(hit["own"]) and hands_over(folded, *hit.span())
        )
        if is_password and _is_in_sentence(folded, *hit.span()):
            yield Finding(*hit.span(), EntityType.SECRET, "secret.bare-password", _WITHOUT_NAME)


def _own_span(hit: re.Match[str]) -> tuple[int, int]:
    """The run without final punctuation, and without the name of a setting (`name=…`)."""
    run = hit.group()
    end = hit.end() - (run[-1] in ".~-")
    start = hit.start()
    head, equals, _ = run.rstrip("=").partition("=")
    if equals and not (is_mixed(head) and is_random(head)):
        start += len(head) + 1
    return start, end


def _may_be_secret(run: str) -> bool:
    if run.isdigit():
        return len(run) >= _MIN_NUMBER
    if is_uuid(run):  # hexadecimal groups of drawn digits need not look random
        return True
    if len(run) < _MIN_CORE or run.startswith(_OPEN_IDS):
        return False
    if ("/" in run or "+" in run) and not _is_base64(run):
        return False
    if ("." in run and not _is_dotted(run)) or claims_a_family(run):
        return False
    if is_scattered(run):
        return True
    if max(map(len, _SEPARATORS.split(run))) < _MIN_PART or not is_mixed(run):
        return False
    whole = _SEPARATORS.search(run) is None
    return is_random(run) or (whole and is_gibberish(run) and has_inner_numbers(run))


def _is_base64(run: str) -> bool:
    """Is it base64 with slashes, and not a path? All of it, or every part of it, looks random."""
    if "-" in run or "_" in run or run.startswith("/"):
        return False
    return is_scattered(run) or all(len(part) < 5 or is_random(part) for part in run.split("/"))


def _is_dotted(run: str) -> bool:
    """Has it two or three random parts, like a signed token, and unlike the path of a module?"""
    parts = run.split(".")
    return len(parts) <= _MOST_DOTS + 1 and all(
        len(part) >= _MIN_DOTTED and is_random(part) for part in parts
    )


def _stands_alone(run: str, folded: str, start: int, end: int) -> bool:
    """Is it in a sentence that calls it neither a hash nor an id?"""
    if has_uuid(run) and not hands_over(folded, start, end):
        return False
    core = max(map(len, _SEPARATORS.split(run)))
    return (
        entropy(run) >= (_MIN_NUMBER_ENTROPY if run.isdigit() else _MIN_ENTROPY)
        and (core >= _MIN_CORE or has_uuid(run) or is_scattered(run))
        and _is_in_sentence(folded, start, end)
    )


def _is_in_sentence(folded: str, start: int, end: int) -> bool:
    """Is it among words that mention neither hashes nor identifiers?"""
    around = line_before(folded, start) + " " + line_after(folded, end)
    return len(_WORD.findall(around)) >= _MIN_WORDS and not names_a_hash(folded, start, end)


def _is_password(value: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return (
        len(value) >= _MIN_PASSWORD
        and all(any(map(kind, value)) for kind in kinds)
        and is_random(value)
        and not is_placeholder(value)
    )


def _is_chosen(value: str) -> bool:
    """Is it a password that somebody chose: letters, digits and marks, and no word with a mark?"""
    return (
        len(value) >= _MIN_PASSWORD
        and is_mixed(value)
        and any(char in _MARKS for char in value[1:-1])
        and value[-1] not in _SPOKEN_MARKS
        and not is_placeholder(value)
    )


def _is_short_token(value: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return (
        all(any(map(kind, value)) for kind in kinds)
        and has_inner_numbers(value)
        and is_random(value)
        and not is_placeholder(value)
    )


def _is_handed(folded: str, start: int, end: int) -> bool:
    return hands_over(folded, start, end) and _is_in_sentence(folded, start, end)


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
