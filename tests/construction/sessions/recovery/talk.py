"""Sessions for the tests: built turn by turn, or read from `dialogs.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from data.contracts import Attachment, Origin, Role, Session, SourceFormat, ToolCall, Turn

_TAG = re.compile(r"\s*\[(file|wrote|read|ran): ([^\]]+)\]")
_TOOLS = {"wrote": "write", "read": "read"}
_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_START = 1_700_000_000.0


@dataclass
class Talk:
    """A session in the making; a minute passes with every turn."""

    session_id: str = "talk"
    turns: list[Turn] = field(default_factory=list)
    at: float = _START

    def user(self, said: str, *files: str, text: str | None = None) -> Talk:
        attached = tuple(Attachment(path) for path in files)
        return self._add(Role.USER, Origin.HUMAN, said, text, attachments=attached)

    def agent(self, text: str, *calls: ToolCall) -> Talk:
        return self._add(Role.ASSISTANT, Origin.AGENT, text, calls=calls)

    def machine(self, text: str, origin: Origin = Origin.SYSTEM, role: Role = Role.USER) -> Talk:
        return self._add(role, origin, text)

    def pause(self, seconds: float) -> Talk:
        self.at += seconds
        return self

    def _add(
        self,
        role: Role,
        origin: Origin,
        said: str,
        text: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        calls: tuple[ToolCall, ...] = (),
    ) -> Talk:
        self.at += 60
        index = len(self.turns)
        self.turns.append(
            Turn(
                index,
                role,
                origin,
                said if text is None else text,
                said,
                index + 1,
                self.at,
                attachments=attachments,
                tool_calls=calls,
            )
        )
        return self

    def session(self, parent: str | None = None) -> Session:
        return Session(
            f"{self.session_id}.abc123",
            self.session_id,
            SourceFormat.OPENCLAW,
            f"logs/{self.session_id}.jsonl",
            tuple(self.turns),
            cwd="/work",
            parent_session_id=parent,
        )


def call(name: str, result: str = "ok", *, is_error: bool = False, **arguments: object) -> ToolCall:
    """A tool call with its result."""
    return ToolCall(f"call-{name}", name, dict(arguments), result, is_error)


@dataclass
class Dialog:
    """A dialogue of `dialogs.txt`: `tasks` are the indices of the human turns of each task."""

    name: str
    talk: Talk
    tasks: list[list[int]]


def dialogs() -> list[Dialog]:
    """All dialogues of the file, in order."""
    dialogs: list[Dialog] = []
    lines = (Path(__file__).parent / "dialogs.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("== "):
            dialogs.append(Dialog(line[3:], Talk(line[3:].replace(" ", "-")), [[]]))
        elif line == "---":
            dialogs[-1].tasks.append([])
        elif line and not line.startswith("#"):
            _speak(dialogs[-1], *line.split(": ", 1))
    return dialogs


def _speak(dialog: Dialog, who: str, rest: str) -> None:
    talk = dialog.talk
    tags = _TAG.findall(rest)
    text = _TAG.sub("", rest).strip()
    if who == "p":
        talk.pause(float(rest[:-1]) * _UNITS[rest[-1]])
    elif who == "u":
        if text not in ("/new", "/reset"):
            dialog.tasks[-1].append(len(talk.turns))
        talk.user(text, *(path for kind, path in tags if kind == "file"))
    elif who == "a":
        talk.agent(text, *(_tool(kind, value) for kind, value in tags))
    else:
        talk.machine(text, Origin.CRON if who == "c" else Origin.SYSTEM)


def _tool(kind: str, value: str) -> ToolCall:
    return call("bash", command=value) if kind == "ran" else call(_TOOLS[kind], path=value)
