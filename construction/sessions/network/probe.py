"""Probes URLs: replays captured results, requests the others, follows redirects and retries."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urljoin

from construction.mentions.urls import WebUrl, normalise, parse_url
from construction.sessions.config import NetworkRuntime
from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult, Reach
from construction.sessions.network.transport import (
    TRANSIENT,
    Answer,
    HostTurns,
    ProbeFailure,
    Wire,
    backoff,
    exchange,
    is_literal,
    is_public,
    port_allowed,
)
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest, file_digest
from data.captures import CaptureFile
from data.contracts import Fixture
from data.errors import ConfigError
from data.text.scripts import WORD

# Captured probe results and frozen pages: inputs with a digest that a rebuild replays (law 5).
#
# They contain URLs and pages from sessions and belong in the private store.

_ProbeMode = Literal["check", "freeze"]
_NOT_PROBING = {"mode", "unverified"}


def _recipe_digest(config: NetworkConfig, mode: _ProbeMode) -> str:
    """Digest of the settings on which a probe result depends."""
    return digest({"mode": mode, **config.model_dump(exclude=_NOT_PROBING)})


class Captures(CaptureFile[tuple[str, str], ProbeResult]):
    """Probe results by recipe digest and normalised URL."""

    EXPECTED = "a captured probe result"
    REMEDY = "Restore the file, or delete it to probe again."

    def get(self, url: str, recipe: str) -> ProbeResult | None:
        return self.find((recipe, url))

    def add(self, result: ProbeResult, recipe: str) -> None:
        """Record a result, replacing an older one of the same URL and recipe."""
        self.keep((recipe, result.url), result)

    def _record(self, key: tuple[str, str], outcome: ProbeResult) -> dict[str, Any]:
        return {"recipe": key[0], **dataclasses.asdict(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[tuple[str, str], ProbeResult]:
        recipe, cause = record.pop("recipe"), record.pop("cause")
        result = ProbeResult(cause=None if cause is None else Cause(cause), **record)
        return (recipe, result.url), result


# Types that an agent can read; any other content is named .bin, never as a program.
_EXTENSIONS = {
    "application/atom+xml": "xml",
    "application/json": "json",
    "application/ld+json": "json",
    "application/msword": "doc",
    "application/pdf": "pdf",
    "application/rss+xml": "xml",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/xhtml+xml": "html",
    "application/xml": "xml",
    "application/zip": "zip",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/xml": "xml",
}


def _store(content: bytes, freeze_dir: Path) -> str:
    """Store `content` in the private `freeze_dir` under its SHA-256, which is returned."""
    sha256 = digest(content)
    path = frozen_path(sha256, freeze_dir)
    if not path.exists():
        private_dir(freeze_dir)
        write_bytes(path, content, mode=PRIVATE_FILE)
    return sha256


def frozen_path(sha256: str, freeze_dir: Path) -> Path:
    return freeze_dir / sha256


def _is_stored(sha256: str, freeze_dir: Path) -> bool:
    """True if the content is present and unchanged."""
    path = frozen_path(sha256, freeze_dir)
    return path.is_file() and file_digest(path) == sha256


def frozen_fixture(result: ProbeResult, number: int) -> Fixture:
    """The fixture for a frozen result: `page-<number>.<type>`.

    The name reveals neither URL nor content, both of which may be private. Raises ValueError if
    the result holds no frozen content.
    """
    if result.sha256 is None or result.bytes is None or result.media_type is None:
        raise ValueError("no frozen content: probe with mode = freeze first")
    extension = _EXTENSIONS.get(result.media_type, "bin")
    return Fixture(
        path=f"page-{number}.{extension}",
        sha256=result.sha256,
        bytes=result.bytes,
        media_type=result.media_type,
        role="frozen_page",
    )


# Detects URLs that act when opened: unsubscribe, reset, confirm, verify, sign-in links.
#
# Probing such a URL could change something for the person in whose log it appears, or use up the
# link. It is never requested and is reported as unverified.


def _lexicon(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A path segment acts if all its words are in these lists and one of them is an action.
_ALWAYS = _lexicon(
    "unsubscribe unsub optout unsubscription oneclick magiclink passwordless deactivate "
    "confirm reset 退订 取消订阅 重置密码 确认订阅 验证邮箱"
)
# These act only on an object ("verify-email") or with a token.
_WITH_OBJECT = _lexicon(
    "verify verification validate activate activation confirmation recover recovery forgot "
    "accept approve decline reject revoke cancel delete change set new otp magic "
    "验证 激活 确认 重置"
)
_OBJECTS = _lexicon(
    "email mail e address account user password passwd pwd pass subscription subscriptions "
    "newsletter list lists registration signup invite invitation link login signin device phone "
    "number identity membership mailing order booking appointment 邮箱 密码 账号 账户 订阅"
)
_FILLERS = _lexicon("me my your now the by via with to of from request click one opt out")
_PAIRS = (frozenset({"opt", "out"}), frozenset({"one", "click"}), frozenset({"magic", "link"}))
# A sign-in page is harmless; with a token in the URL it opens somebody's session.
_SIGN_IN = _lexicon(
    "login signin auth sso session sessions invite invites invitation join callback "
    "authenticate token tokens"
)
_TOKEN_KEYS = _lexicon("token code key otp ticket hash sig signature t k jwt nonce secret")
_TOKEN_OF = _ALWAYS | _WITH_OBJECT | {"invite", "login"}
_ACTION_KEYS = _lexicon("action do act cmd op mode task type event method")
_READING = _lexicon(
    "doc docs documentation blog blogs wiki article articles help kb guide guides learn news "
    "tutorial tutorials reference manual questions question posts post topics faq support "
    "issues pull blob tree"
)
_READING_HOSTS = _lexicon("doc docs wiki help learn developer developers kb")
_PAGE_TYPES = _lexicon("html htm php asp aspx jsp do cgi action")

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9_.=~-]{16,}")


def _acts_when_opened(url: str) -> bool:
    """True if opening `url` would act (unsubscribe, reset, confirm, verify, sign in, accept).

    False for a file such as `reset.css`, an article about resetting or a page of documentation,
    unless the URL carries a token. Also false for a URL that cannot be parsed.
    """
    parsed = parse_url(url)
    if parsed is None:
        return False
    path, _, query = parsed.target.partition("?")
    segments = [unquote(segment) for segment in path.split("/") if segment]
    pairs = parse_qsl(query, keep_blank_values=True)
    token = any(_is_token_key(key) and value for key, value in pairs)
    if any(_query_acts(key, value) for key, value in pairs):
        return True
    about = parsed.host.split(".")[0] in _READING_HOSTS
    for index, segment in enumerate(segments):
        carried = token or any(_TOKEN.fullmatch(later) for later in segments[index + 1 :])
        if _segment_acts(segment, carried, about):
            return True
        about = about or segment.lower() in _READING
    return False


def _segment_acts(segment: str, token: bool, about: bool) -> bool:
    name, dot, extension = segment.rpartition(".")
    if dot and extension.lower() not in _PAGE_TYPES:
        return False
    words = _words(name if dot else segment)
    if not words:
        return False
    known = words <= _ALWAYS | _WITH_OBJECT | _OBJECTS | _FILLERS | _SIGN_IN
    if not known or (about and not token):
        return False
    if words & _ALWAYS or any(words >= pair for pair in _PAIRS):
        return True
    if words & _WITH_OBJECT:
        return token or bool(words & _OBJECTS)
    return token and bool(words & _SIGN_IN)


def _query_acts(key: str, value: str) -> bool:
    """True for parameters that act: `?unsubscribe=1`, `?action=confirm`, `?reset_token=…`."""
    words = _words(key)
    if words & _TOKEN_KEYS and words & _TOKEN_OF:
        return bool(value)
    if key.lower() in _ACTION_KEYS:
        return _segment_acts(value, token=False, about=False)
    return bool(words & {"unsubscribe", "optout", "oneclick"})


def _is_token_key(key: str) -> bool:
    return bool(_words(key) & _TOKEN_KEYS)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(_CAMEL.sub("-", text)))


# Names that by definition never resolve on the public network (RFC 6761, 6762, 8375, ICANN).
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa")


@dataclass(slots=True)
class _Trail:
    """The state of one probe; `seconds` is the remaining time on the network."""

    seconds: float
    status: int | None = None
    hops: int = 0
    downgraded: bool = False


def refusal(url: WebUrl | None) -> Cause | None:
    """The cause for which `url` is never requested, by its text alone; None if it may be."""
    if url is None:
        return Cause.MALFORMED
    if is_literal(url.host) and not is_public(url.host):
        return Cause.FORBIDDEN_ADDRESS
    if any(url.host == name or url.host.endswith(f".{name}") for name in _LOCAL_NAMES):
        return Cause.FORBIDDEN_ADDRESS
    if not port_allowed(url.port):
        return Cause.FORBIDDEN_PORT
    return Cause.ONE_TIME_PATH if _acts_when_opened(url.text) else None


class _Prober:
    """Probes URLs over one wire; in mode `freeze` their contents go to `freeze_dir`."""

    def __init__(
        self, config: NetworkConfig, runtime: NetworkRuntime, wire: Wire, freeze_dir: Path | None
    ) -> None:
        self._config = config
        self._runtime = runtime
        self._wire = wire
        self._freeze_dir = freeze_dir
        self._turns = HostTurns(runtime.host_delay)
        self.recipe = _recipe_digest(config, "freeze" if config.mode == "freeze" else "check")

    async def probe(self, url: WebUrl) -> ProbeResult:
        """Follow `url` and its redirects. A network failure is a result; other errors raise."""
        trail = _Trail(self._config.deadline)
        try:
            answer = await self._follow(url, trail)
        except ProbeFailure as failure:
            return ProbeResult(url.text, failure.cause, trail.status, trail.hops, trail.downgraded)
        size, sha256, media_type = None, None, None
        if answer.body is not None and self._freeze_dir is not None:
            size, media_type = len(answer.body), answer.media_type
            sha256 = _store(answer.body, self._freeze_dir)
        return ProbeResult(
            url=url.text,
            http_status=answer.status,
            hops=trail.hops,
            downgraded=trail.downgraded,
            bytes=size,
            sha256=sha256,
            media_type=media_type,
        )

    async def _follow(self, url: WebUrl, trail: _Trail) -> Answer:
        """The answer after all redirects, with a status of 2xx; raises ProbeFailure otherwise."""
        seen = {url.text}
        while True:
            cause = refusal(url)
            if cause is not None:
                raise ProbeFailure(cause)
            answer = await self._answer(url, trail)
            if not answer.is_redirect:
                break
            target = _redirect_target(url, answer)
            if trail.hops >= self._config.max_redirects:
                raise ProbeFailure(Cause.TOO_MANY_REDIRECTS)
            if target.text in seen:
                raise ProbeFailure(Cause.REDIRECT_LOOP)
            seen.add(target.text)
            trail.hops += 1
            trail.downgraded |= url.scheme == "https" and target.scheme == "http"
            url = target
        if 200 <= answer.status < 300:
            return answer
        raise ProbeFailure(Cause.HTTP_STATUS)

    async def _answer(self, url: WebUrl, trail: _Trail) -> Answer:
        """The answer to HEAD (in mode `check`) or GET; GET is repeated after transient failures."""
        if self._config.mode == "check":
            answer = await self._attempt("HEAD", url, trail, 0)
            if answer is not None and (200 <= answer.status < 300 or answer.is_redirect):
                return answer
        for attempt in range(1, self._config.attempts):
            answer = await self._attempt("GET", url, trail, attempt)
            if answer is not None and answer.status not in TRANSIENT:
                return answer
        return await self._request("GET", url, trail)

    async def _attempt(
        self, method: str, url: WebUrl, trail: _Trail, attempt: int
    ) -> Answer | None:
        """Send one request; after a transient failure wait, and return None without an answer."""
        pause = backoff(url.text, attempt, self._runtime.backoff)
        try:
            answer = await self._request(method, url, trail)
        except ProbeFailure as failure:
            if not failure.transient:
                raise
            await asyncio.sleep(pause)
            return None
        if answer.status in TRANSIENT:
            requested_wait = min(answer.retry_after, self._runtime.max_retry_after)
            await asyncio.sleep(max(pause, requested_wait))
        return answer

    async def _request(self, method: str, url: WebUrl, trail: _Trail) -> Answer:
        async with self._turns.turn(url.host):
            if trail.seconds <= 0:
                raise ProbeFailure(Cause.TIMEOUT)
            started = time.monotonic()
            try:
                answer = await exchange(method, url, self._wire, self._config, trail.seconds)
            except ProbeFailure as failure:
                trail.status = failure.status or trail.status
                raise
            finally:
                trail.seconds -= time.monotonic() - started
        trail.status = answer.status
        return answer


def _redirect_target(url: WebUrl, answer: Answer) -> WebUrl:
    """The http or https target of a redirect, without credentials."""
    try:
        target = parse_url(urljoin(url.text, answer.location or ""))
    except ValueError as error:
        raise ProbeFailure(Cause.BAD_REDIRECT) from error
    if target is None:
        raise ProbeFailure(Cause.BAD_REDIRECT)
    return target


def probe_urls(
    urls: Iterable[str],
    config: NetworkConfig,
    runtime: NetworkRuntime,
    captures: Captures,
    freeze_dir: Path | None = None,
    wire: Wire | None = None,
) -> dict[str, ProbeResult]:
    """The probe result of each URL, by normalised URL, sorted.

    URLs that are never requested (private addresses, links that act, …) are judged by their text.
    A captured result of the same recipe is replayed unless `runtime.refresh` says otherwise or
    its frozen content is missing. New results are added to `captures`; the caller saves them. In
    mode `offline` no socket is opened, and a URL without a captured result is unverified.

    Must not be called from a running event loop. Raises ConfigError for mode `freeze` without a
    directory. Network failures are results; errors of the prober or the disk are raised.
    """
    if config.mode == "freeze" and freeze_dir is None:
        raise ConfigError('network mode "freeze" needs a directory for frozen pages')
    results: dict[str, ProbeResult] = {}
    waiting: list[WebUrl] = []
    for text in sorted({normalise(url) for url in urls}):
        url = parse_url(text)
        cause = refusal(url)
        if cause is not None or url is None:
            results[text] = ProbeResult(text, cause)
            continue
        replayed = _replay(text, config, runtime, captures, freeze_dir)
        if replayed is not None:
            results[text] = replayed
        elif config.mode == "offline":
            results[text] = ProbeResult(text, Cause.OFFLINE)
        else:
            waiting.append(url)
    if waiting:
        prober = _Prober(config, runtime, wire or Wire(), freeze_dir)
        asyncio.run(_probe_all(waiting, prober, runtime.concurrency, captures, results))
    return {url: results[url] for url in sorted(results)}


def _replay(
    url: str,
    config: NetworkConfig,
    runtime: NetworkRuntime,
    captures: Captures,
    freeze_dir: Path | None,
) -> ProbeResult | None:
    """The captured result to use instead of a probe, if any; offline, that of either mode."""
    modes: tuple[_ProbeMode, ...]
    modes = ("freeze", "check") if config.mode == "offline" else (config.mode,)
    for mode in modes:
        result = captures.get(url, _recipe_digest(config, mode))
        if result is None or not _has_content(result, freeze_dir):
            continue
        stale = runtime.refresh == "all" or (
            runtime.refresh == "unverified" and result.reach is Reach.UNVERIFIED
        )
        if config.mode == "offline" or not stale:
            return result
    return None


def _has_content(result: ProbeResult, freeze_dir: Path | None) -> bool:
    if result.sha256 is None:
        return True
    return freeze_dir is not None and _is_stored(result.sha256, freeze_dir)


async def _probe_all(
    urls: Iterable[WebUrl],
    prober: _Prober,
    workers: int,
    captures: Captures,
    results: dict[str, ProbeResult],
) -> None:
    """Probe with `workers` at once, each taking whole hosts, so that they do not wait in line."""
    hosts: dict[str, list[WebUrl]] = {}
    for url in urls:
        hosts.setdefault(url.host, []).append(url)
    waiting = iter(hosts.values())

    async def work() -> None:
        for group in waiting:
            for url in group:
                result = await prober.probe(url)
                captures.add(result, prober.recipe)
                results[url.text] = result

    await asyncio.gather(*(work() for _ in range(min(workers, len(hosts)))))
