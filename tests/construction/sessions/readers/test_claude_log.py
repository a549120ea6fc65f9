"""What persons typed into Claude Code, and what the harness wrote into their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.readers.claude_code import read
from construction.sessions.readers.claude_log import Tree, nearest_message, trees
from construction.sessions.readers.source import SourceFile
from data.contracts import Attachment, Origin, Role, Session
from tests.construction.sessions.readers.written import (
    lines,
    session,
    typed,
)
from tests.construction.sessions.readers.written_claude import agent, result, text, use, user


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<local-command-stdout>Set model to large</local-command-stdout>",
        "<bash-input>ls -la</bash-input>",
        "<bash-stdout>total 0</bash-stdout>",
        "[Request interrupted by user for tool use]",
        "<task-notification>job 3 ended</task-notification>",
        "Stop hook feedback:\nRun the tests first.",
        "Stop hook feedback:\n[~/.claude/gate.sh]: tests are red\n",
        [text("PreToolUse:Bash hook feedback:\n- no force pushes")],
        "<system-reminder>Use the list.</system-reminder>",
        [
            text("<system-reminder>a</system-reminder>"),
            text("<system-reminder>b</system-reminder>"),
        ],
    ],
)
def test_what_the_harness_writes_is_no_prompt(tmp_path: Path, content: Any) -> None:
    parsed = session(read, lines(tmp_path, [user("u1", None, content)]))
    assert [turn.origin for turn in parsed.turns] == [Origin.SYSTEM]
    assert typed(parsed.turns) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "/berth-plan"),
        ("<command-args></command-args>", "/berth-plan"),
        ("<command-args># Closing\n\nOf <b> berths</command-args>",
         "/berth-plan # Closing\n\nOf <b> berths"),
    ],
)  # fmt: skip
def test_a_command_of_ones_own_was_typed_and_the_text_of_it_was_not(
    tmp_path: Path, arguments: str, said: str
) -> None:
    called = "<command-message>berth-plan</command-message>\n<command-name>/berth-plan"
    records = [
        user("u1", None, f"{called}</command-name>\n{arguments}"),
        user("u2", "u1", [text("# /berth-plan\n\nPlan it.")], isMeta=True),
        user("u3", "u2", "Base directory for this skill: /quay/skills/berth\n\n# Berths"),
        agent("a1", "u3", text("Planned.")),
    ]
    assert typed(session(read, lines(tmp_path, records)).turns) == [said]


@pytest.mark.parametrize(
    "flags",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"isSynthetic": True},
        {"origin": {"kind": "task-notification"}},
    ],
)
def test_flagged_records_are_no_prompts(tmp_path: Path, flags: dict[str, Any]) -> None:
    parsed = session(read, lines(tmp_path, [user("u1", None, "Looks typed", **flags)]))
    assert typed(parsed.turns) == []


def test_reminders_are_taken_off_a_prompt_and_stay_in_its_text(tmp_path: Path) -> None:
    text = "<system-reminder>\nBe brief.\n</system-reminder>\nFix the <b>title</b>"
    (turn,) = session(read, lines(tmp_path, [user("u1", None, text)])).turns
    assert (turn.said, turn.text) == ("Fix the <b>title</b>", text)


def test_an_unclosed_reminder_is_the_persons_own_text(tmp_path: Path) -> None:
    text = "What does <system-reminder> mean?"
    (turn,) = session(read, lines(tmp_path, [user("u1", None, text)])).turns
    assert (turn.said, turn.origin) == (text, Origin.HUMAN)


def test_pictures_and_documents_are_attachments(tmp_path: Path) -> None:
    def inline(kind: str, mime: str) -> dict[str, Any]:
        return {"type": kind, "source": {"type": "base64", "media_type": mime, "data": "QUJD"}}

    linked = {"type": "image", "source": {"type": "url", "url": "https://pictures.example/a.png"}}
    content = [inline("image", "image/png"), inline("document", "application/pdf"), linked]
    (turn,) = session(read, lines(tmp_path, [user("u1", None, [*content, text("Compare")])])).turns
    assert turn.attachments == (
        Attachment(None, "image/png", "QUJD"),
        Attachment(None, "application/pdf", "QUJD"),
    )
    assert turn.text == "https://pictures.example/a.png\nCompare"
    assert turn.origin is Origin.HUMAN


def test_a_file_named_with_at_is_an_attachment_of_the_prompt(tmp_path: Path) -> None:
    def opened(id_: str, parent: str, name: str) -> dict[str, Any]:
        attachment = {"type": "file", "filename": name}
        return {"type": "attachment", "uuid": id_, "parentUuid": parent, "attachment": attachment}

    source = lines(
        tmp_path,
        [
            user("u1", None, "Compare @a.csv with @b.csv"),
            opened("f1", "u1", "/work/books/a.csv"),
            opened("f2", "f1", "/work/books/b.csv"),
            agent("a1", "f2", text("Same.")),
            user("u2", "a1", "Thanks"),
            opened("f3", "u2", "/work/books/restored-by-the-harness.md"),
        ],
    )
    parsed = session(read, source)
    assert parsed.turns[0].attachments == (
        Attachment("/work/books/a.csv"),
        Attachment("/work/books/b.csv"),
    )
    assert parsed.turns[2].attachments == ()


def test_a_prompt_typed_while_the_agent_works_is_a_turn(tmp_path: Path) -> None:
    def queued(id_: str, parent: str, **attachment: Any) -> dict[str, Any]:
        full = {"type": "queued_command", **attachment}
        return {"type": "attachment", "uuid": id_, "parentUuid": parent, "attachment": full}

    source = lines(
        tmp_path,
        [
            user("u1", None, "Write a letter"),
            queued("q1", "u1", prompt="In French, please", commandMode="prompt"),
            queued("q2", "q1", prompt="job 3 ended", commandMode="task-notification"),
            agent("a1", "q2", text("Chère banque")),
        ],
    )
    parsed = session(read, source)
    assert typed(parsed.turns) == ["Write a letter", "In French, please"]
    assert [turn.role for turn in parsed.turns] == [Role.USER, Role.USER, Role.ASSISTANT]
    assert parsed.dropped == {"bookkeeping": 1}


def test_what_a_person_says_when_refusing_a_call_is_a_turn(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed. To tell you how to proceed, the user said:\n"
    source = lines(
        tmp_path,
        [
            user("u1", None, "Clean up"),
            agent("a1", "u1", use("t1"), use("t2")),
            user("r1", "a1", [result("t1", refusal + "keep the logs", is_error=True)]),
            user("r2", "r1", [result("t2", "he said, the user said:\nno", is_error=False)]),
        ],
    )
    assert typed(session(read, source).turns) == ["Clean up", "keep the logs"]


def test_real_logs_hold_no_harness_text_as_prompts(material: Path) -> None:
    folders = [material / "sessions" / "claude_code"]
    folders.append(material / "sessions" / "harness_formats" / "stage0" / "agents" / "claude")
    files = [path for folder in folders for path in sorted(folder.rglob("*.jsonl"))]
    assert len(files) >= 60
    prompts: list[str] = []
    for path in files:
        parsed = [item for item in read(SourceFile(path, path.name)) if isinstance(item, Session)]
        assert parsed, path.name
        prompts.extend(text for item in parsed for text in typed(item.turns))
    assert len(prompts) >= 15
    assert not [text for text in prompts if text.startswith(("<", "Caveat:"))]


def _trees(
    links: Sequence[tuple[str | None, str | None]], relays: dict[str, str | None] | None = None
) -> list[Tree]:
    ids, parents = [link[0] for link in links], [link[1] for link in links]
    return trees(ids, parents, [""] * len(links), relays or {})


def _order(links: Sequence[tuple[str | None, str | None]]) -> list[int]:
    return [place for tree in _trees(links) for place in tree.path]


def test_the_branch_of_the_last_leaf_is_active() -> None:
    links = [("a", None), ("b", "a"), ("c", "b"), ("b2", "a"), ("c2", "b2")]
    assert _trees(links) == [Tree("", (0, 1, 2, 3, 4), (0, 3, 4))]


def test_a_return_to_the_older_branch_leaves_the_newer_one() -> None:
    links = [("a", None), ("b", "a"), ("b2", "a"), ("c", "b")]
    assert _order(links) == [0, 1, 3]


def test_order_is_that_of_the_graph_and_not_of_the_file() -> None:
    assert _order([("c", "b"), ("a", None), ("b", "a")]) == [1, 2, 0]


def test_without_ids_or_parents_the_order_is_that_of_the_file() -> None:
    assert _order([(None, None), (None, None), ("x", None), ("y", None)]) == [0, 1, 2, 3]


def test_a_lost_parent_starts_a_stretch_after_the_ones_before() -> None:
    assert _order([("a", None), ("b", "a"), ("d", "lost"), ("e", "d")]) == [0, 1, 2, 3]


def test_relays_are_passed_through() -> None:
    relays: dict[str, str | None] = {"r1": "a", "r2": "r1"}
    (tree,) = _trees([("a", None), ("b", "r2")], relays)
    assert tree.path == (0, 1)
    assert relays == {"r1": "a", "r2": "a"}


def test_cycles_end() -> None:
    assert sorted(_order([("a", "b"), ("b", "a"), ("c", "b"), ("d", "d")])) == [0, 1, 2, 3]
    assert nearest_message("r1", {}, {"r1": "r2", "r2": "r1"}) is None


def test_labels_are_kept_apart() -> None:
    forest = trees(["a", "s", "t", "b"], [None, "a", "s", "t"], ["", "x", "x", ""], {})
    assert forest == [Tree("", (0,), (0,)), Tree("x", (1, 2), (1, 2)), Tree("", (3,), (3,))]


@given(st.permutations(range(12)))
def test_a_chain_keeps_its_order_in_any_file_order(places: list[int]) -> None:
    links: list[tuple[str | None, str | None]] = [
        (str(place), str(place - 1) if place else None) for place in places
    ]
    assert [places[at] for at in _order(links)] == list(range(12))


_NODES = st.integers(0, 9).map(str)


@given(
    st.lists(st.tuples(st.none() | _NODES, st.none() | _NODES), max_size=12),
    st.dictionaries(_NODES, st.none() | _NODES, max_size=6),
)
def test_every_message_is_in_one_tree_and_trees_are_in_the_order_of_their_roots(
    links: list[tuple[str | None, str | None]], relays: dict[str, str | None]
) -> None:
    forest = _trees(links, relays)
    assert sorted(place for tree in forest for place in tree.members) == list(range(len(links)))
    for tree in forest:
        assert set(tree.path) <= set(tree.members)
        assert len(set(tree.path)) == len(tree.path)
    roots = [tree.path[0] for tree in forest]
    assert roots == sorted(roots)
