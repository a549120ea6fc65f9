"""The truth of the demo against the code: file by file, turn by turn, instance by instance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from construction.mentions.urls import normalise, parse_url
from construction.sessions.config import LOCAL_GATES, NETWORK_GATES
from construction.sessions.network.probe import refusal
from data.demo import generate
from tests.data.demo.observed import (
    Gated,
    ReadFile,
    found_instances,
    gate_all,
    human_turns,
    paired,
    read_all,
)
from tests.data.demo.truth import Truth

SEED, SIZE = 7, 60
GATES = tuple(gate.name for gate in (*LOCAL_GATES, *NETWORK_GATES))


class Observed:
    """A workspace, what was read of it, and what the gates say."""

    def __init__(self, folder: Path, seed: int, size: int) -> None:
        generate(folder, size, seed)
        self.seed, self.size = seed, size
        self.truth: Truth
        self.files: list[ReadFile]
        self.truth, self.files = read_all(folder)
        self.gated: list[Gated] = gate_all(folder, self.files)


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return Observed(tmp_path_factory.mktemp("demo") / "demo", SEED, SIZE)


def test_every_file_is_told_for_what_it_is(sixty: Observed) -> None:
    for file in sixty.files:
        outcome = "read" if file.scanned.format else str(file.scanned.reason)
        assert (outcome, file.scanned.label) == (file.truth.outcome, file.truth.label), file.truth


def test_planted_lines_are_found_and_no_others(sixty: Observed) -> None:
    for file in sixty.files:
        actual = [(issue.line, issue.reason) for issue in file.issues]
        planted = [(issue.line, issue.reason) for issue in file.truth.issues]
        assert actual == planted, file.truth.path


def test_every_session_has_its_human_turns(sixty: Observed) -> None:
    for file in sixty.files:
        for session, truth in paired(file):
            assert session.session_id == truth.session_id
            assert len(human_turns(session)) == truth.n_human_turns, file.truth.path
            assert (session.parent_session_id is not None) is truth.is_sub_agent


def test_what_a_person_typed_is_found_below_all_wrappers(sixty: Observed) -> None:
    typed = json.loads(Path(__file__).with_name("typed.json").read_bytes())
    for session in (session for file in sixty.files for session in file.sessions):
        said = [turn.said for turn in human_turns(session)]
        wanted = typed.pop(session.session_id, said)
        assert said == wanted[: len(said)], session.source_path  # one log ends before its session
    assert typed == {}


def test_structure_divides_sessions_only_where_the_plan_does(sixty: Observed) -> None:
    """What only words mark as new ("an unrelated request") is left to a model: three of them."""
    assert _cut_inside_a_task(sixty) == []
    assert len(_wrongly_split(sixty)) == 3


def _cut_inside_a_task(observed: Observed) -> list[str]:
    return [
        where
        for where, actual, planned in _wrongly_split(observed)
        if not {positions[0] for positions in actual} < {positions[0] for positions in planned}
    ]


def _wrongly_split(
    observed: Observed,
) -> list[tuple[str, list[tuple[int, ...]], list[tuple[int, ...]]]]:
    pairs = [
        (file.truth.path, found_instances(session), [item.turns for item in truth.instances])
        for file in observed.files
        for session, truth in paired(file)
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


@pytest.mark.parametrize("gate", GATES)
def test_each_gate_fails_what_is_planted_and_nothing_else(sixty: Observed, gate: str) -> None:
    assert _misjudged(sixty, gate) == []


def _misjudged(observed: Observed, gate: str) -> list[tuple[str, object, object, object]]:
    return [
        (gated.where, gated.truth.plants or gated.truth.task, judged, planted)
        for gated in observed.gated
        for judged, planted in [(gated.findings.get(gate), gated.truth.gates.get(gate))]
        if judged != planted
    ]


def test_exactly_the_declared_files_are_declared(sixty: Observed) -> None:
    wrong = [
        (item.where, item.files.declared, item.truth.declared)
        for item in sixty.gated
        if item.files.declared != len(item.truth.declared)
    ]
    assert wrong == []


def test_spans_are_restored_to_what_was_there(sixty: Observed) -> None:
    for item in sixty.gated:
        actual = [(str(span.status), span.value) for span in item.spans]
        assert actual == [(span.status, span.value) for span in item.truth.spans], item.where


def test_the_network_gate_sees_the_planted_urls(sixty: Observed) -> None:
    for item in sixty.gated:
        if "network" in {verdict.gate for verdict in item.verdicts}:
            planted = {normalise(url.url) for url in item.truth.urls}
            assert set(item.urls) == planted, item.where


def test_a_live_probe_would_request_only_what_may_be_requested(sixty: Observed) -> None:
    seen = set()
    for url in (url for item in sixty.gated for url in item.truth.urls):
        cause = refusal(parse_url(normalise(url.url)))
        wanted = url.live if url.live in ("forbidden_address", "one_time_path") else None
        assert (None if cause is None else str(cause)) == wanted, url
        seen.add(url.live)
    assert seen == {"reachable", "no_such_host", "forbidden_address", "one_time_path"}


def test_copies_are_told_by_their_words_and_nothing_else_is(sixty: Observed) -> None:
    first: dict[str, str] = {}
    kept = [item for item in sixty.gated if item.truth.outcome in ("kept", "instance.duplicate")]
    for item in sorted(kept, key=lambda item: item.instance.source_path):
        original = first.setdefault(item.instance.fingerprint, item.where)
        is_copy = item.truth.outcome == "instance.duplicate"
        assert (original != item.where) is is_copy, item.where
    assert sum(item.truth.outcome == "instance.duplicate" for item in kept) == 2


@pytest.mark.parametrize(("seed", "size"), [(11, 75), (7, 180)])
def test_copies_of_the_block_agree_too(tmp_path: Path, seed: int, size: int) -> None:
    observed = Observed(tmp_path / "demo", seed, size)
    assert _cut_inside_a_task(observed) == []
    for gate in GATES:
        assert _misjudged(observed, gate) == []
    kept = [item for item in observed.gated if item.truth.outcome == "kept"]
    assert len({item.instance.fingerprint for item in kept}) == len(kept) > size * 0.6
