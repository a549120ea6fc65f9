"""The evidence of a packaged instance, without its files: what was said and what the agent did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from construction.judging.evidence.contracts import Evidence, Said
from data.contracts import TaskInstance, UserTurn

_ANSWER_CHARS = 1_500  # of what the agent said between two messages
_MOST = 100  # paths of a kind


def evidence_of(
    instance: TaskInstance, given: Sequence[str], released: Callable[[str], str] = str
) -> Evidence:
    """What was said before and in the task, the folders of its inputs, and what the agent did.

    `released` puts the paths of the release into the words of people.
    """
    acts = {kind: [act.path for act in instance.acts if act.kind == kind] for kind in _KINDS}
    acts["wrote"] += instance.made
    read, ran, wrote = (tuple(dict.fromkeys(acts[kind]))[:_MOST] for kind in _KINDS)
    return Evidence(
        said=tuple(_said(instance, released)),
        before=tuple(Said(speaker="person", text=released(text)) for text in instance.said_before),
        tree=tuple(sorted(given)),
        read=read,
        ran=ran,
        wrote=wrote,
        tools=instance.tools,
        last_words=instance.reply,
    )


_KINDS = ("read", "ran", "wrote")


def _said(instance: TaskInstance, released: Callable[[str], str]) -> Iterator[Said]:
    answers = [*instance.answers, *[""] * len(instance.user_turns)]
    for turn, answer in zip(instance.user_turns, answers, strict=False):
        if turn.said.strip():
            speaker = f"person:{turn.sender}" if turn.sender else "person"
            yield Said(speaker=speaker, at=_minute(turn), text=released(turn.said))
        if answer.strip():
            yield Said(speaker="agent", text=_shortened(answer))


def _minute(turn: UserTurn) -> str | None:
    if turn.at is None:
        return None
    return datetime.fromtimestamp(turn.at, UTC).isoformat(timespec="minutes")


def _shortened(text: str) -> str:
    half = _ANSWER_CHARS // 2
    return text if len(text) <= _ANSWER_CHARS else f"{text[:half]} … {text[-half:]}"
