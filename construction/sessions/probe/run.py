"""Probing many URLs: replay what was captured, probe the rest, capture what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult, Reach
from construction.sessions.probe.capture import Captures, ProbeMode, recipe_digest
from construction.sessions.probe.client import NetworkRuntime, Prober, refusal
from construction.sessions.probe.freeze import is_stored
from construction.sessions.probe.transport import Wire
from construction.sessions.urls import WebUrl, normalise, parse_url
from data.errors import ConfigError


def probe_urls(
    urls: Iterable[str],
    config: NetworkConfig,
    runtime: NetworkRuntime,
    captures: Captures,
    freeze_dir: Path | None = None,
    wire: Wire | None = None,
) -> dict[str, ProbeResult]:
    """Find out what each URL does; the results by normalised URL, sorted.

    URLs that are never requested (private addresses, one-time paths, …) are judged as they
    stand. A captured result of the same recipe is replayed unless `runtime.refresh` says
    otherwise, or its frozen content is gone. New results are added to `captures`; the caller
    saves them. With mode `offline` no socket is opened: what is not captured is unverified.

    Not to be called from a running event loop. Raises ConfigError for mode `freeze` without a
    directory. What the network does is a result; faults of the prober and the disk are raised.
    """
    if config.mode == "freeze" and freeze_dir is None:
        raise ConfigError('network mode "freeze" needs a directory to freeze into')
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
        prober = Prober(config, runtime, wire or Wire(), freeze_dir)
        asyncio.run(_probe_all(waiting, prober, runtime.concurrency, captures, results))
    return {url: results[url] for url in sorted(results)}


def _replay(
    url: str,
    config: NetworkConfig,
    runtime: NetworkRuntime,
    captures: Captures,
    freeze_dir: Path | None,
) -> ProbeResult | None:
    """The captured result that stands for a probe; offline, that of either mode."""
    modes: tuple[ProbeMode, ...]
    modes = ("freeze", "check") if config.mode == "offline" else (config.mode,)
    for mode in modes:
        result = captures.get(url, recipe_digest(config, mode))
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
    return freeze_dir is not None and is_stored(result.sha256, freeze_dir)


async def _probe_all(
    urls: Iterable[WebUrl],
    prober: Prober,
    workers: int,
    captures: Captures,
    results: dict[str, ProbeResult],
) -> None:
    """Probe with `workers` at once, host by host, so that they do not queue for the same one."""
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
