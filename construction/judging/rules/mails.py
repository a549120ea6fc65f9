"""The mails among the inputs of a task: files of their own, or the rows of a mailbox."""

from __future__ import annotations

from collections.abc import Sequence

from construction.grading.file_types import extension_of
from construction.judging.contracts import InputTable

_SENDERS = frozenset(("from", "sender", "from_email", "from_address", "发件人"))
_SUBJECTS = frozenset(("subject", "title", "主题", "标题"))


def mails_of(paths: Sequence[str]) -> list[str]:
    """The mails among input files, if there are several."""
    mails = [path for path in paths if extension_of(path) == "eml"]
    return mails if len(mails) > 1 else []


def is_mailbox(table: InputTable) -> bool:
    """Is each of several rows a mail, with a sender and a subject?"""
    names = {column.strip().casefold() for column in table.columns}
    return table.rows > 1 and not (names.isdisjoint(_SENDERS) or names.isdisjoint(_SUBJECTS))
