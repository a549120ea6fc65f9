"""The data tools as an agent meets them: a real MCP client, over stdio and HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from construction.statements.model import write_statements
from construction.statements.tools.agent_tools import Call, CallLog, answer
from construction.statements.tools.client import DataTools
from construction.statements.tools.database import Database, open_database
from data.errors import InputError
from flows.evaluate.table_server import build_server
from flows.mcp_serving import MAX_BODY, serve_http
from tests.conftest import REPO
from tests.construction.statements.tools.tiny import (
    KIRIGAURA,
    QUANDELL,
    REVENUE,
    SALES_JA,
    tiny_database,
    tiny_statements,
)

_RUN = (
    "import typer; from flows.commands.workspace import serve_tables_command; "
    "app = typer.Typer(); app.command()(serve_tables_command); app()"
)
_ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO)}
_PROTOCOLS = ("2025-06-18", "2026-07-28")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("database") / "tables"
    write_statements(folder, tiny_statements())
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "calls.jsonl"


@pytest.fixture(scope="module")
def port(folder: Path, log: Path) -> Iterator[int]:
    """A server on a free port, stopped at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", _RUN, str(folder), "--http", "0", "--log", str(log)],
        cwd=REPO,
        env=_ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        serving = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", process.stderr.readline())
        assert serving is not None
        yield int(serving[1])
        process.terminate()
        process.wait(120)


def ask(target: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(target) as client:
            with anyio.fail_after(30):
                return await work(client)

    return anyio.run(run)


async def find_and_read(client: Client) -> dict[str, Any]:
    """What an agent does: company, series, value."""
    companies = await client.call_tool("discover_companies", {"query": "kirigaura precision"})
    company_id = companies.structured_content["companies"][0]["company_id"]
    requests = {"company_id": company_id, "query": "net sales"}
    series = await client.call_tool("discover_company_series", requests)
    requests = {
        "company_id": company_id,
        "series_id": series.structured_content["series"][0]["series_id"],
        "period": "FY2024",
    }
    values = await client.call_tool("get_company_fundamentals", requests)
    assert not values.is_error
    assert json.loads(values.content[0].text) == values.structured_content  # type: ignore[union-attr]
    actual: dict[str, Any] = values.structured_content
    return actual


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def test_an_agent_over_stdio(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", _RUN, str(folder), "--log", str(log)],
        env=_ENVIRONMENT,
        cwd=REPO,
    )
    actual = ask(server, find_and_read)
    assert (actual["series_id"], actual["values"][0]["value"]) == (SALES_JA, "7000")
    report = [(line["tool"], line["outcome"], line["rows"]) for line in lines(log)]
    assert report == [
        ("discover_companies", "ok", 1),
        ("discover_company_series", "ok", 1),
        ("get_company_fundamentals", "ok", 1),
    ]
    assert log.stat().st_mode & 0o777 == 0o600


def test_an_agent_over_http(port: int, log: Path) -> None:
    actual = ask(f"http://127.0.0.1:{port}/mcp", find_and_read)
    assert (actual["company_id"], actual["period_asked"]) == (KIRIGAURA, "fiscal year 2024")
    assert lines(log)[-1]["arguments"] == {
        "company_id": KIRIGAURA,
        "series_id": SALES_JA,
        "period": "FY2024",
    }


def test_the_log_is_the_trace_of_an_attempt(
    port: int, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHMINT_QUESTION", "q-0042")
    monkeypatch.setenv("BENCHMINT_ATTEMPT", "2")
    with DataTools(f"http://127.0.0.1:{port}/mcp") as client:
        answers = [
            client.call("discover_companies", {"query": "霧ヶ浦", "country": None, "limit": None}),
            client.call("discover_company_series", {"company_id": "0101"}),
            client.call("discover_companies", {"query": ""}),
        ]
    calls = lines(log)[-3:]
    assert [(call["question"], call["attempt"]) for call in calls] == [("q-0042", "2")] * 3
    assert [call["output"] for call in calls] == [text for text, _ in answers]
    assert [refused for _, refused in answers] == [False, False, True]
    assert KIRIGAURA in json.loads(answers[1][0])["note"]


def test_two_clients_at_once(port: int, log: Path) -> None:
    before = len(lines(log)) if log.exists() else 0
    answers: list[str] = []

    async def work(client: Client, company_id: str, series_id: str, others: anyio.Event) -> None:
        requests = {"company_id": company_id, "series_id": series_id, "limit": 1}
        for _ in range(10):
            result = await client.call_tool("get_company_fundamentals", requests)
            answers.append(result.structured_content["values"][0]["value"])
            others.set()

    async def run() -> None:
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(url) as item, Client(url) as two, anyio.create_task_group() as group:
            event = anyio.Event()
            group.start_soon(work, item, QUANDELL, REVENUE, event)
            group.start_soon(work, two, KIRIGAURA, SALES_JA, event)

    anyio.run(run)
    assert sorted(answers) == ["125000000"] * 10 + ["7000"] * 10
    assert len(lines(log)) == before + 20


def test_descriptions_tell_the_period_conventions(folder: Path) -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    server = build_server(open_database(folder), CallLog(None))
    tools = {tool.name: tool for tool in ask(server, listed)}
    assert list(tools) == [
        "discover_companies",
        "discover_company_series",
        "get_company_fundamentals",
    ]
    report = tools["get_company_fundamentals"].description or ""
    for words in ("Fiscal year:", "Calendar period:", "Year to date:", "convention"):
        assert words in report
    schema = tools["get_company_fundamentals"].input_schema
    assert schema["properties"]["limit"] == {
        "type": ["integer", "null"],
        "description": "most values to return (1 to 500; null: 50)",
    }
    assert schema["properties"]["convention"]["enum"] == ["fiscal", "calendar", None]
    for tool in tools.values():
        schema = tool.input_schema
        assert schema["additionalProperties"] is False
        for name, field in schema["properties"].items():
            assert (name in schema["required"]) != ("null" in field["type"])
        keywords = {key for field in schema["properties"].values() for key in field}
        assert keywords <= {"type", "description", "enum"}
    for tool in tools.values():
        assert tool.output_schema is not None and tool.output_schema["type"] == "object"
        assert tool.annotations is not None and tool.annotations.read_only_hint


@pytest.fixture(scope="module")
def database() -> Database:
    return tiny_database()


@pytest.mark.parametrize(
    ("tool", "arguments", "outcome", "report"),
    [
        ("drop_tables", {}, "invalid", "No such tool. There are: discover_companies"),
        ("discover_companies", {}, "invalid", "query: Field required"),
        ("discover_companies", {"query": "x" * 201}, "invalid", "at most 200 characters"),
        ("discover_companies", {"query": ["a"]}, "invalid", "query: Input should be a valid str"),
        ("discover_companies", {"query": "a", "limit": 51}, "invalid", "less than or equal to 50"),
        ("discover_companies", {"query": "a", "max": 3}, "invalid", "max: there is no such arg"),
        ("discover_company_series", {"company_id": "sec:999"}, "refused", "Nearest: sec:9990001"),
        (
            "get_company_fundamentals",
            {"company_id": QUANDELL, "series_id": REVENUE, "convention": "lunar"},
            "invalid",
            "'fiscal' or 'calendar'",
        ),
        (
            "get_company_fundamentals",
            {"company_id": QUANDELL, "series_id": REVENUE, "period": "when it rains"},
            "refused",
            "expected FY2010",
        ),
    ],
)
def test_bad_calls_are_told_what_is_wrong(
    database: Database, tool: str, arguments: dict[str, Any], outcome: str, report: str
) -> None:
    reply = answer(database, tool, arguments)
    assert (reply.outcome, reply.rows, reply.structured) == (outcome, 0, None)
    assert report in reply.text and "Traceback" not in reply.text and len(reply.text) <= 2000


def test_a_fault_of_ours_is_one_line_without_text(database: Database) -> None:
    fields: dict[str, Any] = {name: getattr(database, name) for name in Database.__slots__}
    fields["names"] = 3
    broken = Database(**fields)
    reply = answer(broken, "discover_companies", {"query": "secret words"})
    assert reply.outcome == "error" and reply.text.startswith("Internal error: TypeError at ")
    assert "secret" not in reply.text


def post(port: int, protocol: str, *, attempts: int = 3, **headers: str) -> int:
    """The status of a tool call with these headers."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/mcp", skip_host=True)
    base = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": protocol,
    }
    content = json.dumps(body).encode()
    for name, value in (base | headers | {"Content-Length": str(len(content))}).items():
        connection.putheader(name, value)
    try:
        connection.endheaders(content)
        return connection.getresponse().status
    except ConnectionError:  # refused before the body was read, which a busy machine shows first
        if attempts == 1:
            raise
        return post(port, protocol, attempts=attempts - 1, **headers)
    finally:
        connection.close()


@pytest.mark.parametrize("protocol", _PROTOCOLS)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", "localhost:1", ""]
)
def test_a_foreign_host_is_refused(port: int, protocol: str, host: str) -> None:
    assert post(port, protocol, Host=host) == 421


@pytest.mark.parametrize("protocol", _PROTOCOLS)
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(port: int, protocol: str, origin: str) -> None:
    assert post(port, protocol, Origin=origin) == 403


@pytest.mark.parametrize("protocol", _PROTOCOLS)
def test_a_large_body_is_refused(port: int, protocol: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": protocol}
    connection.request("POST", "/mcp", b" " * (MAX_BODY + 1), headers)
    assert connection.getresponse().status == 413
    connection.close()


def test_the_server_is_on_the_loopback_only(port: int) -> None:
    wanted = f":{port:04X}"
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(wanted) and line.split()[3] == "0A"
    ]
    assert listening == [f"0100007F{wanted}"]


def test_the_log_is_safe_to_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    hostile = {
        "query": "a\x1b[2J\u202eb\n{}" + "y" * 300,
        "list": [1, 2],
        "big": 10**400,
        **{f"k{number}": None for number in range(30)},
    }
    CallLog(path).record(Call("discover_companies\x00", hostile, "invalid", 0, 0.5))
    raw = path.read_bytes()
    (line,) = lines(path)
    assert raw.count(b"\n") == 1 and b"\x1b" not in raw and len(raw) < 3000
    shown = line["arguments"]
    assert line["tool"] == "discover_companies⟨U+0000⟩"
    assert shown["query"].startswith("a⟨U+001B⟩[2J⟨U+202E⟩b {}y")
    assert shown["query"].endswith(f"({len(hostile['query'])} characters)")  # type: ignore[arg-type]
    assert (shown["list"], shown["…"]) == ("list of 2", "13 more")
    assert shown["big"].endswith("(401 characters)")


def test_two_writers_never_tear_a_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    code = (
        "import sys; from pathlib import Path\n"
        "from construction.statements.tools.agent_tools import Call, CallLog\n"
        "log = CallLog(Path(sys.argv[1]))\n"
        "for n in range(200): log.record(Call(sys.argv[2], {'query': 'x' * 190}, 'ok', n, 0.1))\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name], env=_ENVIRONMENT)
        for name in ("one", "two")
    ]
    log = CallLog(path)

    def write() -> None:
        for number in range(200):
            log.record(Call("three", {}, "ok", number, 0.1))

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait(300) for writer in writers] == [0, 0]
    report = lines(path)
    assert len(report) == 800
    for name in ("one", "two"):
        assert [line["rows"] for line in report if line["tool"] == name] == list(range(200))


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"companies\.parquet: found no file; expected the table"):
        open_database(tmp_path)


def test_a_taken_port_and_a_log_that_cannot_be_written_are_refused(
    port: int, database: Database, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"port {port}: found Address already in use"):
        serve_http(build_server(database, CallLog(None)), port)
    with pytest.raises(InputError, match="expected a file that the call log can be appended to"):
        CallLog(tmp_path)
