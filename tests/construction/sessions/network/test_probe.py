"""Redirects, retries, HEAD and GET, on a scripted web."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.mentions.urls import parse_url
from construction.sessions.config import NetworkRuntime
from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from construction.sessions.network.probe import Captures, _recipe_digest, probe_urls, refusal
from construction.sessions.network.transport import backoff
from data.errors import InputError
from tests.construction.sessions.network.wires import AT_ONCE, ScriptedWeb

# Captures: deterministic files that survive a kill.

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
    assert _recipe_digest(base, "check") == _recipe_digest(same, "check")
    others = [
        _recipe_digest(base, "freeze"),
        _recipe_digest(NetworkConfig(max_redirects=9), "check"),
        _recipe_digest(NetworkConfig(deadline=9), "check"),
    ]
    assert len({_recipe_digest(base, "check"), *others}) == 4


CHECK = NetworkConfig()
DNS = {"a.example": ["93.184.216.34"], "b.example": ["1.1.1.1"], "in.example": ["10.0.0.1"]}
A = "http://a.example"


def probe(url: str, behaviours: dict[str, Any], config: NetworkConfig = CHECK) -> ProbeResult:
    return run(url, ScriptedWeb(DNS, behaviours), config)


def run(url: str, web: ScriptedWeb, config: NetworkConfig = CHECK) -> ProbeResult:
    (result,) = probe_urls([url], config, AT_ONCE, Captures(), wire=web.wire).values()
    return result


@pytest.mark.parametrize("status", [200, 201, 204, 206])
def test_a_good_head_is_enough(status: int) -> None:
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": status}})
    assert run(f"{A}/x", web) == ProbeResult(f"{A}/x", None, status)
    assert web.requests == [f"HEAD {A}/x"]


@pytest.mark.parametrize("status", [400, 403, 404, 405, 501, 304, 301])
def test_get_has_the_last_word(status: int) -> None:
    web = ScriptedWeb(DNS, {f"HEAD {A}/x": {"status": status}, f"GET {A}/x": {"status": 200}})
    assert run(f"{A}/x", web).cause is None
    assert web.requests == [f"HEAD {A}/x", f"GET {A}/x"]


@pytest.mark.parametrize("status", [304, 401, 403, 404, 410, 451])
def test_a_lasting_status_is_not_retried(status: int) -> None:
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": status}})
    assert run(f"{A}/x", web) == ProbeResult(f"{A}/x", Cause.HTTP_STATUS, status)
    assert web.requests == [f"HEAD {A}/x", f"GET {A}/x"]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_passing_status_is_retried(status: int) -> None:
    busy, good = {"status": status}, {"status": 200}
    web = ScriptedWeb(DNS, {f"{A}/x": [busy, busy, busy, good]})
    assert run(f"{A}/x", web).cause is None
    web = ScriptedWeb(DNS, {f"{A}/x": [busy, busy, busy, busy, good]})
    assert run(f"{A}/x", web) == ProbeResult(f"{A}/x", Cause.HTTP_STATUS, status)
    assert web.requests == [f"HEAD {A}/x"] + [f"GET {A}/x"] * 3


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [({"timeout": True}, Cause.TIMEOUT), ({"reset": True}, Cause.BROKEN_RESPONSE)],
)
def test_trouble_on_the_line_is_retried(trouble: dict[str, bool], cause: Cause) -> None:
    web = ScriptedWeb(DNS, {f"{A}/x": [trouble, trouble, {"status": 200}]})
    assert run(f"{A}/x", web).cause is None
    web = ScriptedWeb(DNS, {f"{A}/x": trouble})
    assert run(f"{A}/x", web).cause is cause
    assert len(web.requests) == 1 + CHECK.attempts


def test_attempts_bound_the_requests() -> None:
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 500}})
    run(f"{A}/x", web, NetworkConfig(attempts=1))
    assert web.requests == [f"HEAD {A}/x", f"GET {A}/x"]


def test_redirects_are_followed_and_a_downgrade_is_recorded() -> None:
    result = probe(
        "https://a.example/1",
        {
            "https://a.example/1": {"status": 301, "redirect": "//b.example/2"},
            "https://b.example/2": {"status": 302, "redirect": f"{A}/3#part"},
            f"{A}/3": {"status": 307, "redirect": "4?x=1"},
            f"{A}/4?x=1": {"status": 200},
        },
    )
    assert result == ProbeResult("https://a.example/1", None, 200, hops=3, downgraded=True)


def test_an_upgrade_is_no_downgrade() -> None:
    good = {f"{A}/": {"status": 301, "redirect": "https://a.example/"}}
    result = probe(A, {**good, "https://a.example/": {"status": 200}})
    assert (result.hops, result.downgraded) == (1, False)


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("http://10.0.0.1/", Cause.FORBIDDEN_ADDRESS),
        ("http://169.254.169.254/latest/meta-data/", Cause.FORBIDDEN_ADDRESS),
        ("http://in.example/", Cause.FORBIDDEN_ADDRESS),
        ("http://[::ffff:127.0.0.1]/", Cause.FORBIDDEN_ADDRESS),
        ("http://[::ffff:7f00:1]:8080/", Cause.FORBIDDEN_ADDRESS),
        ("http://2130706433/", Cause.FORBIDDEN_ADDRESS),
        ("http://0x7f.0.0.1/", Cause.FORBIDDEN_ADDRESS),
        ("http://017700000001/", Cause.FORBIDDEN_ADDRESS),
        ("http://①②⑦.⓪.⓪.①/", Cause.FORBIDDEN_ADDRESS),
        ("http://a.example@127.0.0.1/", Cause.FORBIDDEN_ADDRESS),
        ("http://127.0.0.1\\@a.example/", Cause.FORBIDDEN_ADDRESS),
        ("http://127.0.0.1%2f@a.example@in.example/", Cause.FORBIDDEN_ADDRESS),
        ("http://localhost./", Cause.FORBIDDEN_ADDRESS),
        ("http://metadata.google.internal/", Cause.FORBIDDEN_ADDRESS),
        ("file:///etc/passwd", Cause.BAD_REDIRECT),
        ("ftp://a.example/", Cause.BAD_REDIRECT),
        ("javascript:alert(1)", Cause.BAD_REDIRECT),
        ("gopher://a.example:70/", Cause.BAD_REDIRECT),
        ("http://[fe80::1%25eth0]/", Cause.BAD_REDIRECT),
        ("http://[::1", Cause.BAD_REDIRECT),
        ("http://a.example:22/", Cause.FORBIDDEN_PORT),
        ("http://gone.example/", Cause.NO_SUCH_HOST),
        ("/unsubscribe?id=3", Cause.ONE_TIME_PATH),
        ("", Cause.REDIRECT_LOOP),
        ("/x", Cause.REDIRECT_LOOP),
    ],
)
def test_where_redirects_must_not_lead(target: str, cause: Cause) -> None:
    location = target.encode().decode("latin-1")
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 302, "headers": {"Location": location}}})
    result = run(f"{A}/x", web)
    assert result.cause is cause
    assert result.http_status == 302
    assert {address for address, _ in web.connected} == {"93.184.216.34"}


def test_credentials_are_dropped_everywhere() -> None:
    web = ScriptedWeb(
        DNS,
        {
            f"{A}/x": {"status": 302, "redirect": "http://eve:pw@b.example/y"},
            "http://b.example/y": {"status": 200, "headers": {"Set-Cookie": "a=b"}},
        },
    )
    assert run("http://me:secret@a.example/x", web).cause is None
    assert web.requests == [f"HEAD {A}/x", "HEAD http://b.example/y"]
    sent = b"".join(web.raw_requests).lower()
    for word in (b"secret", b"pw@", b"authorization", b"cookie", b"referer"):
        assert word not in sent
    assert sent.count(b"user-agent: benchmint/") == 2


def test_redirects_are_bounded() -> None:
    def chain(length: int) -> dict[str, Any]:
        hops = {f"{A}/{n}": {"status": 302, "redirect": f"/{n + 1}"} for n in range(length)}
        return {**hops, f"{A}/{length}": {"status": 200}}

    assert probe(f"{A}/0", chain(10)) == ProbeResult(f"{A}/0", None, 200, hops=10)
    assert probe(f"{A}/0", chain(11)) == ProbeResult(
        f"{A}/0", Cause.TOO_MANY_REDIRECTS, 302, hops=10
    )
    assert probe(f"{A}/0", chain(1), NetworkConfig(max_redirects=0)).cause is (
        Cause.TOO_MANY_REDIRECTS
    )


def test_a_name_that_is_rebound_between_redirects_is_refused() -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]

    async def resolve(host: str) -> list[str]:
        return answers.pop(0)

    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 302, "redirect": "/y"}})
    wire = type(web.wire)(resolve, web.wire.connect, web.wire.ssl_context)
    (result,) = probe_urls([f"{A}/x"], CHECK, AT_ONCE, Captures(), wire=wire).values()
    assert result.cause is Cause.FORBIDDEN_ADDRESS
    assert [address for address, _ in web.connected] == ["93.184.216.34"]


def test_a_name_that_is_rebound_between_head_and_get_is_refused() -> None:
    answers = [["93.184.216.34"], ["fd00:ec2::254"]]

    async def resolve(host: str) -> list[str]:
        return answers.pop(0)

    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 405}})
    wire = type(web.wire)(resolve, web.wire.connect, web.wire.ssl_context)
    (result,) = probe_urls([f"{A}/x"], CHECK, AT_ONCE, Captures(), wire=wire).values()
    assert result.cause is Cause.FORBIDDEN_ADDRESS
    assert web.requests == [f"HEAD {A}/x"]


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("http://127.0.0.1/", Cause.FORBIDDEN_ADDRESS),
        ("http://localhost:3000/", Cause.FORBIDDEN_ADDRESS),
        ("http://printer.local/", Cause.FORBIDDEN_ADDRESS),
        ("http://localhost.a.example/", None),
        ("http://10.0.0.1@a.example/", None),
        ("http://a.example:25/", Cause.FORBIDDEN_PORT),
        ("http://a.example/confirm/abc", Cause.ONE_TIME_PATH),
        ("http://127.0.0.1/confirm/abc", Cause.FORBIDDEN_ADDRESS),
        ("http://256.0.0.1/", Cause.MALFORMED),
        ("http://a.example/", None),
    ],
)
def test_what_is_refused_without_the_network(url: str, cause: Cause | None) -> None:
    assert refusal(parse_url(url)) is cause


def test_backoff_doubles_and_is_keyed_by_url() -> None:
    waits = [backoff(f"{A}/x", attempt, 1.0) for attempt in range(3)]
    assert waits == [backoff(f"{A}/x", attempt, 1.0) for attempt in range(3)]
    assert waits[0] != backoff(f"{A}/y", 0, 1.0)
    for attempt, wait in enumerate(waits):
        assert 0.5 * 2**attempt <= wait < 1.5 * 2**attempt


def test_retry_after_is_honoured_up_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("construction.sessions.network.probe.asyncio.sleep", sleep)
    script = [
        {"status": 429, "headers": {"Retry-After": after}}
        for after in ("7", "99999", "Wed, 21 Oct 2026 07:28:00 GMT")
    ]
    web = ScriptedWeb(DNS, {f"{A}/x": [*script, {"status": 200}]})
    runtime = NetworkRuntime(host_delay=0, backoff=0, max_retry_after=30)
    results = probe_urls([f"{A}/x"], CHECK, runtime, Captures(), wire=web.wire)
    assert results[f"{A}/x"].cause is None
    assert [pause for pause in pauses if pause] == [7, 30]


def test_proxies_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 200}})
    assert run(f"{A}/x", web).cause is None
    assert web.connected == [("93.184.216.34", 80)]


LOCATIONS = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=255), max_size=60)


@settings(max_examples=150)
@given(LOCATIONS, st.sampled_from(["", "http://", "https://a.example", "//", "/", "http:"]))
def test_no_redirect_breaks_the_prober_or_reaches_a_private_address(text: str, start: str) -> None:
    web = ScriptedWeb(DNS, {f"{A}/x": {"status": 302, "headers": {"Location": start + text}}})
    run(f"{A}/x", web)
    assert {address for address, _ in web.connected} <= {"93.184.216.34", "1.1.1.1"}
