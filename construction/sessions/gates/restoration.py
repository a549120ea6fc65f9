"""The restoration gate: can what a redactor removed be restored from the session itself?

The rule is EnterpriseClawBench's (its "redaction gate"): a span is restored only by local
context, if what is left of a URL fits a single URL of the same host in the raw session, or
because the session holds exactly one public URL for that host. Everything else rejects.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from construction.mentions.urls import parse_url
from data.canonical import keyed_digest
from data.contracts import (
    Bound,
    Count,
    Gate,
    GateReason,
    Limit,
    Scalar,
    StageConfig,
    TaskInstance,
    UserTurn,
)
from data.text.lexicon import pattern_of
from data.text.scripts import HAN, last_sentence

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
class _RedactedSpan:
    """`text[start:end]`: a mark, or the whole URL that holds one or more marks.

    `parts` are the pieces of a URL (without its scheme) around the marks; empty if the span is
    not a URL.
    """

    start: int
    end: int
    parts: tuple[str, ...] = ()


def holds_mark(text: str) -> bool:
    """True if the text holds a redaction mark. Linear, and cheap for texts without marks."""
    return _may_hold_mark(text) and bool(_find_redactions(text))


def _may_hold_mark(text: str) -> bool:
    # Single characters come first: searching them is fastest, and most texts lack them.
    if "***" in text or "EDACT" in text or ("_" in text and "user_" in text):
        return True
    if ("[" in text or "<" in text or "%" in text or "(" in text) and (
        "edact" in text or "opaque" in text or "MASKED" in text
    ):
        return True
    return not text.isascii() and any(hint in text for hint in _HINTS_ZH)


def _find_redactions(text: str) -> tuple[_RedactedSpan, ...]:
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
            spans.append(_RedactedSpan(match.start(), match.end()))
    return tuple(sorted(spans, key=lambda span: span.start))


def _redacted_url(match: re.Match[str]) -> _RedactedSpan | None:
    whole = match.group()
    token = whole if whole.endswith("***") else whole.rstrip(_URL_TAIL)
    scheme, mark, rest = token.partition("://")
    is_web = mark and scheme.lower() in ("http", "https")
    parts = tuple(_IN_URL.split(rest if is_web else token))
    if len(parts) == 1:
        return None
    return _RedactedSpan(match.start(), match.start() + len(token), parts)


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


def _without_scheme(url: str) -> str:
    """The URL without `http://` or `https://`."""
    return _SCHEME.sub("", url, count=1)


def _host_of(url: str) -> str | None:
    """Host in lower case with port; None without a host or with credentials before it."""
    match = _AUTHORITY.match(_without_scheme(url))
    return match.group().lower() if match else None


def _is_restorable(url: str) -> bool:
    """True for http(s), no credentials in authority or query, and a host with a public name."""
    parsed = parse_url(url)
    if parsed is None or _host_of(url) is None or _SECRET.search(url):
        return False
    try:
        return ipaddress.ip_address(parsed.host).is_global
    except ValueError:
        name, dot, top_level = parsed.host.rstrip(".").rpartition(".")
        return bool(name and dot) and top_level not in _NOT_PUBLIC


class RestorationReason(GateReason):
    UNRECOVERABLE = (
        "restoration.unrecoverable",
        "A redacted span cannot be restored from anything in the session.",
    )


class _RestorationStatus(StrEnum):
    BY_CONTEXT = "restored_by_context"
    BY_HOST = "restored_by_host"
    UNRECOVERABLE = "unrecoverable"


class _MatchStrategy(StrEnum):
    """How a span was restored, or why it was not."""

    PREFIX_AND_SUFFIX = "url_prefix_and_suffix"
    PREFIX = "url_prefix"
    SUFFIX = "url_suffix"
    ONLY_URL_OF_HOST = "only_url_of_host"
    NOT_A_URL = "not_a_url"
    HOST_REDACTED = "host_redacted"
    NO_CANDIDATE = "no_candidate"
    CONTRADICTED = "context_contradicts"
    AMBIGUOUS = "ambiguous"


class RestorationConfig(StageConfig):
    """The paper allows no spans that stay redacted (EnterpriseClawBench)."""

    max_unrecoverable: Count = 0


_CONFIDENCE = {
    _MatchStrategy.PREFIX_AND_SUFFIX: 0.95,
    _MatchStrategy.PREFIX: 0.9,
    _MatchStrategy.SUFFIX: 0.9,
    _MatchStrategy.ONLY_URL_OF_HOST: 0.75,
}


_NONE = {str(status): 0 for status in _RestorationStatus}


@dataclass(frozen=True, slots=True)
class RestoredSpan:
    """One redacted span, restored or not. `value` is private and never shown.

    `field_path` names instance, turn and offsets, e.g. "user_turns[2].said[10:42]"; `turn`,
    `start` and `end` say the same as numbers (for an attachment, start and end lie in its path).
    """

    instance_id: str
    field_path: str
    status: _RestorationStatus
    confidence: float
    match_strategy: _MatchStrategy
    turn: int
    start: int
    end: int
    value: str | None = field(default=None, repr=False)


def measure(instance: TaskInstance) -> tuple[RestoredSpan, ...]:
    """Every redacted span of the user messages and attachment paths, restored where possible.

    Candidates come from `instance.session_urls`, the URLs of the raw session.
    """
    return tuple(
        _restored(instance, place, turn, span)
        for turn, place, span in _redactions(instance.user_turns)
    )


def _redactions(turns: Sequence[UserTurn]) -> Iterator[tuple[int, str, _RedactedSpan]]:
    for number, turn in enumerate(turns):
        for span in _find_redactions(turn.said):
            yield number, f"user_turns[{number}].said", span
        for position, attachment in enumerate(turn.attachments):
            # Inline media is at hand, whatever its name was.
            if attachment.path is None or attachment.data is not None:
                continue
            for span in _find_redactions(attachment.path):
                yield number, f"user_turns[{number}].attachments[{position}].path", span


def _restored(instance: TaskInstance, source: str, turn: int, span: _RedactedSpan) -> RestoredSpan:
    strategy, value = _match(span.parts, instance.session_urls)
    if value is None:
        status = _RestorationStatus.UNRECOVERABLE
    elif strategy is _MatchStrategy.ONLY_URL_OF_HOST:
        status = _RestorationStatus.BY_HOST
    else:
        status = _RestorationStatus.BY_CONTEXT
    return RestoredSpan(
        instance_id=instance.instance_id,
        field_path=f"{source}[{span.start}:{span.end}]",
        status=status,
        confidence=_CONFIDENCE.get(strategy, 0.0),
        match_strategy=strategy,
        turn=turn,
        start=span.start,
        end=span.end,
        value=value,
    )


def _match(parts: Sequence[str], session_urls: Sequence[str]) -> tuple[_MatchStrategy, str | None]:
    if not parts:
        return _MatchStrategy.NOT_A_URL, None
    host = _host_of(parts[0])
    if host is None or _runs_into_mark(parts):
        return _MatchStrategy.HOST_REDACTED, None
    same_host = [
        url
        for url in session_urls
        if _host_of(url) == host and _is_restorable(url) and not _find_redactions(url)
    ]
    if not same_host:
        return _MatchStrategy.NO_CANDIDATE, None
    fitting = _distinct(url for url in same_host if _fits(parts, _without_scheme(url)))
    if not fitting:
        return _MatchStrategy.CONTRADICTED, None
    if len(fitting) > 1:
        return _MatchStrategy.AMBIGUOUS, None
    return _strategy(parts), fitting[0]


def _runs_into_mark(parts: Sequence[str]) -> bool:
    """Was a part of the host itself removed, as in `docs.[REDACTED].com/x`?"""
    ends_host = any(mark in parts[0] for mark in "/?#")
    rest = "".join(parts[1:])
    return not ends_host and rest[:1] not in ("", "/", "?", "#")


def _distinct(urls: Iterator[str]) -> list[str]:
    """One URL for each address, the plainest: scheme, fragment and a last slash make no other."""
    values: dict[str, str] = {}
    for url in sorted(set(urls), key=lambda url: (len(_without_scheme(url)), -len(url), url)):
        values.setdefault(_without_scheme(url).partition("#")[0].rstrip("/"), url)
    return list(values.values())


def _fits(parts: Sequence[str], address: str) -> bool:
    """Does the address hold the parts in order, with at least one character for each mark?"""
    host_length = len(_host_of(address) or "")
    head, *middle, tail = parts
    if head[:host_length].lower() != address[:host_length].lower():
        return False
    if head[host_length:] != address[host_length : len(head)]:
        return False
    position, end = len(head), len(address) - len(tail)
    if not address.endswith(tail):
        return False
    for part in middle:
        position = address.find(part, position + 1, end)
        if position < 0:
            return False
        position += len(part)
    return position < end


def _strategy(parts: Sequence[str]) -> _MatchStrategy:
    has_prefix = len(parts[0].partition("/")[2]) > 0
    has_suffix = any(part.strip("/") for part in parts[1:])
    if has_prefix and has_suffix:
        return _MatchStrategy.PREFIX_AND_SUFFIX
    if has_prefix:
        return _MatchStrategy.PREFIX
    return _MatchStrategy.SUFFIX if has_suffix else _MatchStrategy.ONLY_URL_OF_HOST


def _counts(observation: Sequence[RestoredSpan]) -> dict[str, Scalar]:
    """Redacted spans, and how many of them have each status."""
    by_status = dict(_NONE)
    for span in observation:
        by_status[span.status] += 1
    return {"redacted": len(observation), **by_status}


GATE = Gate(
    name="restoration",
    stage="gates",
    section="sessions.restoration",
    meaning="Can every redacted span be restored from the session?",
    config=RestorationConfig,
    reasons=RestorationReason,
    measure=measure,
    measures=_counts,
    limits=(
        Limit(
            "max_unrecoverable",
            Bound.MAX,
            "spans",
            "At most this many redacted spans cannot be restored.",
            RestorationReason.UNRECOVERABLE,
            lambda seen: seen["unrecoverable"],
        ),
    ),
)


def audit_row(span: RestoredSpan, key: bytes) -> dict[str, Scalar]:
    """What an auditor may see of a span: the value only as a keyed hash."""
    return {
        "instance_id": span.instance_id,
        "field_path": span.field_path,
        "status": str(span.status),
        "confidence": span.confidence,
        "match_strategy": str(span.match_strategy),
        "value_hmac": None if span.value is None else keyed_digest(key, span.value),
    }


def apply(instance: TaskInstance, observation: Sequence[RestoredSpan]) -> TaskInstance:
    """The instance with each restored URL in its place, in `said` and in `text`."""
    values = {
        instance.user_turns[span.turn].said[span.start : span.end]: span.value
        for span in observation
        if span.value is not None and ".said[" in span.field_path
    }
    if not values:
        return instance
    turns = (
        replace(turn, said=_filled_in(turn.said, values), text=_filled_in(turn.text, values))
        for turn in instance.user_turns
    )
    return replace(instance, user_turns=tuple(turns))


def _filled_in(text: str, values: Mapping[str, str]) -> str:
    """The text with restored spans replaced as a whole: one may hold another, shorter one.

    What a span is restored to depends on its own text and the session's URLs alone.
    """
    parts, position = [], 0
    for span in _find_redactions(text):
        redacted = text[span.start : span.end]
        parts += [text[position : span.start], values.get(redacted, redacted)]
        position = span.end
    return "".join([*parts, text[position:]])
