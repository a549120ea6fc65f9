"""The texts of an instance that people, agents and files gave: what masking has to visit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from data.contracts import Attachment, TaskInstance, UserTurn


def with_texts(instance: TaskInstance, change: Callable[[str], str]) -> TaskInstance:
    """The instance with `change` applied to each of its texts, always in the same order.

    Ids and the path of the log stay: they are private and never released. What only the gates
    before masking needed, inline media and the URLs of the whole session, is left out.
    """
    return replace(
        instance,
        user_turns=tuple(_turn(turn, change) for turn in instance.user_turns),
        acts=tuple(replace(act, path=change(act.path)) for act in instance.acts),
        session_urls=(),
        reply=change(instance.reply),
        cwd=_maybe(instance.cwd, change),
        said_before=tuple(change(said) for said in instance.said_before),
    )


def texts_of(instance: TaskInstance) -> list[str]:
    """The texts that `with_texts` would change, in its order."""
    seen: list[str] = []

    def remember(text: str) -> str:
        seen.append(text)
        return text

    with_texts(instance, remember)
    return seen


def _turn(turn: UserTurn, change: Callable[[str], str]) -> UserTurn:
    return replace(
        turn,
        text=change(turn.text),
        said=change(turn.said),
        sender=_maybe(turn.sender, change),
        attachments=tuple(
            Attachment(_maybe(sent.path, change), sent.mime) for sent in turn.attachments
        ),
    )


def _maybe(text: str | None, change: Callable[[str], str]) -> str | None:
    return None if text is None else change(text)
