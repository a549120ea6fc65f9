"""Agents behind an address, a person at a terminal, and the real command-line agents."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import select
import sys
import time
from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from inspect_ai.tool import Skill

from data.attempts import LEFT_OUT, AttemptRecord, outputs_folder, read_attempts
from data.contracts.attempt import AttemptStatus, Configuration
from data.releases.tasks import ReleasedTasks, read_tasks
from flows.evaluate.plan import COMMAND, HTTP, HUMAN, Plan
from flows.evaluate.programs import AGENTS_FOLDER, KNOWN, Program, version_of
from flows.evaluate.run import evaluate
from tests.flows.evaluate.chat_server import reply_of
from tests.flows.evaluate.plans import MODEL
from tests.flows.evaluate.workflow_release import write_release
from tests.flows.json_server import json_server
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=5),
    needs_box,
]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A release with a workflow task, and its id."""
    return write_release(tmp_path_factory.mktemp("workflow"))


def attempt(snapshot: Path, task_id: str, folder: Path, agent: str, **other: Any) -> AttemptRecord:
    configuration = Configuration(agent, agent, other.pop("model", "none"))
    plan = Plan(read_tasks(snapshot), configuration, agent, folder, task_ids=(task_id,), **other)
    evaluate(plan)
    ((_, record),) = read_attempts(folder)
    return record


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def call_tool(server: dict[str, Any], name: str, arguments: dict[str, Any]) -> str:
    """What one call of an MCP server shows."""

    async def run() -> str:
        async with (
            httpx2.AsyncClient(headers=server["headers"], trust_env=False) as own,
            Client(streamable_http_client(server["url"], http_client=own)) as session,
        ):
            (part,) = (await session.call_tool(name, arguments)).content
            assert isinstance(part, TextContent)
            return part.text

    return anyio.run(run)


def test_an_agent_behind_an_address_calls_tools_and_delivers(
    released: tuple[Path, str], tmp_path: Path
) -> None:
    sent: list[dict[str, Any]] = []

    def work(body: Any, _headers: Message) -> tuple[int, Any]:
        sent.append(body)
        (server,) = body["mcp_servers"]
        shown = call_tool(server, "mail_get_message", {"id": "m-1"})
        files = [{"name": "outputs/mail.json", "content": encoded(shown)}]
        return 200, {"answer": "It never came.", "files": files}

    snapshot, task_id = released
    with json_server(work) as url:
        record = attempt(snapshot, task_id, tmp_path / "run", HTTP, url=url)
    (body,) = sent
    assert (body["protocol"], body["task"]) == ("benchmint-agent/1", task_id)
    assert body["instruction"] == read_tasks(snapshot).tasks[task_id].instruction
    assert (record.attempt.status, record.submission.answer) == (
        AttemptStatus.COMPLETED, "It never came.",
    )  # fmt: skip
    (call,) = record.submission.calls
    assert (call.name, call.step, call.is_error) == ("mail_get_message", 1, False)
    (row,) = record.submission.audit
    assert (row.operation, row.step) == ("get_message", 1)
    delivered = outputs_folder(tmp_path / "run", task_id, 1) / "mail.json"
    assert json.loads(delivered.read_text())["body"] == "The parcel never came."


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((500, {}), "its answer: it answered HTTP 500"),
        ((200, []), "its answer: (): Input should be an object"),
        (
            (200, {"files": [{"name": "../x", "content": ""}]}),
            "a file name that points outside its folder",
        ),
        ((200, {"files": [{"name": "x", "content": "?"}]}), "x is not base64"),
    ],
)
def test_an_answer_that_is_none_is_the_agents_error(
    released: tuple[Path, str], tmp_path: Path, reply: tuple[int, Any], error: str
) -> None:
    with json_server(lambda *_: reply) as url:
        record = attempt(*released, tmp_path / "run", HTTP, url=url)
    assert record.attempt.status is AttemptStatus.AGENT_ERROR
    assert error in (record.attempt.error or "")


def test_an_agent_that_is_not_there_is_the_infrastructures_error(
    released: tuple[Path, str], tmp_path: Path
) -> None:
    record = attempt(*released, tmp_path / "run", HTTP, url="http://127.0.0.1:9/")
    assert record.attempt.status is AttemptStatus.INFRA_ERROR


@pytest.mark.parametrize(
    ("agent", "other", "reason"),
    [
        ("claude-code", {"program": Program("claude-code", Path("nowhere"))}, "`make agents`"),
        (HTTP, {"url": "http://agent.example/"}, "served only on this machine's loopback"),
    ],
)
def test_what_a_configuration_cannot_do_is_left_out_with_a_reason(
    released: tuple[Path, str], tmp_path: Path, agent: str, other: dict[str, Any], reason: str
) -> None:
    snapshot, task_id = released
    plan = Plan(
        read_tasks(snapshot), Configuration("x", agent, MODEL), agent, tmp_path / "run",
        task_ids=(task_id,), **other,
    )  # fmt: skip
    ended = evaluate(plan)
    assert (ended.done, ended.wanted, list(ended.left_out)) == (0, 0, [task_id])
    assert reason in ended.left_out[task_id]
    assert json.loads((tmp_path / "run" / LEFT_OUT).read_bytes()) == ended.left_out
    assert not (tmp_path / "run" / "attempts").exists()


def typed(command: list[str], lines: list[str]) -> str:
    """What a terminal shows whose person types the lines, each after a prompt."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    shown, seen = "", 0
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 1 << 16).decode(errors="replace")
            except OSError:  # it has ended
                break
        elif lines and re.search(r"(\$|: ) ?$", shown[seen:]):
            seen = len(shown)
            os.write(terminal, f"{lines.pop(0)}\n".encode())
    os.waitpid(child, 0)
    return shown


def test_a_person_works_in_a_shell_with_the_services_until_they_submit(
    released: tuple[Path, str], tmp_path: Path
) -> None:
    snapshot, task_id = released
    fetch = (
        'curl -s -H "Authorization: Bearer $SERVICES_TOKEN" $SERVICES_URL/mail/messages/m-1'
        " > outputs/mail.json; ls -d /etc/pass*"
    )
    shown = typed(
        [
            sys.executable, "-c", "from flows.cli import main; main()", "evaluate", str(snapshot),
            "--agent", "human", "--task", task_id, "--out", str(tmp_path / "out"),
        ],
        [fetch, "exit", "task submit 'It never came.'", "y"],
    )  # fmt: skip
    ((folder, record),) = read_attempts(tmp_path / "out")
    assert (record.attempt.status, record.submission.answer) == (
        AttemptStatus.COMPLETED, "It never came.",
    )  # fmt: skip
    (row,) = record.submission.audit
    assert (row.operation, row.records) == ("get_message", ("messages/m-1",))
    delivered = outputs_folder(folder, task_id, 1) / "mail.json"
    assert json.loads(delivered.read_text())["body"] == "The parcel never came."
    assert "/etc/passwd" not in shown


DATA_TOOLS = ("discover_companies",)
SHELLS = ("Bash", "exec_command", "run_shell_command", "bash", "exec")


@pytest.mark.parametrize("agent", sorted(KNOWN))
def test_a_real_command_line_agent_works_with_a_scripted_model_and_without_a_network(
    released: tuple[Path, str], tmp_path: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(agent, Path(os.environ.get("BENCHMINT_AGENTS", AGENTS_FOLDER)))
    if version_of(program) is None:
        pytest.skip(f"no {KNOWN[agent].binary} in {AGENTS_FOLDER.name}: `make agents`")
    monkeypatch.setenv("BENCHMINT_API_KEY", "a-secret")
    look = (
        "echo made > outputs/a.txt; env; bash -c '</dev/tcp/192.0.2.1/443' 2>&1; "
        "printf interfaces:; tail -n +3 /proc/net/dev | cut -d: -f1 | tr '\\n' ' '; echo ."
    )

    def play(messages: list[dict[str, Any]], tools: list[str]) -> tuple[str, dict[str, Any]] | str:
        step = sum(bool(message.get("tool_calls")) for message in messages)
        shell = next((name for name in SHELLS if name in tools), None)
        if shell is None:
            return "a title"
        if step == 0:
            return shell, {
                "cmd" if shell == "exec_command" else "command": look,
                "description": "x",
            }
        if step > 1:
            return "It never came."
        if "tool_call" in tools:
            return "tool_call", {"id": "task__mail_get_message", "args": {"id": "m-1"}}
        return next(name for name in tools if name.endswith("mail_get_message")), {"id": "m-1"}

    def reply(body: Any, _headers: Message) -> tuple[int, Any]:
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        return 200, reply_of(play(body["messages"], tools))

    with json_server(reply) as url:
        record = attempt(
            *released,
            tmp_path / "run",
            agent,
            program=program,
            model=MODEL,
            base_url=url,
            attempt_seconds=300,
        )
    assert (record.attempt.error, record.attempt.status) == (None, AttemptStatus.COMPLETED)
    assert record.submission.answer == "It never came."
    assert (outputs_folder(tmp_path / "run", released[1], 1) / "a.txt").read_text() == "made\n"
    first, *others = record.submission.calls
    assert "a-secret" not in first.output
    assert "Network is unreachable" in first.output
    assert re.search(r"interfaces: *lo *\.", first.output)
    assert [call.name for call in others] == ["mail_get_message"]
    assert json.loads(others[0].output)["body"] == "The parcel never came."
    assert [row.operation for row in record.submission.audit] == ["get_message"]


def test_a_command_that_reads_no_mcp_is_not_let_at_questions(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    task_id, task = next(iter(tasks.tasks.items()))
    question = replace(task, candidate=task.candidate.model_copy(update={"tools": DATA_TOOLS}))
    plan = Plan(
        replace(tasks, tasks={**tasks.tasks, task_id: question}),
        Configuration("c", COMMAND, MODEL), COMMAND, tmp_path / "run", task_ids=(task_id,),
        program=Program(COMMAND, None, "true", reads_mcp=False),
    )  # fmt: skip
    (reason,) = evaluate(plan).left_out.values()
    assert "does not read MCP servers" in reason
    assert replace(plan, program=Program(COMMAND, None, "true")).left_out(task_id) is None
    assert replace(plan, program=None, agent=HUMAN).left_out(task_id) == (
        "the task has data tools, which are not available in a shell"
    )


@pytest.mark.parametrize("agent", sorted(KNOWN))
def test_a_real_command_line_agent_offers_and_opens_its_skill(
    released: tuple[Path, str], tmp_path: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(agent, Path(os.environ.get("BENCHMINT_AGENTS", AGENTS_FOLDER)))
    if version_of(program) is None:
        pytest.skip(f"no {KNOWN[agent].binary} in {AGENTS_FOLDER.name}: `make agents`")
    monkeypatch.setenv("BENCHMINT_API_KEY", "a-secret")
    skill = Skill(name="mail-1", description="For: 'mail', 邮件", instructions="RULE: be brief.")
    opening = {
        "claude-code": ("Skill", {"skill": skill.name}),
        "codex": ("exec_command", {"cmd": f"cat ~/.codex/skills/{skill.name}/SKILL.md"}),
        "gemini-cli": ("activate_skill", {"name": skill.name}),
        "opencode": ("skill", {"name": skill.name}),
        "openclaw": ("read", {"path": f"skills/{skill.name}/SKILL.md"}),
    }
    seen: list[str] = []

    def reply(body: Any, _headers: Message) -> tuple[int, Any]:
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        seen.append(json.dumps(body, ensure_ascii=False))
        has_opened = any(message.get("tool_calls") for message in body["messages"])
        is_main = opening[agent][0] in tools and not has_opened
        return 200, reply_of(opening[agent] if is_main else "Done.")

    with json_server(reply) as url:
        record = attempt(
            *released, tmp_path / "run", agent, model=MODEL, program=program, base_url=url,
            skills={released[1]: skill},
        )  # fmt: skip
    assert record.attempt.status is AttemptStatus.COMPLETED, record.attempt.error
    assert any(skill.description in text for text in seen)
    assert "RULE: be brief." in seen[-1]
    assert any(skill.name in str(call.arguments) for call in record.submission.calls)
    made = json.loads((tmp_path / "run/run.json").read_bytes())["skills"]
    assert list(made) == [released[1]]
