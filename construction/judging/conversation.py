"""How the request of a case came about."""

from __future__ import annotations

from dataclasses import dataclass

from construction.judging.contracts import Case


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a request came about, as far as it is known.

    `people` named writers; `calling`: the messages that call the agent; `in_channel`: it was sent
    to several readers; `is_thread`: it is to answer messages that reached somebody. `said_before`
    is what the person typed earlier in the session, `said` what they typed in this task, turns that
    the prompt leaves out included.
    `files_read` counts the files that the agent read before it wrote them, `files_missing` names
    those of them that are not released. `systems_missing` names the systems that the request wants
    and no released file stands for, `records_missing` what is to be gathered and no released file
    can hold, `offline` the parts of the web where none may be reached. `objects_missing` are to be
    renamed, moved or changed and no input file; `day_unknown` and `asker_unknown` hold the words
    that depend on the day or on who asks, where nothing says it.
    """

    people: int = 0
    calling: tuple[str, ...] = ()
    in_channel: bool = False
    is_thread: bool = False
    said_before: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    files_read: int = 0
    files_missing: tuple[str, ...] = ()
    systems_missing: tuple[str, ...] = ()
    records_missing: tuple[str, ...] = ()
    offline: tuple[str, ...] = ()
    objects_missing: tuple[str, ...] = ()
    day_unknown: tuple[str, ...] = ()
    asker_unknown: tuple[str, ...] = ()

    @property
    def opens_alone(self) -> bool:
        """Does one person open a session with it, of whom nobody else is seen to read or write?"""
        return not (self.people or self.in_channel or self.is_thread or self.said_before)


def is_single_message(case: Case, conversation: Conversation) -> bool:
    """Is the request a single message, as the conversation or else its provenance says?"""
    if conversation.said:
        return len(conversation.said) == 1
    return case.candidate.provenance.detail.get("user_turns") == 1
