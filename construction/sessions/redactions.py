"""Finds redaction marks and the URLs that hold them; decides which URLs may be restored.

The patterns below list the forms of marks. A bare `***` is a patch marker or Markdown, and
`... (truncated)` hides nothing: neither counts as a mark. Nor does a mark that the sentence only
talks about ("replace every name with [REDACTED]").

A URL may be restored if it is public and contains no secret. Only its text is examined; whether
the probe may connect to its address is decided after name resolution (`network.transport`).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from construction.mentions.urls import parse_url
from data.text.lexicon import pattern_of
from data.text.scripts import HAN
from data.text.sentences import last_sentence

_HINTS_ZH = ("脱敏", "已隐", "已屏蔽", "已打码", "已涂黑", "已遮", "已删除")

_MARK = (
    r"\[(?:[A-Za-z0-9]{1,20}[_:\-]){0,3}(?i:redacted)(?:[_:\-][\w.\-]{1,60}){0,3}\]"
    r"|\[(?:[A-Z0-9_]{1,20} ){0,3}REDACTED(?: [A-Z0-9_]{1,20}){0,3}\]"
    r"|<(?:[A-Za-z0-9]{1,20}[_:\-]){0,3}(?i:redacted)(?:[_:\-][\w.\-]{1,60}){0,3}/?>"
    r"|[\[<(](?:[A-Z]{1,20}[_ ]){0,2}MASKED[\])>]"
    r"|(?i:%5B|%3C|%7B)(?i:redacted)(?:[_:\-][\w.\-]{1,60})?(?i:%5D|%3E|%7D)"
    # Without brackets only as a value (`key=REDACTED`) or with a type (`REDACTED_TOKEN`).
    r"|(?<=[=/:])REDACTED(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])(?:REDACTED(?:_[A-Z0-9]{1,20}){1,3}|(?:[A-Z]{2,12}_){1,3}REDACTED)"
    r"(?![A-Za-z0-9_])"
    r"|<opaque>"
    r"|(?<![A-Za-z0-9_])user_[0-9a-f]{8}(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9])(?:sk|pk|rk|ghp|gho|xoxb|xoxp|AKIA)[-_]?[A-Za-z0-9]{0,8}[-_]?\*{4,}"
    rf"|[\[【<][{HAN}]{{0,8}}(?:已(?:脱敏|隐去|隐藏|屏蔽|打码|涂黑|遮盖|遮挡)|脱敏)"
    rf"[{HAN}]{{0,8}}[\]】>]"
    rf"|[\[【<](?:链接|网址|地址|姓名|电话|手机号|邮箱|隐私|敏感)[{HAN}]{{0,6}}已删除[\]】>]"
)
_STARS = r"\*{3,}"  # only inside a URL
_ANY = pattern_of(_MARK)
_IN_URL = pattern_of(f"{_MARK}|{_STARS}")
_URL_CHAR = rf"[^\s<>\"'`|\\^{{}}\[\]()*\u2018-\u201f\u3000-\u303f{HAN}\uff00-\uffef]"
_URL = pattern_of(
    r"(?:(?i:https?)://|(?<![\w@.\-/])(?:[A-Za-z0-9\-]{1,63}\.){1,6}[A-Za-z]{2,24}(?::\d{1,5})?/)"
    f"(?:{_MARK}|{_STARS}|{_URL_CHAR})+"
)
_URL_TAIL = ".,;:!?*"

_OPENING = "\"'`“‘「『《"
_MASKING = pattern_of(
    r"(?i)\b(?:replac|mask|redact|substitut|censor|anonymi[sz]|obfuscat|scrub|swap|placeholder)"
    r"|替换|脱敏|打码|屏蔽|占位|匿名|改成|改为|换成"
)
_QUOTING = pattern_of(
    r"(?i)\b(?:literal|string|pattern|regex|marker|tag|says?|shows?|mean|appears?|prints?|word)\b"
    r"|正则|字符串|标记|显示|字样|什么意思|意思"
)
_LEADS_IN = pattern_of(r"(?i)(?:\b(?:with|as|by|to|like|into)\b[^.,;]{0,30}|(?:为|成|用)\s*)$")
_LOOK_BACK = 160


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """`text[start:end]`: a mark, or the whole URL that holds one or more marks.

    `parts` are the pieces of a URL (without its scheme) around the marks; empty if the span is
    not a URL.
    """

    start: int
    end: int
    parts: tuple[str, ...] = ()


def holds_mark(text: str) -> bool:
    """True if the text holds a redaction mark. Linear, and cheap for texts without marks."""
    return _may_hold_mark(text) and bool(find_redactions(text))


def _may_hold_mark(text: str) -> bool:
    # Single characters come first: searching them is fastest, and most texts lack them.
    if "***" in text or "EDACT" in text or ("_" in text and "user_" in text):
        return True
    if ("[" in text or "<" in text or "%" in text or "(" in text) and (
        "edact" in text or "opaque" in text or "MASKED" in text
    ):
        return True
    return not text.isascii() and any(hint in text for hint in _HINTS_ZH)


def find_redactions(text: str) -> tuple[RedactedSpan, ...]:
    """Redacted spans in order; a URL that holds marks is one span."""
    if not _may_hold_mark(text):
        return ()
    urls = [span for match in _URL.finditer(text) if (span := _redacted_url(match))]
    spans, position = list(urls), 0
    for match in _ANY.finditer(text):
        while position < len(urls) and urls[position].end <= match.start():
            position += 1
        inside = position < len(urls) and urls[position].start <= match.start()
        if not inside and not _is_talked_about(text, match.start(), match.end()):
            spans.append(RedactedSpan(match.start(), match.end()))
    return tuple(sorted(spans, key=lambda span: span.start))


def _redacted_url(match: re.Match[str]) -> RedactedSpan | None:
    whole = match.group()
    token = whole if whole.endswith("***") else whole.rstrip(_URL_TAIL)
    scheme, mark, rest = token.partition("://")
    is_web = mark and scheme.lower() in ("http", "https")
    parts = tuple(_IN_URL.split(rest if is_web else token))
    if len(parts) == 1:
        return None
    return RedactedSpan(match.start(), match.start() + len(token), parts)


def _is_talked_about(text: str, start: int, end: int) -> bool:
    sentence = last_sentence(text[max(0, start - _LOOK_BACK) : start])
    quoted = sentence.endswith(tuple(_OPENING))
    lead = _ANY.sub(" ", sentence.rstrip(_OPENING))
    if _MASKING.search(lead):
        return quoted or bool(_LEADS_IN.search(lead))
    around = lead + text[end : end + 40]
    return quoted and bool(_QUOTING.search(around))


_SCHEME = pattern_of(r"^(?i:https?)://")
# The whole authority: it must end where the path begins, or with the text.
_AUTHORITY = pattern_of(
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[^\s/?#:@\[\]]{1,253})(?::\d{1,5})?(?=[/?#]|$)"
)
# Top-level names that resolve only on a private network, or not at all.
_NOT_PUBLIC = frozenset(
    (
        "local", "localhost", "internal", "intranet", "lan", "home", "corp", "private", "test",
        "invalid", "arpa", "onion",
    )
)  # fmt: skip
_SECRET = pattern_of(
    r"(?i)[?&#;](?:access_?token|refresh_?token|id_?token|token|api_?key|app_?key|secret|sig|"
    r"signature|password|passwd|pwd|auth|session_?id|x-amz-signature|x-amz-credential)="
)


def without_scheme(url: str) -> str:
    """The URL without `http://` or `https://`."""
    return _SCHEME.sub("", url, count=1)


def host_of(url: str) -> str | None:
    """Host in lower case with port; None without a host or with credentials before it."""
    match = _AUTHORITY.match(without_scheme(url))
    return match.group().lower() if match else None


def is_restorable(url: str) -> bool:
    """True for http(s), no credentials in authority or query, and a host with a public name."""
    parsed = parse_url(url)
    if parsed is None or host_of(url) is None or _SECRET.search(url):
        return False
    try:
        return ipaddress.ip_address(parsed.host).is_global
    except ValueError:
        name, dot, top_level = parsed.host.rstrip(".").rpartition(".")
        return bool(name and dot) and top_level not in _NOT_PUBLIC
