"""No text of a log goes past masking on its way to models and releases."""

from __future__ import annotations

from data.contracts import (
    AgentAct,
    Attachment,
    CutReason,
    KeptText,
    SourceFormat,
    TaskInstance,
    UserTurn,
)
from data.contracts.session import dump_instance
from data.pool import texts_of, with_texts

# Ids and the path of the log stay, which are never released, and the names of the agent's tools.
STAY = ("session_uid", "session_id", "source_path", "tools")
NAME = "Oriel Vantongeren"


def full() -> TaskInstance:
    """An instance with a name in every text that it can hold."""
    sent = Attachment(f"{NAME}.csv", "text/csv", NAME)
    return TaskInstance(
        "s_i1", "s", "s", SourceFormat.CLAUDE_CODE, "log.jsonl", CutReason.SESSION_START,
        (UserTurn(0, 1, f"<x>{NAME}</x>", NAME, 1.0, NAME, (sent,)),), (0,),
        acts=(AgentAct("read", f"{NAME}/a.csv", 1),), session_urls=(f"https://h/{NAME}",),
        reply=NAME, cwd=f"/home/{NAME}", said_before=(NAME,), answers=(NAME, f"{NAME}, again"),
        tools=("Bash ×1",), made=(f"{NAME}.xlsx",), kept=(KeptText(f"{NAME}.txt", NAME),),
        in_part=(f"{NAME}.py",),
    )  # fmt: skip


def test_every_text_is_changed_or_gone() -> None:
    empty = [
        name
        for name in TaskInstance.__dataclass_fields__
        if name not in (*STAY, "asked_back", "fingerprint") and not getattr(full(), name)
    ]
    assert empty == []  # a new field belongs into `full`
    changed = with_texts(full(), lambda text: text.replace(NAME, "⌷"))
    assert NAME not in dump_instance(changed)
    assert changed.answers == ("⌷", "⌷, again")
    assert (changed.made, changed.in_part, changed.kept) == (("⌷.xlsx",), ("⌷.py",), ())


def test_texts_are_listed_in_the_order_in_which_they_are_changed() -> None:
    given = iter(map(str, range(100)))
    numbered = with_texts(full(), lambda _: next(given))
    assert texts_of(numbered) == [str(n) for n in range(len(texts_of(full())))]
