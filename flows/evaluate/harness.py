"""A harness of somebody else's: a command that works in the sandbox and asks the runner's model.

It gets the task as `instruction.md`, an OpenAI-compatible server on the loopback of its sandbox,
and a placeholder for a key; no key and no variable of the host is inside. Its answer is what it
leaves in `answer.txt`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import OutputLimitExceededError, sandbox

from construction.sessions.network.forward_proxy import (
    ForwardProxy,
    allowed_hosts,
    client_variables,
    proxying,
)
from construction.sessions.network.transport import Wire
from data.contracts import NetworkPolicy
from flows.evaluate.chat_app import MODEL, chat_app
from flows.evaluate.chat_bridge import ChatBridge
from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.service_tools import AUDIT, reachable
from flows.http_server import serving
from flows.services.instance import Instance

ANSWER, INSTRUCTION = "answer.txt", "instruction.md"
FAILED, BEGUN = "agent_error", "harness_begun"  # in an attempt's store
_MODEL_PORT, _PROXY_PORT = 8701, 3128
_CONNECTIONS = 16
_END, _LOG = "/tmp/harness.exit", "/tmp/harness.log"  # noqa: S108 (inside)
# In a session of its own, so that the sandbox goes on answering while it runs. The command that
# starts it ends only then: what is still in its group is killed.
_RUN = f'sh -c "$HARNESS" </dev/null >{_LOG} 2>&1; echo $? >{_END}'
_START = f"setsid sh -c '{_RUN}' & until [ -e {_LOG} ]; do sleep 0.02; done"
_POLL_SECONDS = 0.5
_HOW_TO_ANSWER = (
    "\n\nYou work in this folder. Input files, if any, are in inputs/; files that the task asks "
    f"for go into outputs/. Write your answer to {ANSWER}, in the form that the task asks for.\n"
)


@dataclass(frozen=True, slots=True)
class Harness:
    """The command line, for `sh`, and the folder of its programs, mounted at /opt/programs."""

    command: str
    programs: Path | None = None


@asynccontextmanager
async def network_of(
    box: BoxEnvironment, policy: NetworkPolicy, state: TaskState, wire: Wire
) -> AsyncIterator[None]:
    """Let a box reach the hosts that its task lists, by a proxy; what it asked for is kept."""
    if policy.mode != "list":
        yield
        return
    proxy = ForwardProxy(allowed_hosts(policy.urls), wire=wire)
    listening = await asyncio.to_thread(box.sandbox.listen, _PROXY_PORT)
    box.variables |= client_variables(_PROXY_PORT)
    try:
        async with proxying(listening, proxy):
            yield
    finally:
        state.store.set(AUDIT, [asdict(row) for row in proxy.rows])


@solver
def harness_agent(harness: Harness, instance: Instance | None = None) -> Solver:
    """Runs the command until it ends or a limit stops it; services are served inside its box."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox().as_type(BoxEnvironment)
        bridge = ChatBridge(state)
        listening = await asyncio.to_thread(box.sandbox.listen, _MODEL_PORT)
        async with (
            serving(chat_app(bridge.answer), listening, _CONNECTIONS),
            reachable(instance, box) as (how_to_call, variables),
        ):
            await box.write_file(INSTRUCTION, state.input_text + _HOW_TO_ANSWER + how_to_call)
            state.store.set(BEGUN, True)
            await _start(box, harness.command, variables)
            code = None
            while bridge.stopped is None and code is None:
                await asyncio.sleep(_POLL_SECONDS)
                code = await _read(box, _END)
        if bridge.stopped is not None:
            raise bridge.stopped
        answer = await _read(box, ANSWER)
        state.store.set("harness_log", (await _read(box, _LOG) or "")[-4000:])
        if answer is not None:
            state.output = ModelOutput.from_content("harness", answer.strip())
        elif code is not None and code.strip() != "0":
            state.store.set(FAILED, f"the harness ended with {code.strip()[:20]}")
        return state

    return solve


async def _start(box: BoxEnvironment, command: str, others: Mapping[str, str]) -> None:
    address = f"http://127.0.0.1:{_MODEL_PORT}/v1"
    variables = {
        **others,
        "HARNESS": command,
        "OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": MODEL,
    }
    await box.exec(["sh", "-c", _START], env=variables, timeout=30)


async def _read(box: BoxEnvironment, path: str) -> str | None:
    """A text inside; None where there is none, or one that is too large."""
    try:
        return str(await box.read_file(path))
    except (OSError, UnicodeDecodeError, OutputLimitExceededError):
        return None
