"""The restoration gate: can what a redactor removed be restored from the session itself?

The rule is EnterpriseClawBench's (its "redaction gate"): a span is restored only by local
context, if what is left of a URL fits a single URL of the same host in the raw session, or
because the session holds exactly one public URL for that host. Everything else rejects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from construction.sessions.redactions import (
    RedactedSpan,
    find_redactions,
    host_of,
    is_restorable,
    without_scheme,
)
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


class RestorationReason(GateReason):
    UNRECOVERABLE = (
        "restoration.unrecoverable",
        "A redacted span cannot be restored from anything in the session.",
    )


class RestorationStatus(StrEnum):
    BY_CONTEXT = "restored_by_context"
    BY_HOST = "restored_by_host"
    UNRECOVERABLE = "unrecoverable"


class MatchStrategy(StrEnum):
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
    MatchStrategy.PREFIX_AND_SUFFIX: 0.95,
    MatchStrategy.PREFIX: 0.9,
    MatchStrategy.SUFFIX: 0.9,
    MatchStrategy.ONLY_URL_OF_HOST: 0.75,
}


_NONE = {str(status): 0 for status in RestorationStatus}


@dataclass(frozen=True, slots=True)
class RestoredSpan:
    """One redacted span, restored or not. `value` is private and never shown.

    `field_path` names instance, turn and offsets, e.g. "user_turns[2].said[10:42]"; `turn`,
    `start` and `end` say the same as numbers (for an attachment, start and end lie in its path).
    """

    instance_id: str
    field_path: str
    status: RestorationStatus
    confidence: float
    match_strategy: MatchStrategy
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


def _redactions(turns: Sequence[UserTurn]) -> Iterator[tuple[int, str, RedactedSpan]]:
    for number, turn in enumerate(turns):
        for span in find_redactions(turn.said):
            yield number, f"user_turns[{number}].said", span
        for position, attachment in enumerate(turn.attachments):
            # Inline media is at hand, whatever its name was.
            if attachment.path is None or attachment.data is not None:
                continue
            for span in find_redactions(attachment.path):
                yield number, f"user_turns[{number}].attachments[{position}].path", span


def _restored(instance: TaskInstance, source: str, turn: int, span: RedactedSpan) -> RestoredSpan:
    strategy, value = _match(span.parts, instance.session_urls)
    if value is None:
        status = RestorationStatus.UNRECOVERABLE
    elif strategy is MatchStrategy.ONLY_URL_OF_HOST:
        status = RestorationStatus.BY_HOST
    else:
        status = RestorationStatus.BY_CONTEXT
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


def _match(parts: Sequence[str], session_urls: Sequence[str]) -> tuple[MatchStrategy, str | None]:
    if not parts:
        return MatchStrategy.NOT_A_URL, None
    host = host_of(parts[0])
    if host is None or _runs_into_mark(parts):
        return MatchStrategy.HOST_REDACTED, None
    same_host = [
        url
        for url in session_urls
        if host_of(url) == host and is_restorable(url) and not find_redactions(url)
    ]
    if not same_host:
        return MatchStrategy.NO_CANDIDATE, None
    fitting = _distinct(url for url in same_host if _fits(parts, without_scheme(url)))
    if not fitting:
        return MatchStrategy.CONTRADICTED, None
    if len(fitting) > 1:
        return MatchStrategy.AMBIGUOUS, None
    return _strategy(parts), fitting[0]


def _runs_into_mark(parts: Sequence[str]) -> bool:
    """Was a part of the host itself removed, as in `docs.[REDACTED].com/x`?"""
    ends_host = any(mark in parts[0] for mark in "/?#")
    rest = "".join(parts[1:])
    return not ends_host and rest[:1] not in ("", "/", "?", "#")


def _distinct(urls: Iterator[str]) -> list[str]:
    """One URL for each address, the plainest: scheme, fragment and a last slash make no other."""
    values: dict[str, str] = {}
    for url in sorted(set(urls), key=lambda url: (len(without_scheme(url)), -len(url), url)):
        values.setdefault(without_scheme(url).partition("#")[0].rstrip("/"), url)
    return list(values.values())


def _fits(parts: Sequence[str], address: str) -> bool:
    """Does the address hold the parts in order, with at least one character for each mark?"""
    host_length = len(host_of(address) or "")
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


def _strategy(parts: Sequence[str]) -> MatchStrategy:
    has_prefix = len(parts[0].partition("/")[2]) > 0
    has_suffix = any(part.strip("/") for part in parts[1:])
    if has_prefix and has_suffix:
        return MatchStrategy.PREFIX_AND_SUFFIX
    if has_prefix:
        return MatchStrategy.PREFIX
    return MatchStrategy.SUFFIX if has_suffix else MatchStrategy.ONLY_URL_OF_HOST


def counts(observation: Sequence[RestoredSpan]) -> dict[str, Scalar]:
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
    measures=counts,
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
    for span in find_redactions(text):
        redacted = text[span.start : span.end]
        parts += [text[position : span.start], values.get(redacted, redacted)]
        position = span.end
    return "".join([*parts, text[position:]])
