"""The instruction gate: which changes by masking make another request."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

import pytest

from anonymization.masking_gates import (
    INSTRUCTION,
    ChangedPart,
    ChangeKind,
    InstructionChange,
    InstructionConfig,
    MaskedWords,
    changed_parts,
    changes_of,
    described,
    read_changes,
    write_changes,
)
from anonymization.text.contracts import Edit, EntityType


def change(text: str, old: str, kind: EntityType, names: tuple[str, ...] = ()) -> MaskedWords:
    start = text.index(old)
    edit = Edit(start, start + len(old), "Swinby", kind, "test", 1.0)
    return MaskedWords(text, [edit], [(text.index(n), text.index(n) + len(n)) for n in names])


def counted(words: MaskedWords, given: Collection[str] = ()) -> InstructionChange:
    return changes_of(changed_parts([words], given))


@pytest.mark.parametrize(
    ("text", "old", "kind", "changed"),
    [
        ("Write to Ann Lee about the offer.", "Ann Lee", EntityType.PERSON, False),
        ("Call 555-0100 first.", "555-0100", EntityType.PHONE, False),
        ("Use the format YYYY-MM-DD.", "YYYY", EntityType.ORGANIZATION, True),
        ("List the Top 10 Sites.", "Top 10 Sites", EntityType.ORGANIZATION, True),
        ("Sort by Health_Rating.", "Health", EntityType.PERSON, True),
        ('Name the sheet "Quill Data".', "Quill", EntityType.PERSON, True),
        ("表名是「季度汇总」。", "季度", EntityType.LOCATION, True),
    ],
)
def test_what_a_result_has_to_hold_may_not_change(
    text: str, old: str, kind: EntityType, changed: bool
) -> None:
    verdict = INSTRUCTION.judge(counted(change(text, old, kind)), InstructionConfig())
    assert verdict.reason == ("masking.instruction_changed" if changed else None)


def test_an_input_may_be_renamed_and_a_file_to_be_made_may_not() -> None:
    words = change(
        "Save it as Health_Plan.xlsx", "Health", EntityType.PERSON, ("Health_Plan.xlsx",)
    )
    assert counted(words)[ChangeKind.FILES] == 1
    assert counted(words, {"health_plan.xlsx"})[ChangeKind.FILES] == 0


def test_the_home_folder_in_a_path_may_change_and_the_file_may_not() -> None:
    path = "/home/annlee/plans/plan.md"
    home = change(f"See {path} for it.", "annlee", EntityType.USER_PATH, (path,))
    name = change(f"See {path} for it.", "plan.md", EntityType.PERSON, (path,))
    assert (counted(home)[ChangeKind.FILES], counted(name)[ChangeKind.FILES]) == (0, 1)


def test_each_changed_part_has_its_turn_and_both_texts_and_the_public_only_kinds() -> None:
    first = change("List the Top 10 Sites.", "Top 10 Sites", EntityType.ORGANIZATION)
    second = change("Sort by Health_Rating.", "Health", EntityType.PERSON)
    parts = list(changed_parts([first, second, second]))
    assert parts == [
        ChangedPart(ChangeKind.NUMBERS, "turn 1", "Top 10 Sites", "Swinby"),
        ChangedPart(ChangeKind.COLUMNS, "turn 2", "Health", "Swinby"),
        ChangedPart(ChangeKind.COLUMNS, "turn 3", "Health", "Swinby"),
    ]
    assert described(parts) == "a number; a column name (2 times)"
    assert described([]) == ""
    assert "Health" not in repr(parts)


def test_changed_parts_are_kept_whatever_they_say_and_for_nobody_else(tmp_path: Path) -> None:
    hostile = "\ud800" + "x" * 5_000
    text = f"Sort by {hostile}_price."
    edit = Edit(8, 8 + len(hostile), "Swinby", EntityType.PERSON, "test", 1.0)
    parts = list(changed_parts([MaskedWords(text, [edit], [])]))
    write_changes(tmp_path, {"one": parts})
    assert read_changes([tmp_path]) == {"one": parts}
    assert [len(part.before) < 300 for part in parts] == [True]
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("piece", ["a", "a_", "Ann "])
def test_a_long_request_is_measured_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        edits = [
            Edit(start, start + 1, "x", EntityType.PERSON, "test", 1.0)
            for start in range(0, size, 20)
        ]
        words = MaskedWords(text, edits, [(edit.start, edit.end) for edit in edits])
        begin = time.process_time()
        assert counted(words)[ChangeKind.FILES] == len(edits)
        return time.process_time() - begin + 1e-3

    assert seconds(80_000) / seconds(10_000) < 24  # linear 8, quadratic 64
