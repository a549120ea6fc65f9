"""Secrets in a frame: private keys, passwords in URLs, headers and `curl -u`."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.values import is_gibberish, is_mixed, is_placeholder, is_random

_SURE = 0.98
_MAX_KEY = 20_000
_MIN_BODY = 40
_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]: "
)
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[A-Za-z0-9+/=,.:\-\s]|\\+[nr]){0,20000}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]")
_USER_INFO = re.compile(
    r"(?<=://)(?P<user>[^\s/:@\"'<>`\\]{0,80}):(?P<password>[^\s/@\"'<>`\\]{1,160})@(?=[A-Za-z0-9_\[.$-])"
)
_TOKEN_USER = re.compile(r"(?<=://)(?P<password>[^\s/:@\"'<>`\\?#]{12,160})@(?=[A-Za-z0-9])")
_AUTHORIZATION = re.compile(
    r"authorization\\{0,3}[\"']?\s{0,3}[:=]\s{0,4}\\{0,3}[\"']?"
    r"(?P<scheme>(?:basic|bearer|token|apikey|api-key|api-token|digest)\s{1,4})?"
    r"(?P<value>[A-Za-z0-9+/=_.~@\-]{6,4000})",
    re.IGNORECASE,
)
_CURL_USER = re.compile(
    r"(?<![\w-])(?:-u|--user|--proxy-user|-U)[ \t=]{1,4}"
    r"(?P<word>(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s\"'\\]{1,200}){1,4})"
)
_CURL_REACH = 600


def find_armoured(text: str, folded: str) -> Iterator[Finding]:
    """Private key blocks, user information in URLs, authorization headers, curl users."""
    if "private key" in folded or "putty-user-key" in folded:
        yield from _keys(text)
    if "://" in text:
        yield from _user_information(text)
    if "authorization" in folded:
        yield from _headers(text)
    if "curl" in folded:
        yield from _curl_users(text, folded)


def _finding(start: int, end: int, name: str) -> Finding:
    return Finding(start, end, EntityType.SECRET, f"secret.{name}", _SURE)


def _keys(text: str) -> Iterator[Finding]:
    """From BEGIN to END; a key that was cut off goes as far as its base64 does."""
    done = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        end = _END.search(text, begin.end(), begin.end() + _MAX_KEY)
        body = _BODY.match(text, begin.end())
        stop = end.end() if end else body.end() if body else begin.end()
        inner = text[begin.end() : end.start() if end else stop]
        if len(_BASE64.findall(inner)) >= _MIN_BODY:
            done = stop
            yield _finding(begin.start(), stop, "private-key")


def _user_information(text: str) -> Iterator[Finding]:
    for hit in _USER_INFO.finditer(text):
        if not is_placeholder(hit["password"]) and hit["password"] != hit["user"]:
            yield _finding(*hit.span("password"), "url-password")
    for hit in _TOKEN_USER.finditer(text):
        if not is_placeholder(hit["password"]) and _is_token(hit["password"]):
            yield _finding(*hit.span("password"), "url-password")


def _is_token(value: str) -> bool:
    return is_random(value) or (is_mixed(value) and is_gibberish(value))


def _headers(text: str) -> Iterator[Finding]:
    for hit in _AUTHORIZATION.finditer(text):
        value = hit["value"]
        if is_placeholder(value):
            continue
        scheme = (hit["scheme"] or "").strip().lower()
        if is_mixed(value) or (scheme == "basic" and _holds_a_pair(value)):
            yield _finding(*hit.span("value"), "authorization")


def _holds_a_pair(value: str) -> bool:
    """Is it base64 of `user:password` (RFC 7617)?"""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def _curl_users(text: str, folded: str) -> Iterator[Finding]:
    for hit in _CURL_USER.finditer(text):
        if "curl" not in folded[max(0, hit.start() - _CURL_REACH) : hit.start()]:
            continue
        user, colon, password = hit["word"].replace('"', "").replace("'", "").partition(":")
        if colon and (_is_chosen(password) or (not password and _is_chosen(user))):
            yield _finding(*hit.span("word"), "curl-user")


def _is_chosen(value: str) -> bool:
    """Is it a password of somebody, and not a reference or an example?"""
    if len(value) < 6 or is_placeholder(value):
        return False
    return is_mixed(value) or is_random(value)
