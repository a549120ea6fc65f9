"""The audit page over HTTP: who may ask, what is logged, what is signed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from data import hash_chain
from data.audit_page import SIGNATURES
from data.canonical import digest
from data.errors import InputError
from data.staging.runs import CHANGES_FILE, NAMES_FILE
from flows.audit_server import _audit_app, _evidence, _load_audit, export_page, serve_page
from flows.commands.audit import audit_command
from tests.flows.audit_workspace import HOSTILE, hostile_workspace, verdicts, write_workspace

PORT, TOKEN = 4321, "the-token"
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_workspace(tmp_path_factory.mktemp("audit") / "out")


@pytest.fixture
def out(made: Path) -> Path:
    for name in ("access.log", SIGNATURES):
        (made / "private" / name).unlink(missing_ok=True)
    return made


@pytest.fixture
def client(out: Path) -> TestClient:
    app = _audit_app(_load_audit(out, TOKEN), PORT)
    return TestClient(app, base_url=HERE)


def ask(client: TestClient, path: str, body: Any, token: str = TOKEN) -> Any:
    return client.post(path, json=body, headers={"X-Audit-Token": token, "Origin": HERE})


def test_anyone_on_the_machine_sees_the_page_without_text(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    result = client.get("/data.json").json()
    assert (result["items"], result["about"]["entries"]) == (33, 30)
    assert client.get("/rejections.csv").text.count("\r\n") == 31
    assert len(client.get("/rejections.json").json()["rejections"]) == 30


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": f"evil.example:{PORT}"},
        {"Host": "127.0.0.1"},
        {"Host": f"127.0.0.1:{PORT + 1}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://127.0.0.1:{PORT}"},
        {"Origin": f"http://localhost:{PORT + 1}"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/data.json", "/evidence"])
def test_other_hosts_and_origins_are_refused(
    client: TestClient, headers: dict[str, str], path: str
) -> None:
    method = "POST" if path == "/evidence" else "GET"
    answer = client.request(method, path, headers={"X-Audit-Token": TOKEN} | headers)
    assert answer.status_code == 403
    assert "does not match this server" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_localhost_is_this_server_too(client: TestClient) -> None:
    name = f"localhost:{PORT}"
    headers = {"Host": name, "Origin": f"http://{name}"}
    assert client.get("/data.json", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/evidence", "/sign-off", "/signed"])
@pytest.mark.parametrize("token", ["", "the-toke", "the-token ", "\u00e9"])
def test_without_the_token_nothing_private_opens(
    client: TestClient, out: Path, path: str, token: str
) -> None:
    headers = [(b"X-Audit-Token", token.encode()), (b"Content-Type", b"application/json")]
    body = orjson.dumps({"item": 0, "name": "n", "note": "n"})
    assert client.post(path, content=body, headers=headers).status_code == 403
    assert not (out / "private" / "access.log").exists()
    assert not (out / "private" / SIGNATURES).exists()


def test_each_look_is_logged_before_the_text_is_shown(client: TestClient, out: Path) -> None:
    places = [client.get("/data.json").json()["ids"].index(text) for text in HOSTILE[:2]]
    answer = ask(client, "/evidence", {"item": places[0]})
    assert answer.status_code == 200
    assert answer.json()["turns"] == [
        {"role": "user", "path": "log.jsonl", "line": 1, "text": f'"{HOSTILE[0]}"'}
    ]
    ask(client, "/evidence", {"item": places[1]})
    looks = hash_chain.entries(out / "private" / "access.log")
    assert [look["item_id"] for look in looks] == [HOSTILE[0], HOSTILE[1]]
    assert {look["action"] for look in looks} == {"audit page"}


def test_private_evidence_names_what_is_missing_without_control_characters(
    client: TestClient, out: Path
) -> None:
    missing = {"kind": "a file", "source": "named in turn 2", "name": "figures_march\x1b.xlsx"}
    (out / "private" / NAMES_FILE).write_bytes(orjson.dumps({HOSTILE[0]: [missing]}))
    position = client.get("/data.json").json()["ids"].index(HOSTILE[0])
    answer = ask(client, "/evidence", {"item": position}).json()
    assert answer["missing"] == [{**missing, "name": "figures_march⟨U+001B⟩.xlsx"}]
    assert "figures_march" not in client.get("/data.json").text + client.get("/").text


def test_what_masking_changed_is_shown_in_private_evidence_alone(
    client: TestClient, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = {
        "kind": "a number",
        "source": "turn 1, b\x1b.txt",
        "before": "41 pens",
        "after": "9 p",
    }
    (out / "private" / CHANGES_FILE).write_bytes(orjson.dumps({HOSTILE[0]: [changed]}))
    position = client.get("/data.json").json()["ids"].index(HOSTILE[0])
    answer = ask(client, "/evidence", {"item": position}).json()
    assert answer["changed"] == [{**changed, "source": "turn 1, b⟨U+001B⟩.txt"}]
    assert "41 pens" not in client.get("/data.json").text + client.get("/").text
    audit_command(instance=HOSTILE[0], private=True, as_json=True, out=out)
    assert orjson.loads(capsys.readouterr().out)["changed by masking"] == answer["changed"]
    audit_command(instance=HOSTILE[0], private=False, as_json=True, out=out)
    assert "41 pens" not in capsys.readouterr().out


def test_page_and_command_show_the_same_text_cut_and_with_a_reason_for_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = write_workspace(tmp_path / "out", [("long", verdicts(3, 0))], ["x" * 30_000])
    sources = out / "private" / "sources.json"

    def both() -> str:
        result = [row["text"] for row in _evidence(out, "long")]
        audit_command(instance="long", private=True, as_json=True, out=out)
        assert [row["text"] for row in orjson.loads(capsys.readouterr().out)["turns"]] == result
        return str(result[0])

    assert both() == '"' + "x" * 19_999 + " … (10002 more characters)"
    sources.write_text(json.dumps({"log.jsonl": f"{tmp_path}/gone\udcff"}))  # a name not in UTF-8
    assert both() == "(source file missing)"
    sources.write_bytes(orjson.dumps({"other.jsonl": "elsewhere"}))
    assert both() == "(not read by the newest build)"
    sources.unlink()  # purged
    assert both() == "(not read by the newest build)"


def test_a_broken_log_shows_no_text(client: TestClient, out: Path) -> None:
    log = out / "private" / "access.log"
    hash_chain.record_access(log, "audit", "a")
    log.write_bytes(log.read_bytes().replace(b'"a"', b'"b"'))
    answer = ask(client, "/evidence", {"item": 0})
    assert answer.status_code == 500
    assert answer.json() == {"error": "BrokenChain: see the files in private/."}


@pytest.mark.parametrize("item", ["nobody", None, True, 33, -1, 10**30])
def test_items_that_are_not_there_are_not_logged(client: TestClient, out: Path, item: Any) -> None:
    assert ask(client, "/evidence", {"item": item}).status_code in (400, 404)
    assert not (out / "private" / "access.log").exists()


def test_sign_offs_are_appended_and_say_what_was_signed(client: TestClient, out: Path) -> None:
    first = ask(client, "/sign-off", {"name": " Ada ", "note": "checked \x1b[31mten"})
    assert [sign["name"] for sign in first.json()["signed"]] == ["Ada"]
    second = ask(client, "/sign-off", {"name": "Bo", "note": "agreed"}).json()["signed"]
    assert [sign["name"] for sign in second] == ["Bo", "Ada"]
    assert second == ask(client, "/signed", {}).json()["signed"]
    kept = hash_chain.entries(out / "private" / SIGNATURES)[0]
    assert kept["note"] == "checked ⟨U+001B⟩[31mten"
    assert (kept["run_id"], kept["units"], kept["entries"]) == ("unnamed", 30, 30)
    content = client.get("/data.json").content
    assert kept["content_sha256"] == digest(content)
    assert (out / "private" / SIGNATURES).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"name": "a"}', 400),
        (b'{"name": "a", "note": "  "}', 400),
        (orjson.dumps({"name": "a" * 101, "note": "b"}), 400),
        (orjson.dumps({"name": "a", "note": "b" * 2001}), 400),
        (b" " * 20_000, 413),
    ],
)
def test_bad_sign_offs_are_refused(client: TestClient, out: Path, body: bytes, status: int) -> None:
    headers = {"X-Audit-Token": TOKEN, "Content-Type": "application/json"}
    assert client.post("/sign-off", content=body, headers=headers).status_code == status
    assert not (out / "private" / SIGNATURES).exists()


def test_a_form_cannot_sign(client: TestClient) -> None:
    headers = {"X-Audit-Token": TOKEN, "Content-Type": "text/plain"}
    assert client.post("/sign-off", content=b"{}", headers=headers).status_code == 415


def test_the_export_names_nothing(out: Path, tmp_path: Path) -> None:
    files = export_page(out, tmp_path / "page")
    assert [file.name for file in files] == ["audit.html", "rejections.csv", "rejections.json"]
    for file in files:
        text = file.read_text()
        assert "x-" in text
        assert "log.jsonl" not in text
        for hostile in HOSTILE[:-1]:
            assert hostile not in text


def test_after_sealing_items_are_numbered(out: Path, tmp_path: Path) -> None:
    key = out / "private" / "release.key"
    held = key.read_bytes()
    key.unlink()
    try:
        export_page(out, tmp_path / "page")
    finally:
        key.write_bytes(held)
        key.chmod(0o600)
    assert "item-1," in (tmp_path / "page" / "rejections.csv").read_text()


def test_no_build_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run `benchmint build` first"):
        serve_page(tmp_path, 0)
