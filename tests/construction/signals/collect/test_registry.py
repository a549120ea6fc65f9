"""Collecting a registry: paging, stopping, resuming, details, and what a capture says of itself.

And a registry in trouble: refusals, pauses, slow, broken, huge and wrong answers.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import signal
import subprocess
import sys
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from construction.signals.collect import (
    Capture,
    CollectConfig,
    RegistryConfig,
    RegistryError,
    StopReason,
    collect_file,
    collect_registry,
    history,
    read_capture,
    superseded,
)
from construction.signals.collect.fields import _source_shapes
from construction.signals.collect.registry import _Journal
from construction.signals.collect.registry_client import RegistryBusyError
from construction.signals.config import SourceKind
from data.contracts import Popularity
from data.errors import BenchmintError, ConfigError, InputError
from tests.conftest import REPO
from tests.construction.signals.collect.fake_registry import (
    FakeRegistry,
    Handler,
    Trouble,
    body,
    drip,
    drop,
    skill,
    sleepy,
    status,
)

DAY = dt.date(2026, 5, 1)
JOURNAL = ".registry-2026-05-01.journal"
ALL = CollectConfig(top=None)
LISTING = "/api/v1/skills?sort=downloads&limit=10"


def slugs(path: Path, config: CollectConfig = ALL) -> list[str]:
    return [item.slug for item in collect_file(path, "registry", DAY, config).snapshot.signals]


def test_pages_are_followed_to_the_end(tmp_path: Path) -> None:
    out = tmp_path / "may"
    with FakeRegistry([skill(n) for n in range(25)]) as registry:
        capture = collect_registry(registry.config(), ALL, DAY, out)
    assert registry.requests == [LISTING, f"{LISTING}&cursor=10", f"{LISTING}&cursor=20"]
    assert capture.stopped is StopReason.END
    assert capture.counts == {
        "pages": 3,
        "items": 25,
        "distinct": 25,
        "repeated": 0,
        "unusable": 0,
        "out_of_order": 0,
        "details": 0,
        "details_failed": 0,
    }
    assert capture.digest == hashlib.sha256(capture.path.read_bytes()).hexdigest()
    assert sorted(path.name for path in out.iterdir()) == ["captures.jsonl", capture.path.name]
    assert capture.path.name == f"registry-2026-05-01-{capture.digest[:16]}.json"
    first = collect_file(capture.path, "registry", DAY, ALL).snapshot.signals[0]
    assert (first.slug, first.name, first.tags) == ("skill-000", "Skill 0", ("latest",))
    assert first.popularity[Popularity.DOWNLOADS] == 1000
    assert first.created_at == 1_767_632_598
    assert first.provenance.rank == 1
    assert first.provenance.url == f"{registry.url}/api/v1/skills/skill-000"


def test_each_run_asks_anew_and_the_day_has_its_last_capture(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(5)]) as registry:
        config = registry.config()
        first = collect_registry(config, ALL, DAY, tmp_path)
        assert collect_registry(config, ALL, DAY, tmp_path) == first  # the same answers
        registry.skills.append(skill(7))
        second = collect_registry(config, ALL, DAY, tmp_path)
        collect_registry(config, CollectConfig(top=3), DAY + dt.timedelta(1), tmp_path)
    assert len(registry.requests) == 4
    assert (len(slugs(first.path)), len(slugs(second.path))) == (5, 6)
    assert history(tmp_path, "registry")[0].path == second.path
    assert [kept.path for kept in superseded(tmp_path, "registry")] == [first.path]
    assert len((tmp_path / "captures.jsonl").read_bytes().splitlines()) == 4


def test_a_capture_that_was_changed_is_refused(tmp_path: Path) -> None:
    with FakeRegistry([skill(1)]) as registry:
        capture = collect_registry(registry.config(), ALL, DAY, tmp_path)
    capture.path.write_bytes(capture.path.read_bytes().replace(b"999", b"998"))
    with pytest.raises(InputError, match="captures are never changed"):
        history(tmp_path, "registry")


def test_reading_stops_when_enough_is_there(tmp_path: Path) -> None:
    config = CollectConfig(top=15)
    with FakeRegistry([skill(n) for n in range(500)]) as registry:
        capture = collect_registry(registry.config(), config, DAY, tmp_path / "may")
    assert len(registry.requests) == 2
    assert capture.stopped is StopReason.ENOUGH
    assert slugs(capture.path, config) == [f"skill-{n:03d}" for n in range(15)]


def test_another_measure_is_asked_for_by_the_name_of_the_api(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(3)]) as registry:
        stars = CollectConfig(measure=Popularity.STARS, top=2)
        capture = collect_registry(registry.config(), stars, DAY, tmp_path / "stars")
        installs = CollectConfig(measure=Popularity.INSTALLS_ALL_TIME)
        collect_registry(registry.config(), installs, DAY, tmp_path / "installs")
        with pytest.raises(
            ConfigError, match="versions: clawhub can only sort by downloads, stars"
        ):
            collect_registry(
                registry.config(), CollectConfig(measure=Popularity.VERSIONS), DAY, tmp_path / "v"
            )
    requested = [path.split("&")[0].split("=")[1] for path in registry.requests]
    assert requested == ["stars", "installsAllTime"]
    assert capture.counts["out_of_order"] == 2  # this listing is by downloads, and that shows
    assert slugs(capture.path, stars) == ["skill-001", "skill-002"]


def test_a_cursor_loop_ends(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(40)]) as registry:
        registry.next_cursors["20"] = "10"
        capture = collect_registry(registry.config(), ALL, DAY, tmp_path / "may")
    assert len(registry.requests) == 3
    assert capture.stopped is StopReason.CURSOR_LOOP
    assert capture.counts["distinct"] == 30


def test_a_listing_without_end_ends(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.next_cursors = {str(n): str(n + 1) for n in range(1, 99)} | {None: "1"}
        capture = collect_registry(registry.config(max_pages=7), ALL, DAY, tmp_path / "may")
    assert len(registry.requests) == 7
    assert capture.stopped is StopReason.PAGE_LIMIT


def test_a_listing_that_changes_gives_no_skill_twice_and_says_so(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(20)]) as registry:

        def insert(number: int) -> None:
            if number == 1:  # one more above pushes skill-009 onto the second page
                grown = skill(9, stats={"downloads": 995})
                registry.skills = [skill(900), *(s for s in registry.skills if s != skill(9))]
                registry.skills.insert(10, grown)

        registry.before = insert
        capture = collect_registry(registry.config(), ALL, DAY, tmp_path / "may")
    assert capture.counts["items"] == 21
    assert capture.counts["distinct"] == 20
    assert capture.counts["repeated"] == 1
    assert capture.counts["out_of_order"] == 1
    collected = collect_file(capture.path, "registry", DAY, ALL)
    assert len(collected.snapshot.signals) == 20
    doubled = [row for row in collected.ledger if row.reason == "signal.duplicate"]
    assert [(row.observed, row.limit) for row in doubled] == [(991, 995)]
    kept = next(s for s in collected.snapshot.signals if s.slug == "skill-009")
    assert kept.popularity[Popularity.DOWNLOADS] == 995


def test_a_refused_run_goes_on_at_its_last_cursor(tmp_path: Path) -> None:
    out = tmp_path / "may"
    with FakeRegistry([skill(n) for n in range(40)]) as registry:
        registry.trouble = {2: status(500), 4: status(500)}
        with pytest.raises(RegistryError, match="status 500, after 1 attempts"):
            collect_registry(registry.config(attempts=1), ALL, DAY, out)
        journal = out / JOURNAL
        assert list(out.iterdir()) == [journal]
        journal.write_bytes(journal.read_bytes() + b'{"cursor":"20","items":[{"sl')  # torn
        with pytest.raises(RegistryError, match="status 500, after 1 attempts"):
            collect_registry(registry.config(attempts=1), ALL, DAY, out)
        capture = collect_registry(registry.config(), ALL, DAY, out)
        requested = [path.removeprefix(LISTING) for path in registry.requests]
        assert requested == ["", *(f"&cursor={n}" for n in (10, 20, 20, 30, 30))]
        whole = collect_registry(registry.config(), ALL, DAY, tmp_path / "whole")
    assert not journal.exists()
    assert capture.counts == whole.counts
    assert slugs(capture.path) == slugs(whole.path) == [f"skill-{n:03d}" for n in range(40)]


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "may"
    script = (
        "import datetime as dt, sys; from pathlib import Path\n"
        "from construction.signals.collect import *\n"
        "config = RegistryConfig.model_validate_json(sys.argv[1])\n"
        "collect_registry(config, CollectConfig(top=None), dt.date(2026, 5, 1), Path(sys.argv[2]))"
    )
    with FakeRegistry([skill(n) for n in range(30)]) as registry:
        arrived: list[int] = []

        def hang(handler: Handler) -> None:
            arrived.append(1)
            time.sleep(3)

        registry.trouble = {2: hang}
        dumped = registry.config().model_dump_json()
        run = subprocess.Popen([sys.executable, "-c", script, dumped, str(out)], cwd=REPO)
        deadline = time.monotonic() + 60
        while not arrived and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait()
        capture = collect_registry(registry.config(), ALL, DAY, out)
    assert registry.requests == [
        LISTING,
        f"{LISTING}&cursor=10",
        f"{LISTING}&cursor=20",
        f"{LISTING}&cursor=20",
    ]
    assert slugs(capture.path) == [f"skill-{n:03d}" for n in range(30)]


def test_a_journal_serves_its_own_request_and_one_process(tmp_path: Path) -> None:
    out = tmp_path / "may"
    with FakeRegistry([skill(n) for n in range(30)]) as registry:
        registry.trouble = {1: status(400)}
        config = registry.config()
        with pytest.raises(RegistryError, match="status 400"):
            collect_registry(config, ALL, DAY, out)
        with pytest.raises(
            InputError, match=r"journal:1: found a line that does not belong to this"
        ):
            collect_registry(config, CollectConfig(top=7), DAY, out)
        request = json.loads((out / JOURNAL).read_bytes().splitlines()[0])
        with (
            _Journal(out / JOURNAL, request["request"], _source_shapes()[SourceKind.CLAWHUB]),
            pytest.raises(InputError, match="a journal in use"),
        ):
            collect_registry(config, ALL, DAY, out)
        assert len(registry.requests) == 2
        assert collect_registry(config, ALL, DAY, out).counts["distinct"] == 30


@pytest.mark.parametrize(
    "address",
    [
        "ftp://registry.example",
        "registry.example",
        "http://",
        "http://user:secret@registry.example",
        "http://registry.example?key=1",
        "http://registry.example#part",
        "http://registry.example:0",
        "http://registry.example:99999",
        "http://registry.example/a b",
        "http://registry.example/\n",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        RegistryConfig(base_url=address)


def test_an_address_may_have_a_path(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        config = registry.config(base_url=f"{registry.url}/hub/")
        with pytest.raises(BenchmintError, match=r"no such page.*Check base_url"):
            collect_registry(config, ALL, DAY, tmp_path / "may")
    assert registry.requests == [f"/hub{LISTING}"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"capture": {"source": "x"}}'])
def test_a_file_that_is_no_capture_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "may").write_bytes(content)
    with pytest.raises(InputError, match="no capture of a registry"):
        read_capture(tmp_path / "may")


CALM = b'{"items": [], "nextCursor": null}'


def collect(config: RegistryConfig, folder: Path) -> Capture:
    return collect_registry(config, CollectConfig(top=None), dt.date(2026, 5, 1), folder)


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504])
def test_passing_trouble_is_tried_again(tmp_path: Path, code: int) -> None:
    with FakeRegistry([skill(n) for n in range(12)]) as registry:
        registry.trouble = {0: status(code), 1: status(code), 3: status(code)}
        capture = collect(registry.config(), tmp_path)
    assert len(registry.requests) == 5
    assert capture.counts["distinct"] == 12


@pytest.mark.parametrize("code", [400, 401, 403, 405, 418, 451, 501])
def test_lasting_trouble_is_not(tmp_path: Path, code: int) -> None:
    with FakeRegistry([]) as registry:
        registry.always = status(code)
        with pytest.raises(RegistryError, match=f"found status {code}; expected 200"):
            collect(registry.config(), tmp_path)
    assert len(registry.requests) == 1


def test_attempts_end(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.always = status(503)
        with pytest.raises(RegistryError, match="status 503, after 3 attempts") as caught:
            collect(registry.config(attempts=3), tmp_path)
    assert len(registry.requests) == 3
    assert caught.value.url == f"{registry.url}/api/v1/skills"


def test_pauses_grow(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.always = status(503)
        with pytest.raises(RegistryError):
            collect(registry.config(attempts=4, backoff=0.1), tmp_path)
    pauses = [b - a for a, b in zip(registry.times, registry.times[1:], strict=False)]
    # base x 2^n x a keyed 0.5 to 1.5, and some time for the machine
    assert all(0.05 * 2**n <= pause < 0.15 * 2**n + 0.5 for n, pause in enumerate(pauses))


@pytest.mark.parametrize("header", ["Retry_After", "RateLimit_Reset"])
def test_the_pause_asked_for_is_kept(tmp_path: Path, header: str) -> None:
    with FakeRegistry([]) as registry:
        registry.trouble = {0: status(429, **{header: "1"})}
        collect(registry.config(), tmp_path)
    assert 1.0 <= registry.times[1] - registry.times[0] < 3


def test_the_pause_may_be_a_date(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.trouble = {
            0: status(429, Retry_After="Thu, 01 Jan 2026 00:00:00 GMT"),  # long past
            1: status(429, Retry_After="tomorrow, perhaps"),
            2: status(429, Retry_After="-5"),
            3: lambda handler: handler.send(
                429, b"", Retry_After=formatdate(time.time() + 2.5, usegmt=True)
            ),
        }
        collect(registry.config(attempts=6), tmp_path)
    assert registry.times[3] - registry.times[0] < 1
    assert 1.4 <= registry.times[4] - registry.times[3] < 4


@pytest.mark.parametrize("header", ["3600", "9" * 400, "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_pause_beyond_the_bound_ends_the_run_at_once(tmp_path: Path, header: str) -> None:
    with FakeRegistry([skill(n) for n in range(20)]) as registry:
        registry.trouble = {1: status(429, Retry_After=header)}
        with pytest.raises(RegistryBusyError, match=r"to wait; expected at most 120 s.*run again"):
            collect(registry.config(), tmp_path)
        assert len(registry.requests) == 2
        assert collect(registry.config(), tmp_path).counts["pages"] == 2
    assert len(registry.requests) == 3


def test_a_busy_registry_is_not_asked_for_further_details(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(9)]) as registry:
        registry.trouble = {2: status(429, Retry_After="3600")}
        with pytest.raises(RegistryBusyError):
            collect(registry.config(details=True), tmp_path)
    assert len(registry.requests) == 3


@pytest.mark.parametrize("trouble", [drop, sleepy, drip])
def test_broken_and_slow_answers_are_asked_for_again(tmp_path: Path, trouble: Trouble) -> None:
    started = time.monotonic()
    with FakeRegistry([skill(n) for n in range(12)]) as registry:
        registry.trouble = {1: trouble}
        capture = collect(registry.config(timeout=0.5), tmp_path)
        assert time.monotonic() - started < 9  # of the ten that `drip` takes
    assert len(registry.requests) == 3
    assert capture.counts["distinct"] == 12


def test_a_registry_that_never_answers_is_named(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.always = sleepy
        with pytest.raises(RegistryError, match=r"no whole answer in 0.2 s, after 2 attempts"):
            collect(registry.config(timeout=0.2, attempts=2), tmp_path)
    config = registry.config(attempts=2)  # and now nobody listens there
    with pytest.raises(RegistryError, match=r"a broken connection \(ConnectError\), after 2"):
        collect(config, tmp_path)


@pytest.mark.parametrize(
    ("content", "actual"),
    [
        (b"<html>maintenance</html>", "24 bytes that are not JSON"),
        (b"", "0 bytes that are not JSON"),
        (b'{"items": [', "11 bytes that are not JSON"),
        (b"[" * 5000 + b"]" * 5000, "10000 bytes that are not JSON"),
        (b"[]", "JSON that is a list of length 0"),
        (b"null", "JSON that is nothing"),
        (b'{"items": {}}', "a page whose items are an object of length 0"),
        (b'{"nextCursor": null}', "a page whose items are nothing"),
        (b'{"items": [], "nextCursor": 7}', "a page whose cursor is a value of type int"),
        (b'{"items": [], "nextCursor": "%s"}' % (b"c" * 5000), "a page whose cursor is text"),
    ],
)
def test_garbage_is_asked_for_again_and_then_named(
    tmp_path: Path, content: bytes, actual: str
) -> None:
    with FakeRegistry([]) as registry:
        registry.always = body(content)
        with pytest.raises(RegistryError, match=actual):
            collect(registry.config(attempts=2), tmp_path)
        assert len(registry.requests) == 2
        registry.always = None
        assert collect(registry.config(), tmp_path).counts["pages"] == 1


def unbounded(handler: Handler) -> None:
    """No length told; megabytes until the client has enough."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b" " * 100_000)


@pytest.mark.parametrize("trouble", [body(b" " * 3_000_000), unbounded])
def test_a_huge_answer_is_cut_off(tmp_path: Path, trouble: Trouble) -> None:
    with FakeRegistry([]) as registry:
        registry.always = trouble
        with pytest.raises(RegistryError, match="more than 1000000 bytes"):
            collect(registry.config(max_answer_bytes=1_000_000), tmp_path)
    assert len(registry.requests) == 1


def test_a_compressed_answer_is_refused_unread(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.always = body(gzip.compress(CALM), Content_Encoding="gzip")
        with pytest.raises(RegistryError, match="a compressed answer"):
            collect(registry.config(), tmp_path)
    assert registry.headers[0]["Accept-Encoding"] == "identity"


def test_half_an_emoji_is_no_garbage(tmp_path: Path) -> None:
    page = b'{"items": [{"slug": "cut", "summary": "so \\ud83d", "stats": {"downloads": 1}}]}'
    with FakeRegistry([]) as registry:
        registry.always = body(page)
        capture = collect(registry.config(), tmp_path)
    assert "so \ufffd" in capture.path.read_text(encoding="utf-8")


def test_a_redirect_stays_in_its_origin(tmp_path: Path) -> None:
    with FakeRegistry([skill(1)]) as registry:
        registry.trouble = {
            0: status(308, Location="/api/v1/skills?sort=downloads&limit=10&cursor=0")
        }
        assert collect(registry.config(), tmp_path).counts["distinct"] == 1
    assert registry.requests[1] == "/api/v1/skills?sort=downloads&limit=10&cursor=0"


@pytest.mark.parametrize(
    "target", ["{other}/api/v1/skills", "https://{host}/", "file:///etc/passwd", "http://[", ""]
)
def test_a_redirect_elsewhere_is_not_followed(tmp_path: Path, target: str) -> None:
    with FakeRegistry([]) as registry, FakeRegistry([]) as other:
        location = target.format(other=other.url, host=registry.url.removeprefix("http://"))
        registry.trouble = {0: status(302, Location=location)}
        if target:
            with pytest.raises(RegistryError, match="a redirect to another scheme, host or port"):
                collect(registry.config(), tmp_path)
        else:  # no target is the same address: asked again
            collect(registry.config(), tmp_path)
    assert other.requests == []
    assert len(registry.requests) == (1 if target else 2)


def test_redirects_without_end_end(tmp_path: Path) -> None:
    with FakeRegistry([]) as registry:
        registry.always = status(302, Location="/api/v1/skills")
        with pytest.raises(RegistryError, match="redirects without end"):
            collect(registry.config(), tmp_path)
    assert len(registry.requests) == 5


def test_the_rate_is_kept(tmp_path: Path) -> None:
    with FakeRegistry([skill(n) for n in range(60)]) as registry:
        collect(registry.config(requests_per_second=20), tmp_path)
    gaps: list[Any] = [b - a for a, b in zip(registry.times, registry.times[1:], strict=False)]
    assert len(gaps) == 5
    # Arrival jitters on a busy machine; without a limit all of them come within a hundredth.
    assert registry.times[-1] - registry.times[0] >= 3 * 0.05
