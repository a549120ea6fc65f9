"""Which tools were called, and which files the agent's programs made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from construction.sessions.recovery.recover import RecoveryConfig, other_tools, recover
from data.contracts import KeptText, TaskInstance, ToolCall
from tests.construction.sessions.recovery.talk import Talk, call


def shown(name: str, result: str, **arguments: str) -> ToolCall:
    return replace(call(name), arguments=arguments, result=result)


RUNS = shown("bash", "wrote 3 rows", command="python3 sums.py oak.csv")


@pytest.mark.parametrize(
    ("before", "said", "made"),
    [
        ([], "Sum up oak.csv", ("sums.csv",)),
        # A listing, a person or a file named it before a program ran: it was there.
        ([shown("bash", "oak.csv\nsums.csv", command="ls -l")], "Sum up oak.csv", ()),
        ([shown("Read", "see sums.csv", file_path="readme.md")], "Sum up oak.csv", ()),
        ([], "Compare oak.csv with sums.csv", ()),
    ],
)
def test_what_is_read_only_after_a_program_ran_was_made_by_it(
    before: list[ToolCall], said: str, made: tuple[str, ...]
) -> None:
    calls = [shown("Read", "a,b", file_path="oak.csv"), *before, RUNS]
    talk = Talk().user(said).agent("Done.", *calls, call("Read", file_path="sums.csv"))
    (instance,) = recover(talk.session(), RecoveryConfig()).instances
    assert instance.made == made


def test_looking_around_makes_nothing() -> None:
    calls = [shown("bash", "", command="head -3 oak.csv | wc -l"), call("Read", file_path="b.csv")]
    (instance,) = recover(
        Talk().user("Look").agent("Done.", *calls).session(), RecoveryConfig()
    ).instances
    assert instance.made == ()


def test_tools_are_told_with_how_often_and_files_and_shell_apart() -> None:
    calls = [
        call("Read", file_path="a.md"),
        call("mcp__mail__send"),
        call("Read", file_path="b.md"),
    ]
    (instance,) = recover(
        Talk().user("Go").agent("Done.", *calls).session(), RecoveryConfig()
    ).instances
    assert instance.tools == ("Read ×2", "mcp__mail__send ×1")
    assert other_tools(instance.tools) == ["mcp__mail__send ×1"]


def of(*calls: ToolCall, said: str = "Mend it") -> TaskInstance:
    (instance,) = recover(
        Talk().user(said).agent("Done.", *calls).session(), RecoveryConfig()
    ).instances
    return instance


ARROWS = "     1→package tide\n     2→\n     3→var High = 3\n     4→"
TIDE = "package tide\n\nvar High = 3\n"


@pytest.mark.parametrize(
    ("call_of", "text"),
    [
        (shown("Read", ARROWS, file_path="tide.go"), TIDE),
        (
            shown("Read", ARROWS + "\n<system-reminder>x</system-reminder>", file_path="tide.go"),
            TIDE,
        ),
        (shown("Read", ARROWS.replace("→", "\t").strip("\t"), file_path="tide.go"), TIDE),
        (
            shown(
                "str_replace_editor", f"`cat -n` of it:\n{ARROWS}", command="view", path="tide.go"
            ),
            TIDE,
        ),
        (shown("read_file", TIDE, path="tide.go"), TIDE),
        (shown("exec_command", TIDE, cmd="cat tide.go"), TIDE),
        (shown("read", '{"high": 3}', path="tide.json"), '{"high": 3}'),
    ],
)
def test_a_file_that_is_shown_whole_is_kept(call_of: ToolCall, text: str) -> None:
    """As it was first seen: what comes after the agent's change is another file."""
    path = "tide.json" if text.startswith("{") else "tide.go"
    changed = shown("Edit", "ok", file_path=f"/w/{path}", old_string="3", new_string="4")
    later = shown("Read", "     1→package none\n     2→", file_path=path)
    seen = of(call_of, changed, later)
    assert (seen.kept, seen.in_part) == ((KeptText(path, text),), ())


def test_pieces_with_numbers_are_put_together() -> None:
    first = shown("Read", "1\tpackage tide\n2\t\n3\tvar High = 3", file_path="w/tide.go", limit="3")
    rest = shown("Read", "3\tvar High = 3\n4\t", file_path="./tide.go", offset="3")
    assert of(rest, first).kept == (KeptText("./tide.go", TIDE),)
    assert of(first).in_part == ("w/tide.go",)


STORED = "/home/k/.claude/projects/w/tool-results/a1.txt"


def test_a_stored_output_is_whole_if_it_has_the_size_that_was_said() -> None:
    text = "\n".join(f"+ line {number:04}" for number in range(300))
    listing = "\n".join(f"{at}\t{line}" for at, line in enumerate(text.split("\n"), 1))
    read = shown("Read", listing, file_path=STORED)
    size = f"{len(text) / 1024:.1f}"
    note = f"Output too large ({size}KB). Full output saved to: {STORED}"
    assert of(read, said=note).kept == (KeptText(STORED, text),)
    assert of(read, said=note.replace(size, "9.9")).kept == ()


@pytest.mark.parametrize(
    "call_of",
    [
        shown("Read", "    38→var x = 1\n    39→", file_path="tide.go"),
        shown("Read", "     1→package tide\n     2→var High = 3", file_path="tide.go"),
        shown("read_file", "package tide", path="tide.go"),
        shown("read_file", TIDE, path="tide.go", limit="3"),
        shown("read_file", f"{TIDE}[Showing lines 1-3 of 90. Use offset=4]\n", path="tide.go"),
        shown("read_file", f"<file>\n{TIDE}</file>\n", path="tide.go"),
        shown("read_file", '{"content": "package tide"}', path="tide.go"),
        shown("read_file", "key = [REDACTED]\n", path="tide.go"),
        shown("read_file", "Sheet1\nA,B\n", path="tide.xlsx"),
        shown("bash", TIDE, command="head -40 tide.go"),
        shown("bash", TIDE, command="cat tide.go | sort"),
        shown("Read", "1\tAda\n2\tBob\n", file_path="ranks.tsv", limit="2"),
    ],
)
def test_what_is_shown_in_part_or_in_another_form_is_not_kept(call_of: ToolCall) -> None:
    seen = of(call_of)
    assert (seen.kept, len(seen.in_part)) == ((), 1)


def test_a_file_that_a_program_may_have_changed_is_not_kept() -> None:
    read = shown("read_file", TIDE, path="tide.go")
    fixed = shown("bash", "", command="python3 mend.py tide.go")
    assert of(fixed, read).kept == ()
    assert of(shown("bash", "", command="go vet ./..."), read).kept == (KeptText("tide.go", TIDE),)
