"""Instances for tests, built from what a person said."""

from __future__ import annotations

from collections.abc import Sequence

from data.contracts import (
    AgentAct,
    Attachment,
    CutReason,
    SourceFormat,
    TaskInstance,
    UserTurn,
)


def said(
    *texts: str,
    attachments: Sequence[Attachment] = (),
    acts: Sequence[tuple[str, str, int]] = (),
    urls: Sequence[str] = (),
    cwd: str | None = None,
) -> TaskInstance:
    """One instance whose user turns stand at the even indices 0, 2, 4, …

    `attachments` belong to the first turn; `acts` are (kind, path, turn index).
    """
    turns = tuple(
        UserTurn(
            index=2 * number,
            line=2 * number + 1,
            text=text,
            said=text,
            attachments=tuple(attachments) if number == 0 else (),
        )
        for number, text in enumerate(texts)
    )
    return TaskInstance(
        instance_id="s_i1",
        session_uid="s",
        session_id="s",
        source_format=SourceFormat.CHAT,
        source_path="s.jsonl",
        started_by=CutReason.SESSION_START,
        user_turns=turns,
        turn_indices=tuple(range(2 * len(texts))),
        acts=tuple(AgentAct(kind, path, index) for kind, path, index in acts),
        session_urls=tuple(urls),
        cwd=cwd,
    )
