"""Sessions for the tests, built turn by turn."""

from __future__ import annotations

from dataclasses import dataclass, field

from data.contracts import Attachment, Origin, Role, Session, SourceFormat, ToolCall, Turn

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
