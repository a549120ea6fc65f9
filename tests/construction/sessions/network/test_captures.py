"""Captures: deterministic files that survive a kill."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from construction.sessions.network.captures import Captures, recipe_digest
from data.errors import InputError

RESULTS = [
    ProbeResult("http://a.example/", None, 200),
    ProbeResult("http://b.example/", Cause.HTTP_STATUS, 404, hops=2, downgraded=True),
    ProbeResult("http://c.example/", Cause.TIMEOUT),
    ProbeResult("http://d.example/", None, 200, 0, False, 5, "ab" * 32, "text/html"),
]


def captured(results: list[ProbeResult], path: Path | None = None) -> Captures:
    captures = Captures(path)
    for result in results:
        captures.add(result, "r")
    return captures


def test_saved_captures_are_read_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "captures.jsonl"
    captured(RESULTS, path).save()
    again = Captures.load(path)
    assert [again.get(result.url, "r") for result in RESULTS] == RESULTS
    assert again.get("http://a.example/", "other recipe") is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_does_not_depend_on_the_order(tmp_path: Path) -> None:
    contents = set()
    for seed in range(5):
        shuffled = random.Random(seed).sample(RESULTS, len(RESULTS))
        contents.add((captured(shuffled).content(), captured(shuffled).digest))
    assert len(contents) == 1


def test_a_killed_build_loses_no_result(tmp_path: Path) -> None:
    path = tmp_path / "captures.jsonl"
    captured(RESULTS[:1], path).save()
    killed = Captures.load(path)
    for result in RESULTS[1:]:
        killed.add(result, "r")
    journal = tmp_path / "captures.jsonl.journal"
    journal.write_bytes(journal.read_bytes() + b'{"recipe": "half')
    again = Captures.load(path)
    assert again.content() == captured(RESULTS).content()
    assert not journal.exists()
    assert path.read_bytes() == again.content()


def test_a_newer_result_replaces_an_older_one() -> None:
    newer = ProbeResult("http://a.example/", Cause.TIMEOUT)
    captures = captured([RESULTS[0], newer])
    assert (len(captures), captures.get(newer.url, "r")) == (1, newer)


@pytest.mark.parametrize(
    "line", ["no JSON", "[]", "{}", '{"recipe":"r","cause":"unheard of","url":"u"}', '"x"', "1"]
)
def test_a_damaged_file_is_named_with_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "captures.jsonl"
    path.write_bytes(captured(RESULTS[:1]).content() + line.encode() + b"\n")
    with pytest.raises(InputError) as caught:
        Captures.load(path)
    assert (caught.value.line, caught.value.path) == (2, str(path))
    assert "unheard" not in str(caught.value)


def test_captures_without_a_file_cannot_be_saved() -> None:
    with pytest.raises(ValueError, match="path"):
        Captures().save()


def test_the_recipe_holds_what_a_probe_depends_on_and_no_more() -> None:
    base = NetworkConfig()
    same = NetworkConfig(mode="offline", unverified="keep")
    assert recipe_digest(base, "check") == recipe_digest(same, "check")
    others = [
        recipe_digest(base, "freeze"),
        recipe_digest(NetworkConfig(max_redirects=9), "check"),
        recipe_digest(NetworkConfig(deadline=9), "check"),
    ]
    assert len({recipe_digest(base, "check"), *others}) == 4
