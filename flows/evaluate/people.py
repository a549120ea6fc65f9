"""A person as the agent: a shell in the box, on the terminal of the command."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from inspect_ai.agent import AgentState, human_cli
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.service_tools import reachable
from flows.services.instance import Instance

_PORT = 8703
_TASK_COMMAND = "/opt/human_agent/task.py"  # of Inspect's human agent, once it is there
_PATIENCE = 5.0  # seconds for a shell to end
_WAIT, _BYTES = 0.2, 1 << 16
_KEYBOARD, _SCREEN = 0, 1  # of this process, whatever else its streams are led to
_IN_THE_FOLDER = (
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
            text = state.input_text + _IN_THE_FOLDER + how_to_call
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
