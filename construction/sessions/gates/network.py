"""Network gate: every URL that a person gave must answer (EnterpriseClawBench, app. B).

The probe at the edge (`construction.sessions.network`) finds out what each URL does and leaves a
`ProbeResult`; here the results of one instance are counted and judged, without any IO.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from construction.mentions.urls import find_urls, normalise
from data.contracts import (
    Bound,
    Gate,
    GateReason,
    Limit,
    MissingInput,
    MissingKind,
    StageConfig,
    Status,
    TaskInstance,
)


class NetworkReason(GateReason):
    """Why the gate failed, or could not say. Ordered: the first that applies is given."""

    UNREACHABLE = "network.unreachable", "A URL does not respond."
    FORBIDDEN_ADDRESS = (
        "network.forbidden_address",
        "A URL leads to a private address, which is never requested.",
    )
    BAD_URL = "network.bad_url", "A URL is malformed or uses a port that is never requested."
    ONE_TIME_PATH = "network.one_time_path", "A URL works only once, so it was not requested."
    NOT_FROZEN = "network.not_frozen", "The page at a URL is too large to be stored."
    NOT_CHECKED = (
        "network.not_checked",
        "A URL was not checked: this machine has no network access.",
    )
    OFFLINE = "network.offline", "A URL was not checked: the settings disable network access."


class Reach(StrEnum):
    """What is known of a URL."""

    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"
    UNVERIFIED = "unverified"


class Cause(StrEnum):
    """What exactly kept a URL from being reachable."""

    FORBIDDEN_ADDRESS = "forbidden_address"  # private, loopback, metadata, …, in any notation
    MALFORMED = "malformed"  # no client could request it
    FORBIDDEN_PORT = "forbidden_port"
    NO_SUCH_HOST = "no_such_host"
    NO_CONNECTION = "no_connection"
    TLS = "tls"  # no valid certificate, or no common protocol
    TIMEOUT = "timeout"
    BROKEN_RESPONSE = "broken_response"  # not HTTP, cut off, or oversized headers
    HTTP_STATUS = "http_status"  # anything but 2xx, to every attempt
    BAD_REDIRECT = "bad_redirect"  # to something other than http(s)
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    ONE_TIME_PATH = "one_time_path"
    TOO_LARGE = "too_large"  # answered, but too large to freeze
    NO_NETWORK = "no_network"  # this machine has no way out, or no working resolver
    OFFLINE = "offline"


_REASONS: Mapping[Cause, NetworkReason] = {
    Cause.FORBIDDEN_ADDRESS: NetworkReason.FORBIDDEN_ADDRESS,
    Cause.MALFORMED: NetworkReason.BAD_URL,
    Cause.FORBIDDEN_PORT: NetworkReason.BAD_URL,
    Cause.ONE_TIME_PATH: NetworkReason.ONE_TIME_PATH,
    Cause.TOO_LARGE: NetworkReason.NOT_FROZEN,
    Cause.NO_NETWORK: NetworkReason.NOT_CHECKED,
    Cause.OFFLINE: NetworkReason.OFFLINE,
}
# What is never requested has not been found dead: whether the work needs it, or merely mentions it,
# is for whoever reads the request.
_FAILING = frozenset({NetworkReason.UNREACHABLE})
_NEVER_REQUESTED = frozenset({NetworkReason.FORBIDDEN_ADDRESS, NetworkReason.BAD_URL})
_SEVERITY = {reason: place for place, reason in enumerate(NetworkReason)}


class NetworkConfig(StageConfig):
    """Settings for the gate and the probe, in seconds and bytes. No setting disables the address
    check.

    `mode`: `check` tests whether each URL responds, `freeze` also keeps the response, and `offline`
    opens no sockets. `unverified` says what to do with instances whose URLs could not be checked.
    `attempts` counts requests per hop; `deadline` limits the total time per URL over all hops and
    attempts.
    """

    mode: Literal["check", "freeze", "offline"] = "check"
    unverified: Literal["keep", "reject"] = "reject"
    max_redirects: Annotated[int, Field(ge=0, le=50)] = 10
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    connect_timeout: Annotated[float, Field(gt=0)] = 10.0
    read_timeout: Annotated[float, Field(gt=0)] = 15.0
    deadline: Annotated[float, Field(gt=0)] = 45.0
    max_bytes: Annotated[int, Field(gt=0, le=100_000_000)] = 10_000_000


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What became of one normalised URL. `cause` is None exactly if it is reachable.

    `http_status` is the last status seen, `hops` the redirects followed, `downgraded` whether
    one of them led from https to http. `bytes`, `sha256` and `media_type` describe the frozen
    content, after content decoding; they are None if nothing was frozen.
    """

    url: str
    cause: Cause | None = None
    http_status: int | None = None
    hops: int = 0
    downgraded: bool = False
    bytes: int | None = None
    sha256: str | None = None
    media_type: str | None = None

    @property
    def reason(self) -> NetworkReason | None:
        if self.cause is None:
            return None
        return _REASONS.get(self.cause, NetworkReason.UNREACHABLE)

    @property
    def reach(self) -> Reach:
        if self.reason is None:
            return Reach.REACHABLE
        return Reach.UNREACHABLE if self.reason in _FAILING else Reach.UNVERIFIED


@dataclass(frozen=True, slots=True)
class _NetworkObservation:
    """Counts over the distinct URLs of one instance; `reason` and `cause` of the worst one.

    Unreachable are those that do not answer, and those that are never requested; the latter are
    unverified, too.
    """

    url_count: int
    reachable_count: int
    unreachable_count: int
    unverified_count: int
    frozen_count: int
    reason: NetworkReason | None
    cause: Cause | None
    http_status: int | None
    missing: tuple[MissingInput, ...] = ()


def instance_urls(instance: TaskInstance, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The distinct normalised URLs that a person gave: in words, or attached; then `more`.

    `more` takes the URLs that the restoration gate brought back.
    """
    given: list[str] = []
    for turn in instance.user_turns:
        given.extend(mention.url for mention in find_urls(turn.said))
        for attachment in turn.attachments:
            given.extend(mention.url for mention in find_urls(attachment.path or ""))
    given.extend(more)
    return tuple(dict.fromkeys(normalise(url) for url in given))


def measure(urls: Iterable[str], results: Mapping[str, ProbeResult]) -> _NetworkObservation:
    """Count what the probe found. Raises KeyError for a URL that was never probed: a bug."""
    probed = [results[url] for url in dict.fromkeys(normalise(url) for url in urls)]
    reached = [result.reach for result in probed]
    troubled = [(result, result.reason) for result in probed if result.reason is not None]
    worst, reason = min(troubled, key=lambda pair: _SEVERITY[pair[1]], default=(None, None))
    return _NetworkObservation(
        url_count=len(probed),
        reachable_count=reached.count(Reach.REACHABLE),
        unreachable_count=reached.count(Reach.UNREACHABLE)
        + sum(reason in _NEVER_REQUESTED for _, reason in troubled),
        unverified_count=reached.count(Reach.UNVERIFIED),
        frozen_count=sum(result.sha256 is not None for result in probed),
        reason=reason,
        cause=worst.cause if worst else None,
        http_status=worst.http_status if worst else None,
        missing=tuple(
            MissingInput(MissingKind.SITE, "named in the request", result.url)
            for result, _ in troubled
            if worst is not None and result.reach is worst.reach
        ),
    )


_UNCHECKED = Limit(
    "unverified URLs",
    Bound.MAX,
    "URLs",
    "At most this many URLs could not be checked.",
    None,
    lambda seen: seen["unverified_count"],
    at=0,
    policy=("unverified", "reject"),
)
GATE = Gate(
    name="network",
    stage="network",
    section="sessions.network",
    meaning="Does every URL that a person gave respond?",
    config=NetworkConfig,
    reasons=NetworkReason,
    measure=measure,
    limits=(
        Limit(
            "unreachable URLs",
            Bound.MAX,
            "URLs",
            "At most this many URLs do not respond.",
            None,
            lambda seen: seen["unreachable_count"],
            when=lambda seen: _REASONS.get(seen["cause"]) not in _NEVER_REQUESTED,
            at=0,
        ),
        _UNCHECKED,
        replace(_UNCHECKED, policy=("unverified", "keep"), status=Status.UNVERIFIED),
    ),
)
