"""The network stage: the survivors' URLs are probed once each, then every instance is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from construction.released_paths import with_page_paths
from construction.sessions.config import NETWORK_GATES, SessionsConfig
from construction.sessions.gates import network
from construction.sessions.gates.network import ProbeResult
from construction.sessions.network.captures import frozen_fixture
from data.contracts import Fixture, LedgerRow, Verdict, run_gates
from data.ledger import deciding, gated_row
from data.survivors import Survivor

STAGE = network.GATE.stage


@dataclass(frozen=True, slots=True)
class Judged:
    """The survivors that passed, every verdict, and one ledger row per instance."""

    kept: list[Survivor]
    verdicts: list[tuple[str, Verdict]]
    rows: list[LedgerRow]


def urls_of(survivors: Sequence[Survivor]) -> set[str]:
    """All URLs that people gave in these instances."""
    return {url for survivor in survivors for url in network.instance_urls(survivor.instance)}


def judge_reach(
    survivors: Sequence[Survivor], results: Mapping[str, ProbeResult], config: SessionsConfig
) -> Judged:
    """Judge each instance by the probe results of its URLs."""
    judged = Judged([], [], [])
    adapters = {
        network.GATE.name: lambda item: network.measure(network.instance_urls(item), results)
    }
    for survivor in survivors:
        instance = survivor.instance
        _, verdicts = run_gates(NETWORK_GATES, config, instance, adapters)
        decided = deciding(verdicts)
        if decided is None:
            judged.kept.append(survivor)
        judged.verdicts.extend((instance.instance_id, verdict) for verdict in verdicts)
        judged.rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
    return judged


def with_frozen_pages(survivor: Survivor, results: Mapping[str, ProbeResult]) -> Survivor:
    """The survivor with its frozen pages as fixtures, their paths replacing the URLs."""
    pages: list[Fixture] = []
    path_of: dict[str, str] = {}
    for url in network.instance_urls(survivor.instance):
        result = results[url]
        if result.sha256 is not None:
            page = frozen_fixture(result, len(pages) + 1)
            pages.append(page)
            path_of[url] = page.path
    if not pages:
        return survivor
    turns = tuple(
        replace(turn, said=with_page_paths(turn.said, path_of))
        for turn in survivor.instance.user_turns
    )
    instance = replace(survivor.instance, user_turns=turns)
    return replace(survivor, instance=instance, fixtures=(*survivor.fixtures, *pages))
