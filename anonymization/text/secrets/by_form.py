"""Secrets that their form alone reveals.

Tokens with a provider's prefix or a known literal inside; values in a frame: private keys,
passwords in URLs and headers, the entries of a Kubernetes Secret.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.evidence import (
    BEGINS,
    BY_PREFIX,
    INFIXED,
    STARTS,
    WORD_BEGINS,
    Family,
    entropy,
    has_name_before,
    is_gibberish,
    is_mixed,
    is_placeholder,
    is_random,
)

_BY_FORM = 0.95
_GOES_ON = re.compile(r"/\Z|[a-z0-9]_\Z")  # a weak prefix in a path or a longer name
_CUT = ("*", "#", "…")  # how a token continues when its rest was blotted out


def _branch(family: Family) -> str:
    flag = "(?i:" if family.ignore_case else "(?:"
    return f"(?P<{family.group}>{flag}{family.pattern.pattern}))"


# All forms without a prefix in one scan; each begins at the start of a word.
_INFIXED = tuple(
    re.compile(begins + "(?:" + "|".join(_branch(family) for family in INFIXED) + ")")
    for begins in (WORD_BEGINS, BEGINS)
)
_BY_GROUP = {family.group: family for family in INFIXED}


def find_prefixed(text: str, folded: str) -> Iterator[Finding]:
    """Tokens that begin with a known prefix; `folded` is the text with A-Z in lower case."""
    done = 0
    for hit in STARTS[_has_escapes(text)].finditer(folded):
        if hit.start() < done:
            continue
        for prefix, family in BY_PREFIX[hit.group()]:
            end = _match(text, folded, hit.start(), prefix, family)
            if end:
                yield _finding(hit.start() + _address(prefix, text[hit.start() : end]), end, family)
                done = end
                break


def _has_escapes(text: str) -> bool:
    """May a letter or digit before a token belong to an escape?"""
    return "\\" in text or "%" in text


_WAY = re.compile(r"(?:(?:v\d|[a-z]{4,10})/)*")  # `services/` before the token


def _address(prefix: str, token: str) -> int:
    """The length of the public address of a service before a token: only the token is secret."""
    if "/" not in prefix or "." not in prefix:
        return 0
    way = _WAY.match(token, len(prefix))
    return way.end() if way else len(prefix)


def find_infixed(text: str, folded: str) -> Iterator[Finding]:
    """Tokens of a known form without a prefix."""
    for hit in _INFIXED[_has_escapes(text)].finditer(text):
        family = _BY_GROUP[hit.lastgroup or ""]
        if _accepts(family, hit.group(), folded, hit.start()):
            yield _finding(*hit.span(), family)


def _match(text: str, folded: str, start: int, prefix: str, family: Family) -> int:
    """The end of the token of this family, 0 if none begins at `start`."""
    if not family.ignore_case and not text.startswith(prefix, start):
        return 0
    rest = family.pattern.match(text, start + len(prefix))
    if rest is None or text[rest.end() : rest.end() + 1] in _CUT:
        return 0
    return rest.end() if _accepts(family, rest.group(), folded, start) else 0


def _accepts(family: Family, body: str, folded: str, start: int) -> bool:
    if family.named and not has_name_before(folded, start):
        return False
    if family.random and _GOES_ON.search(folded, max(0, start - 2), start):
        return False
    if family.entropy == 0:
        return True
    if entropy(body) < family.entropy or is_placeholder(body):
        return False
    return not family.random or is_random(body)


def _finding(start: int, end: int, family: Family) -> Finding:
    return Finding(start, end, EntityType.SECRET, f"secret.{family.name}", _BY_FORM)


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
# A line of a dump of Windows accounts: name, number, LM hash, NT hash.
_ACCOUNT_HASHES = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}(?=:::)")
# The private members of a JSON Web Key (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1).
_KEY_TYPE = re.compile(r"\\{0,3}[\"']kty\\{0,3}[\"']\s{0,3}:")
_KEY_MEMBER = re.compile(
    r"\\{0,3}[\"'](?:d|p|q|dp|dq|qi|k)\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']"
    r"(?P<value>[A-Za-z0-9_\-]{16,2000})"
)
_KEY_REACH = 4_000


def find_armoured(text: str, folded: str) -> Iterator[Finding]:
    """Private key blocks and JSON keys, user information in URLs, headers, hashes."""
    if "private key" in folded or "putty-user-key" in folded:
        yield from _keys(text)
    if "://" in text:
        yield from _user_information(text)
    if "authorization" in folded:
        yield from _headers(text)
    if ":::" in text:
        yield from (_framed(*hit.span(), "ntlm-hash") for hit in _ACCOUNT_HASHES.finditer(text))
    if "kty" in text:
        yield from _json_keys(text)


def _json_keys(text: str) -> Iterator[Finding]:
    """The private members near the type of a key; the public ones stay."""
    done = 0
    for kind in _KEY_TYPE.finditer(text):
        start = max(done, kind.start() - _KEY_REACH)
        for member in _KEY_MEMBER.finditer(text, start, kind.end() + _KEY_REACH):
            done = member.end()
            if not is_placeholder(member["value"]):
                yield _framed(*member.span("value"), "json-web-key")


def _framed(start: int, end: int, name: str) -> Finding:
    return Finding(start, end, EntityType.SECRET, f"secret.{name}", _SURE)


def _keys(text: str) -> Iterator[Finding]:
    """Keys from BEGIN to END; a key that was cut off ends where its base64 ends."""
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
            yield _framed(begin.start(), stop, "private-key")


_CLASS = re.compile(r"(?:[A-Z][a-z]{2,20}){2,6}")


def _user_information(text: str) -> Iterator[Finding]:
    for hit in _USER_INFO.finditer(text):
        if not is_placeholder(hit["password"]) and hit["password"] != hit["user"]:
            yield _framed(*hit.span("password"), "url-password")
    for hit in _TOKEN_USER.finditer(text):
        is_name = _CLASS.fullmatch(hit["password"]) is not None  # `spark://BlockManager@host`
        if not is_name and not is_placeholder(hit["password"]) and _is_token(hit["password"]):
            yield _framed(*hit.span("password"), "url-password")


def _is_token(value: str) -> bool:
    return is_random(value) or (is_mixed(value) and is_gibberish(value))


def _headers(text: str) -> Iterator[Finding]:
    for hit in _AUTHORIZATION.finditer(text):
        value = hit["value"]
        if is_placeholder(value):
            continue
        scheme = (hit["scheme"] or "").strip().lower()
        if is_mixed(value) or (scheme == "basic" and _holds_a_pair(value)):
            yield _framed(*hit.span("value"), "authorization")


def _holds_a_pair(value: str) -> bool:
    """Is it base64 of `user:password` (RFC 7617)?"""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


_ENTRY_SCORE = 0.9
_KIND = re.compile(r"kind\\{0,3}[\"']?\s{0,3}:\s{0,3}\\{0,3}[\"']?secret(?![a-z])")
_DATA = re.compile(r"(?<![\w.-])(?:string)?data\\{0,3}[\"']?\s{0,3}:\s")
_ENTRY = re.compile(
    r"[\s{,]{1,40}(?:#[^\n]{0,200}\n\s{0,40})?\\{0,3}[\"']?[\w.\-]{1,80}\\{0,3}[\"']?\s{0,3}:"
    r"[ \t]{0,3}(?:[|>][+-]?\s{1,40})?\\{0,3}[\"']?(?P<value>[A-Za-z0-9+/=]{10,8000})"
)
_KUBERNETES_REACH = 4_000


def find_kubernetes(text: str, folded: str) -> Iterator[Finding]:
    """The values under `data:` near `kind: Secret`."""
    done = 0
    for kind in _KIND.finditer(folded):
        start = max(done, kind.start() - _KUBERNETES_REACH)
        for data in _DATA.finditer(folded, start, kind.end() + _KUBERNETES_REACH):
            if data.start() < done:
                continue
            done = data.end()
            for value in _kubernetes_values(text, data.end() - 1):
                done = value.end("value")
                if not is_placeholder(value["value"]):
                    yield Finding(
                        *value.span("value"),
                        EntityType.SECRET,
                        "secret.kubernetes",
                        _ENTRY_SCORE,
                    )


def _kubernetes_values(text: str, start: int) -> Iterator[re.Match[str]]:
    """The consecutive entries from `start`."""
    entry = _ENTRY.match(text, start)
    while entry:
        yield entry
        end = entry.end() + (text[entry.end() : entry.end() + 1] in ("'", '"'))
        entry = _ENTRY.match(text, end)
