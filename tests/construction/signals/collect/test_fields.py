"""One record as a signal: every name that sources use, and every value that is refused."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from pydantic import ValidationError

from construction.signals.collect import (
    CollectConfig,
    RegistryConfig,
    StopReason,
    collect_file,
    collect_registry,
)
from construction.signals.collect.fields import (
    BadFieldError,
    _source_shapes,
    is_slug,
    owner_of,
    signal_of,
    value_at,
)
from construction.signals.config import SourceKind
from data.contracts import Popularity, Signal, SignalProvenance
from data.errors import ConfigError, InputError

# The kinds of sources: each is paged and read by its own table, and other tables are declared.

DAY = dt.date(2026, 3, 1)
Answer = Callable[[str, Mapping[str, str]], Any]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """Serve JSON on the loopback: base address, and the requests as they come."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            parts = urlsplit(self.path)
            body = json.dumps(answer(parts.path, dict(parse_qsl(parts.query)))).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at `requests`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def collected(folder: Path, url: str, config: CollectConfig) -> tuple[list[Signal], StopReason]:
    """The signals of a capture, read back from its file."""
    registry = RegistryConfig(base_url=url, page_size=2, requests_per_second=100, source="hub")
    capture = collect_registry(registry, config, DAY, folder)
    snapshot = collect_file(capture.path, "hub", DAY, config).snapshot
    return list(snapshot.signals), capture.stopped


def skills_sh(path: str, query: Mapping[str, str]) -> Any:
    assert path == "/api/skills"
    start = 2 * int(query["page"])
    skills = [
        {"source": f"ann/tools-{n}", "skillId": f"fold-{n}", "name": f"fold-{n}", "installs": 9 - n}
        for n in range(5)
    ]
    return {"skills": skills[start : start + 2], "hasMore": start + 2 < len(skills)}


def smithery(path: str, query: Mapping[str, str]) -> Any:
    assert path == "/servers"
    page = int(query["page"])
    servers = [
        {"qualifiedName": f"@bea/letters-{n}", "displayName": f"Letters {n}", "useCount": 30 - n,
         "description": f"Sends letters by way {n}", "createdAt": "2026-01-05T17:03:18Z"}
        for n in range(3)
    ]  # fmt: skip
    pagination = {"currentPage": page, "totalPages": 2, "totalCount": 3}
    return {"servers": servers[2 * page - 2 : 2 * page], "pagination": pagination}


def mcp(path: str, query: Mapping[str, str]) -> Any:
    assert (path, query["version"], query["limit"]) == ("/v0.1/servers", "latest", "2")
    names = ["io.example.cem/ledger", "io.example.dan/maps", "io.example.eve/tides"]
    start = names.index(query["cursor"]) if "cursor" in query else 0
    servers = [
        {"server": {"name": name, "description": f"Reads {name[-4:]}", "version": "1.0.0",
                    "repository": {"url": f"https://code.example/{name}", "source": "git"}}}
        for name in names[start : start + 2]
    ]  # fmt: skip
    metadata = {"count": len(servers)} | ({"nextCursor": names[2]} if start == 0 else {})
    return {"servers": servers, "metadata": metadata}


def marketplace(path: str, query: Mapping[str, str]) -> Any:
    assert (path, query) == ("/plugins/marketplace.json", {})
    plugin = {"name": "tidy-notes", "description": "Tidies notes", "source": "./tidy",
              "author": {"name": "Fay"}, "keywords": ["notes", "files"]}  # fmt: skip
    return {"name": "shelf", "owner": {"name": "Fay"}, "plugins": [plugin]}


@pytest.mark.parametrize(
    ("kind", "measure", "answer", "base", "first", "n", "requests"),
    [
        ("skills_sh", "installs_all_time", skills_sh, "",
         ("ann/tools-0/fold-0", "fold-0", "", None, 9), 5, 3),
        ("smithery", "uses", smithery, "",
         ("@bea/letters-0", "Letters 0", "Sends letters by way 0", None, 30), 3, 2),
        ("mcp", "listings", mcp, "",
         ("io.example.cem/ledger", "ledger", "Reads dger", None, 1), 3, 2),
        ("marketplace", "listings", marketplace, "/plugins/marketplace.json",
         ("tidy-notes", "tidy-notes", "Tidies notes", "Fay", 1), 1, 1),
    ],
)  # fmt: skip
def test_each_kind_is_read_to_its_end(
    tmp_path: Path, kind: str, measure: str, answer: Answer, base: str, first: object, n: int,
    requests: int,
) -> None:  # fmt: skip
    config = CollectConfig(kind=SourceKind(kind), measure=Popularity(measure), top=None)
    with serving(answer) as (url, seen):
        signals, stopped = collected(tmp_path, f"{url}{base}", config)
    assert (len(signals), stopped, len(seen)) == (n, StopReason.END, requests)
    top = signals[0]
    assert (top.slug, top.name, top.summary, top.owner, top.popularity[config.measure]) == first


def test_every_kind_is_declared() -> None:
    assert _source_shapes().keys() == set(SourceKind)


@pytest.mark.parametrize(
    ("kind", "measure", "known"),
    [("mcp", "downloads", "listings"), ("skills_sh", "downloads", "installs_all_time"),
     ("clawhub", "versions", "downloads, stars")],
)  # fmt: skip
def test_a_count_that_a_source_does_not_give_is_not_guessed(
    tmp_path: Path, kind: str, measure: str, known: str
) -> None:
    config = CollectConfig(kind=SourceKind(kind), measure=Popularity(measure))
    with pytest.raises(ConfigError, match=f"{kind} can only sort by {known}"):
        collect_registry(RegistryConfig(base_url="http://127.0.0.1:9"), config, DAY, tmp_path)


TABLE = "repo,stargazers,about\nann/fold,70,Folds paper\nbea/post,many,Sends letters\n"
FIELDS = {"slug": "repo", "stars": "stargazers", "summary": "about"}


def declared(**fields: Any) -> CollectConfig:
    return CollectConfig.model_validate({"measure": "stars", "fields": fields})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.csv", TABLE),
        ("list.txt", "\ufeff" + TABLE.replace("\n", "\r\n")),
        ("list.json", '[{"repo": "ann/fold", "stargazers": 70, "about": "Folds paper"}]'),
        ("list.jsonl", '{"repo": "ann/fold", "stargazers": 70, "about": "Folds paper"}\n'),
        ("list.data", '{"repo": "ann/fold", "stargazers": 70, "about": "Folds paper"}\n{"repo":\n'),
        ("list.csv", '{"items": [{"repo": "ann/fold", "stargazers": 70, "about": "Folds paper"}]}'),
    ],
)
def test_a_table_of_any_shape_is_read_by_declared_fields(
    tmp_path: Path, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_text(content, newline="")
    (signal,) = collect_file(path, "made", DAY, declared(**FIELDS)).snapshot.signals
    assert (signal.slug, signal.name, signal.summary) == ("ann/fold", "fold", "Folds paper")
    assert signal.popularity == {Popularity.STARS: 70}


def test_only_what_is_declared_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("repo,stars,forks,summary\nann/fold,70,9,Folds paper\n")
    config = declared(slug="repo", stars="forks")
    (signal,) = collect_file(path, "made", DAY, config).snapshot.signals
    assert (signal.popularity, signal.summary) == ({Popularity.STARS: 9}, "")


def test_a_declared_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("repo,stars\nann/fold,70\n")
    with pytest.raises(InputError, match=r"list\.csv:1: found 2 columns.*repo, stargazers, about"):
        collect_file(path, "made", DAY, declared(**FIELDS))


@pytest.mark.parametrize("fields", [{"slug": "a"}, {"stars": "a"}, {"slug": "a", "sum": "b"}])
def test_a_mapping_without_slug_or_count_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        CollectConfig.model_validate({"fields": fields})


def test_names_with_dots_lead_into_objects_unless_they_are_whole() -> None:
    record = {"a": {"b": 1, "c": {"e": 3}}, "a.b": 2, "d": [1]}
    seen = [value_at(record, name) for name in ("a.b", "a.c.e", "d.e", "x")]
    assert seen == [2, 3, None, None]


def read(**fields: Any) -> Signal:
    return signal_of({"slug": "a", "downloads": 1} | fields, "hub", DAY)


def test_the_two_shapes_of_a_record_say_the_same() -> None:
    expected = Signal(
        slug="pdf-tools",
        name="PDF Tools",
        summary="Splits and joins",
        owner="ann",
        popularity={
            Popularity.DOWNLOADS: 120,
            Popularity.STARS: 7,
            Popularity.INSTALLS_CURRENT: 3,
            Popularity.INSTALLS_ALL_TIME: 9,
            Popularity.COMMENTS: 0,
            Popularity.VERSIONS: 2,
        },
        tags=("latest", "pdf"),
        provenance=SignalProvenance("hub", DAY, "https://hub.example/ann/pdf-tools", 4),
        created_at=1767632598.0,
    )
    row = {
        "rank": "4",
        "slug": "pdf-tools",
        "name": "PDF Tools",
        "summary": "Splits and joins",
        "owner": "ann",
        "downloads": "120",
        "stars": "7",
        "installs_current": "3",
        "installs_all_time": "9.0",
        "comments": "0",
        "versions": " 2 ",
        "tags": "pdf; latest|pdf,",
        "created_at": "1767632598000",
        "url": "https://hub.example/ann/pdf-tools",
    }
    record = {
        "rank": 4,
        "slug": "pdf-tools",
        "displayName": "PDF Tools",
        "summary": "Splits and joins",
        "owner": {"handle": "ann", "image": None},
        "stats": {
            "downloads": 120.0,
            "stars": 7,
            "installsCurrent": 3,
            "installsAllTime": 9,
            "comments": 0,
            "versions": 2,
        },
        "tags": {"latest": "1.0.0", "pdf": "0.9.0"},
        "created_date": "2026-01-05 17:03:18 UTC",
        "clawhub_url": "https://hub.example/ann/pdf-tools",
        "version": "1.0.0",
    }
    assert signal_of(row, "hub", DAY) == expected
    assert signal_of(record, "hub", DAY) == expected


def test_what_is_not_given_is_absent_and_not_zero() -> None:
    signal = read(stars="", comments=None, name="", summary=None, tags=None, rank="", url="")
    assert signal.popularity == {Popularity.DOWNLOADS: 1}
    assert (signal.name, signal.summary, signal.owner, signal.tags) == ("a", "", None, ())
    assert (signal.created_at, signal.provenance.url, signal.provenance.rank) == (None, None, None)


def test_control_characters_do_not_come_through() -> None:
    signal = read(name="a\x00b\x1b[31m", summary=" one\r\ntwo\tthree\u2028four\x9b ")
    assert signal.name == "a b [31m"
    assert signal.summary == "one\ntwo\tthree four"


@pytest.mark.parametrize(
    "slug",
    ["a", "A-1", "v1.2_x", "天气", "0", "x" * 128, "a/b", "own/repo/skill", "@scope/a", "a/b/c/d"],
)
def test_slugs(slug: str) -> None:
    assert is_slug(slug)


@pytest.mark.parametrize(
    "slug",
    [
        *(
            "",
            ".",
            "..",
            "a..b",
            "../a",
            "/a",
            "a/",
            "a//b",
            "a/../b",
            "a/b/c/d/e",
            "a\\b",
            "C:a",
            "a b",
            "a\n",
            "-a",
            ".a",
        ),
        *("a%2e", "a\x00", "a?b", "a#b", "x" * 129, None, 7, ["a"], "a\ud800"),
    ],
)
def test_what_is_no_slug(slug: object) -> None:
    assert not is_slug(slug)
    with pytest.raises(BadFieldError, match="slug: found"):
        read(slug=slug)


@pytest.mark.parametrize(
    ("field", "value", "actual"),
    [
        ("downloads", -1, "downloads: a value of type int"),
        ("downloads", 1.5, "downloads: a value of type float"),
        ("downloads", float("nan"), "downloads: a value of type float"),
        ("downloads", float("inf"), "downloads: a value of type float"),
        ("downloads", 1e30, "downloads: a value of type int"),
        ("downloads", True, "downloads: a value of type bool"),
        ("downloads", "1,234", "downloads: text of length 5"),
        ("downloads", "9" * 5000, "downloads: text of length 5000"),
        ("downloads", "١٢", "downloads: text of length 2"),
        ("downloads", "-5", "downloads: text of length 2"),
        ("stars", [1], "stars: a list of length 1"),
        ("stats", "many", "stats: text of length 4"),
        ("stats", {"downloads": "x"}, "downloads: text of length 1"),
        ("rank", 0, "rank: 0"),
        ("rank", "first", "rank: text of length 5"),
        ("name", 7, "name: a value of type int"),
        ("name", "x" * 301, "name: text of length 301"),
        ("summary", "x" * 20_001, "summary: text of length 20001"),
        ("owner", ["ann"], "owner: a list of length 1"),
        ("owner", {"handle": 7}, "owner: a value of type int"),
        ("tags", 7, "tags: a value of type int"),
        ("tags", [None, 7], "tag: a value of type int"),
        ("tags", ["t"] * 201, "tags: a list of length 201"),
        ("created_at", "last week", "created_at: text of length 9"),
        ("created_at", -5, "created_at: a value of type int"),
        ("created_at", {}, "created_at: an object of length 0"),
        ("url", "javascript:alert(1)", "url: text of length 19"),
        ("url", "//hub.example/a", "url: text of length 15"),
        ("url", "http://", "url: text of length 7"),
        ("url", "http://[", "url: text of length 8"),
        ("url", "http://a/\u202eb", "url: text of length 11"),
        ("url", "http://a/ b", "url: text of length 11"),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_type_and_length(
    field: str, value: object, actual: str
) -> None:
    with pytest.raises(BadFieldError) as caught:
        read(**{field: value})
    assert caught.value.actual == actual


def test_a_record_without_any_count_is_no_signal() -> None:
    with pytest.raises(BadFieldError, match="popularity: found no count"):
        signal_of({"slug": "a", "downloads": ""}, "hub", DAY)


@pytest.mark.parametrize(
    ("record", "owner"),
    [
        ({"owner": {"handle": "ann"}}, "ann"),
        ({"owner": {"displayName": "Ann"}}, None),
        ({"owner_handle": "bea", "owner": {"handle": "ann"}}, "bea"),
        ({"ownerHandle": ""}, None),
        ({}, None),
    ],
)
def test_owners(record: dict[str, Any], owner: str | None) -> None:
    assert owner_of(record) == owner


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-01-05", 1767571200.0),
        ("2026-01-05T17:03:18Z", 1767632598.0),
        ("2026-01-05T18:03:18+01:00", 1767632598.0),
        ("1767632598", 1767632598.0),
        (1767632598123, 1767632598.123),
        (0, 0.0),
    ],
)
def test_dates(value: object, seconds: float) -> None:
    assert read(created_at=value).created_at == seconds
