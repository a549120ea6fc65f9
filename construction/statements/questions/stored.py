"""Questions with their answers on disk, for the stages behind the one that asks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from construction.statements.questions.contracts import Question
from data.atomic import PRIVATE_FILE, write_bytes

_FILE = "asked.jsonl"
_QUESTION = TypeAdapter(Question)


def store_questions(folder: Path, questions: Sequence[Question]) -> None:
    """Write them into a private folder, a line each."""
    lines = [_QUESTION.dump_json(question) + b"\n" for question in questions]
    write_bytes(folder / _FILE, b"".join(lines), mode=PRIVATE_FILE)


def stored_questions(folder: Path) -> list[Question]:
    """What `store_questions` wrote."""
    lines = (folder / _FILE).read_bytes().splitlines()
    return [_QUESTION.validate_json(line) for line in lines]
