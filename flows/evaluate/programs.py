"""Agents that work in the box: the command-line agents that people use, any other program, and a
person in a shell on the terminal of the command."""

from __future__ import annotations

import asyncio
import os
import select
import shlex
import socket
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from inspect_ai.agent import (
    Agent,
    AgentState,
    BridgedToolsSpec,
    SandboxAgentBridge,
    agent,
    human_cli,
    sandbox_agent_bridge,
)
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Skill, Tool
from inspect_ai.util import (
    ExecRemoteAwaitableOptions,
    OutputLimitExceededError,
    sandbox,
)
from inspect_swe import claude_code, codex_cli, gemini_cli, opencode
from inspect_swe._codex_cli import codex_cli as codex_module
from inspect_swe._util.mcp_ready import wait_for_mcp_endpoints
from inspect_swe._util.sandbox import SANDBOX_INSTALL_DIR

from construction.sandbox.sandbox import PROGRAMS, WORK
from construction.sessions.network.forward_proxy import (
    ForwardProxy,
    allowed_hosts,
    client_variables,
    proxying,
)
from construction.sessions.network.transport import Wire
from data.contracts import NetworkPolicy
from data.neutralise import one_line
from flows.evaluate.budget import Account
from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.tools import AUDIT, reachable, said_so_far
from flows.services.instance import Instance

ANSWER, _INSTRUCTION, MCP_CONFIG = "answer.txt", "instruction.md", "mcp.json"
FAILED, BEGUN = "agent_error", "program_begun"  # in an attempt's store
AGENTS_FOLDER = Path(__file__).parents[2] / ".agents"  # what `make agents` fills
_SERVER = "task"  # the MCP server with the tools of a task
_MODEL_PORT, _PROXY_PORT = 8701, 3128
_LONGEST_ERROR = 300
_REPLY_MILLISECONDS = "3600000"  # the runner decides how long a reply may take
_ENDED_BADLY = "Error executing "  # how Inspect's agents say that a program ended with an error
_IN_THE_FOLDER = (
    f"\n\nYou work in the folder {WORK}. Input files, if any, are in inputs/; files that the task "
    "asks for go into outputs/. There is no network."
)
_SAY = (
    " Your last message is your answer: write it in the form that the task asks for, and nothing "
    "else. If the task asks for files only, name them in one short line.\n"
)
_WRITE = f" Write your answer to {ANSWER}, in the form that the task asks for.\n"


@dataclass(frozen=True, slots=True)
class Program:
    """What runs inside: a known agent by its name, or a command line for `sh`.

    `folder` holds the programs; it is mounted at /opt/programs. `reads_mcp` says whether a command
    reads the MCP servers that it is offered.
    """

    name: str
    folder: Path | None
    command: str | None = None
    reads_mcp: bool = True


@dataclass(frozen=True, slots=True)
class _KnownAgent:
    """A command-line agent: its package on npm, its binary, and how Inspect runs it.

    `make` takes the tools, the version and the skills, which it puts where the agent looks for
    them; `prepare` is a command that is run inside before.
    """

    package: str
    binary: str
    make: Callable[[Sequence[BridgedToolsSpec], str, Sequence[Skill]], Agent]
    prepare: str = "true"


_Specs = Sequence[BridgedToolsSpec]
_Skills = Sequence[Skill]


def _claude_code(tools: _Specs, _version: str, skills: _Skills) -> Agent:
    return claude_code(
        bridged_tools=tools,
        skills=skills or None,
        disallowed_tools=["WebFetch", "WebSearch"],
        retry_uncaught_errors=None,
        env={"API_TIMEOUT_MS": _REPLY_MILLISECONDS},
        version="sandbox",
    )


def _codex(tools: _Specs, _version: str, skills: _Skills) -> Agent:
    return codex_cli(
        bridged_tools=tools, skills=skills or None, web_search="disabled", version="sandbox"
    )


# Inspect's agent looks there for the version that it is given, before it would fetch it.
_GEMINI_PLACE = (
    f"mkdir -p {SANDBOX_INSTALL_DIR}; ln -sfn {PROGRAMS} {SANDBOX_INSTALL_DIR}/gemini-cli"
)


def _gemini_cli(tools: _Specs, version: str, skills: _Skills) -> Agent:
    return gemini_cli(bridged_tools=tools, skills=skills or None, web_search=False, version=version)


def _opencode(tools: _Specs, _version: str, skills: _Skills) -> Agent:
    return opencode(bridged_tools=tools, skills=skills or None, version="sandbox")


def _openclaw(tools: _Specs, _version: str, skills: _Skills) -> Agent:
    return _bridged(partial(_openclaw_files, skills), _OPENCLAW, tools)


KNOWN: Mapping[str, _KnownAgent] = {
    "claude-code": _KnownAgent("@anthropic-ai/claude-code", "claude", _claude_code),
    "codex": _KnownAgent("@openai/codex", "codex", _codex),
    "gemini-cli": _KnownAgent("@google/gemini-cli", "gemini", _gemini_cli, _GEMINI_PLACE),
    "opencode": _KnownAgent("opencode-ai", "opencode", _opencode),
    "openclaw": _KnownAgent("openclaw", "openclaw", _openclaw),
}


async def _no_catalog(_version: str | None) -> None:
    """Codex's own list of models is used: Inspect's agent would fetch one from the network."""


vars(codex_module)["codex_version_models_catalog"] = _no_catalog


def has_skills(program: Program | None) -> bool:
    """Does it load skills from a folder, and not from what it is told?"""
    return program is not None and program.name in KNOWN


def version_of(program: Program) -> str | None:
    """The version of a known agent that is installed; None without one."""
    known = KNOWN.get(program.name)
    if known is None or program.folder is None:
        return None
    modules = program.folder / "node_modules"
    try:
        about = orjson.loads((modules / known.package / "package.json").read_bytes())
        return str(about["version"]) if (modules / ".bin" / known.binary).exists() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _search_path() -> str:
    """The PATH inside: the programs first."""
    return f"{PROGRAMS}/node_modules/.bin:{sys.base_prefix}/bin:/usr/bin:/bin"


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
def program_agent(
    program: Program,
    tools: Sequence[Tool],
    account: Account,
    instance: Instance | None,
    skills: _Skills = (),
) -> Solver:
    """Runs the program until it ends or a limit stops it."""
    specs = [BridgedToolsSpec(_SERVER, tools, require_proposal=False)] if tools else []

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox().as_type(BoxEnvironment)
        box.variables["PATH"] = _search_path()
        held = AgentState(messages=[])
        if instance is not None:
            instance.step = lambda: said_so_far(held)
        state.store.set(BEGUN, True)
        try:
            if program.command is None:
                known = KNOWN[program.name]
                held.messages = [ChatMessageUser(content=state.input_text + _IN_THE_FOLDER + _SAY)]
                await box.exec(["sh", "-c", known.prepare])
                await known.make(specs, version_of(program) or "", skills)(held)
            else:
                await _run_command(program.command, specs, instance, state, held)
        except RuntimeError as error:
            if not str(error).startswith(_ENDED_BADLY):
                raise
            state.store.set(FAILED, _shortened(str(error)))
        finally:
            state.messages = held.messages
            if held.output.choices:
                state.output = held.output
        if account.failure is not None:  # it may have gone on without an answer of its model
            raise account.failure
        if program.command is not None:
            await _take_answer(box, state)
        return state

    return solve


async def _run_command(
    command: str,
    specs: _Specs,
    instance: Instance | None,
    state: TaskState,
    held: AgentState,
) -> None:
    box = sandbox().as_type(BoxEnvironment)
    async with reachable(instance, box) as (how_to_call, variables):
        text = state.input_text + _IN_THE_FOLDER + _WRITE + how_to_call
        held.messages = [ChatMessageUser(content=text)]
        line = f"sh -c {shlex.quote(command)}"
        await _bridged(_command_files, line, specs, variables)(held)


def _shortened(text: str) -> str:
    """The beginning of what a program said, and the end, where the reason usually stands."""
    line = one_line(text.strip())
    head, tail = _LONGEST_ERROR // 3, _LONGEST_ERROR * 2 // 3
    return line if len(line) <= _LONGEST_ERROR else f"{line[:head]} … {line[-tail:]}"


async def _take_answer(box: BoxEnvironment, state: TaskState) -> None:
    """The answer that a command wrote, if it did; then an error at its end is forgiven."""
    answer = await _read(box, ANSWER)
    if answer is not None:
        state.output = ModelOutput.from_content("program", answer.strip())
        if FAILED in state.store:
            state.store.delete(FAILED)


_Files = Callable[[SandboxAgentBridge, str], Mapping[str, str]]  # of a bridge and the prompt


@agent
def _bridged(
    files: _Files,
    command: str,
    tools: Sequence[BridgedToolsSpec],
    variables: Mapping[str, str] | None = None,
) -> Agent:
    """A command that finds its task, the model and the tools in variables and in files."""

    async def execute(state: AgentState) -> AgentState:
        async with sandbox_agent_bridge(
            state, port=_MODEL_PORT, web_search=False, bridged_tools=tools
        ) as bridge:
            prompt = "\n\n".join(message.text for message in state.messages)
            for path, content in files(bridge, prompt).items():
                await sandbox().write_file(path, content)
            await wait_for_mcp_endpoints(bridge.mcp_server_configs, bridge)
            done = await sandbox().exec_remote(
                ["sh", "-c", f"{command} </dev/null"],
                ExecRemoteAwaitableOptions(
                    env={**_model_variables(), **(variables or {})}, concurrency=False
                ),
                stream=False,
            )
            if not done.success:
                said = f"{done.returncode}: {done.stdout}\n{done.stderr}"
                raise RuntimeError(f"{_ENDED_BADLY}the command {said}")
        return state

    return execute


def _model_variables() -> dict[str, str]:
    """Where programs look for their model. The names of models mean nothing, and keys neither."""
    address = f"http://127.0.0.1:{_MODEL_PORT}"
    return {
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": "inspect",
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": address,
        "GEMINI_API_KEY": "none",
        "MCP_CONFIG": f"{WORK}/{MCP_CONFIG}",
    }


def _servers(bridge: SandboxAgentBridge) -> dict[str, dict[str, str]]:
    return {server.name: {"url": server.url} for server in bridge.mcp_server_configs}


def _command_files(bridge: SandboxAgentBridge, prompt: str) -> dict[str, str]:
    """The task, and the MCP servers in the form that Claude Code introduced."""
    servers = {name: {"type": "http", **server} for name, server in _servers(bridge).items()}
    return {_INSTRUCTION: prompt, MCP_CONFIG: orjson.dumps({"mcpServers": servers}).decode()}


_OPENCLAW = (
    f"openclaw agent --local --agent main --session-id task --json --message-file {_INSTRUCTION}"
)


def _openclaw_files(skills: _Skills, bridge: SandboxAgentBridge, prompt: str) -> dict[str, str]:
    """The task, the settings, and skills, whose heads it reads line by line."""
    model = {"id": "inspect", "name": "inspect", "input": ["text"], "reasoning": False}
    provider = {
        "baseUrl": f"http://127.0.0.1:{_MODEL_PORT}/v1",
        "apiKey": "none",
        "api": "openai-completions",
        "models": [model],
    }
    servers = {
        name: {"transport": "streamable-http", **server}
        for name, server in _servers(bridge).items()
    }
    settings: dict[str, Any] = {
        "models": {"mode": "replace", "providers": {"bridge": provider}},
        "agents": {"defaults": {"model": {"primary": "bridge/inspect"}, "workspace": WORK}},
        "mcp": {"servers": servers},
    }
    files = {_INSTRUCTION: prompt, ".openclaw/openclaw.json": orjson.dumps(settings).decode()}
    for skill in skills:
        head = f"name: {skill.name}\ndescription: {orjson.dumps(skill.description).decode()}"
        files[f"skills/{skill.name}/SKILL.md"] = f"---\n{head}\n---\n\n{skill.instructions}"
    return files


async def _read(box: BoxEnvironment, path: str) -> str | None:
    """A text inside; None where there is none, or one that is too large."""
    try:
        return str(await box.read_file(path))
    except (OSError, UnicodeDecodeError, OutputLimitExceededError):
        return None


_PORT = 8703
_TASK_COMMAND = "/opt/human_agent/task.py"  # of Inspect's human agent, once it is there
_PATIENCE = 5.0  # seconds for a shell to end
_WAIT, _BYTES = 0.2, 1 << 16
_KEYBOARD, _SCREEN = 0, 1  # of this process, whatever else its streams are led to
_PERSON_IN_THE_FOLDER = (
    "\n\nYou work in a shell in the task's own box. Input files, if any, are in inputs/; files "
    "that the task asks for go into outputs/. There is no network. `task submit 'ANSWER'` ends the "
    "task, `task instructions` shows this text again.\n"
)
# A terminal of its own inside, over a connection to the runner.
_SHELL = (
    "import os, pty, socket; "
    "link = socket.create_connection(('127.0.0.1', {port})); "
    "os.dup2(link.fileno(), 0); os.dup2(link.fileno(), 1); "
    "pty.spawn(['sh', '-c', 'stty rows {rows} cols {columns}; exec bash -i'])"
)


@solver
def person(instance: Instance | None) -> Solver:
    """Lets the person at the terminal work until they submit."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox().as_type(BoxEnvironment)
        async with reachable(instance, box) as (how_to_call, variables):
            box.variables |= variables
            text = state.input_text + _PERSON_IN_THE_FOLDER + how_to_call
            held = AgentState(messages=[ChatMessageUser(content=text)])
            listening = await asyncio.to_thread(box.sandbox.listen, _PORT)
            working = asyncio.create_task(human_cli(answer=False, record_session=False)(held))
            terminal = asyncio.create_task(asyncio.to_thread(_attach, listening, working.done))
            shell = asyncio.create_task(_shell(box, working))
            try:
                await asyncio.wait({working, terminal}, return_when=asyncio.FIRST_COMPLETED)
                if terminal.done():
                    terminal.result()
                await working
            finally:
                working.cancel()
                listening.close()
                await asyncio.wait({terminal, shell}, timeout=_PATIENCE)
        state.messages, state.output = held.messages, held.output
        return state

    return solve


async def _shell(box: BoxEnvironment, working: asyncio.Task[AgentState]) -> None:
    """A shell after another until the task is submitted: leaving one is no answer."""
    while not (await _is_installed(box)) and not working.done():
        await asyncio.sleep(0.1)
    while not working.done():
        columns, rows = _size()
        code = _SHELL.format(port=_PORT, rows=rows, columns=columns)
        await box.exec(["python3", "-c", code], env={"TERM": os.environ.get("TERM", "xterm")})


async def _is_installed(box: BoxEnvironment) -> bool:
    return bool((await box.exec(["test", "-e", _TASK_COMMAND])).success)


def _size() -> tuple[int, int]:
    try:
        return os.get_terminal_size(_KEYBOARD)
    except OSError:
        return 80, 24


def _attach(listening: socket.socket, is_done: Callable[[], bool]) -> None:
    """Connect the terminal with the shells inside, one after another, until the task is done."""
    listening.settimeout(_WAIT)
    with _raw(_KEYBOARD):
        while not is_done():
            try:
                link, _ = listening.accept()
            except TimeoutError:
                continue
            except OSError:  # closed: the task has ended
                return
            with link:
                _pass_on(link, is_done)


def _pass_on(link: socket.socket, is_done: Callable[[], bool]) -> None:
    both: list[int | socket.socket] = [_KEYBOARD, link]
    while not is_done():
        ready, _, _ = select.select(both, [], [], _WAIT)
        if link in ready:
            shown = link.recv(_BYTES)
            if not shown:
                return
            os.write(_SCREEN, shown)
        if _KEYBOARD in ready:
            typed = os.read(_KEYBOARD, _BYTES)
            if not typed:
                return
            link.sendall(typed)


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Hand on each key as it is typed; a terminal is restored at the end."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
