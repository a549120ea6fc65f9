"""`benchmint audit`: reasons in words, gates first, ids by their beginning, turns as said."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from flows.commands.audit import audit_command
from flows.gates import GATES
from tests.demo import Demo
from tests.flows.command import inline


@pytest.fixture(scope="module")
def rejected(demo: Demo) -> str:
    """An instance that the length gate rejected."""
    listed = inline("audit", "--out", demo.out, "--gate", "length", "--json").stdout
    return str(orjson.loads(listed)["rejections"][0]["item_id"])


def test_gates_stand_first_in_their_order_with_question_and_sentence(demo: Demo) -> None:
    shown = inline("audit", "--out", demo.out).stdout
    headings = [line.partition(":")[0] for line in shown.splitlines() if line[:1].isalpha()][1:-1]
    gates = [name for name in headings if not name.startswith("stage ")]
    assert headings[: len(gates)] == gates
    order = [gate.name for gate in GATES]
    assert gates == sorted(gates, key=order.index)
    assert (
        "length: Did a person type enough to describe a task, and no more than a task needs?"
        in shown
    )
    assert "A later filing repeats the value, which is normal." in shown
    assert shown.endswith(f"list one reason: benchmint audit --reason R --out {demo.out}\n")


def test_the_json_list_has_gates_first(demo: Demo) -> None:
    rows = orjson.loads(inline("audit", "--out", demo.out, "--json").stdout)["rejections"]
    gates = [row["gate"] is not None for row in rows]
    assert gates == sorted(gates, reverse=True)
    assert True in gates and False in gates


def test_the_beginning_of_an_id_gives_the_full_answer(demo: Demo, rejected: str) -> None:
    session = rejected.rpartition("_i")[0]
    whole = inline("audit", "--out", demo.out, "--instance", rejected).stdout
    assert whole.startswith("rejected in length: A person typed too little to describe a task. Mea")
    assert "at least 10 characters" in whole
    for begin in (rejected[:-1], session):
        heading, _, rest = inline("audit", "--out", demo.out, "--instance", begin).stdout.partition(
            "\n"
        )
        assert heading == f"1 instance matches: {rejected}"
        assert rest == whole


def test_a_candidate_is_called_so_with_what_became_of_it(demo: Demo) -> None:
    out = ("--out", demo.out)
    sql = "SELECT outcome, min(item_id) AS id FROM ledger WHERE stage = 'select' GROUP BY outcome"
    rows = orjson.loads(inline("sql", *out, "--format", "json", sql).stdout)
    words = {"chosen": "chosen for the release", "not_chosen": "kept, not chosen"}
    assert {row["outcome"] for row in rows} == words.keys()
    for row in rows:
        shown = inline("audit", *out, "--instance", row["id"][:-1]).stdout.splitlines()
        assert shown[0] == f"1 candidate matches: {row['id']}"
        assert shown[1].startswith(f"{words[row['outcome']]} (stage select)")


def test_turns_are_numbered_as_missing_inputs_name_them(demo: Demo) -> None:
    out = ("--out", demo.out)
    listed = orjson.loads(inline("audit", *out, "--reason", "fixture.unresolved", "--json").stdout)
    assert listed["rejections"]
    for row in listed["rejections"]:
        if row["missing"].endswith("read by the agent"):
            continue
        shown = inline("audit", *out, "--instance", row["item_id"], "--private").stdout
        number = row["missing"].rpartition(" ")[2]
        (name,) = {
            item["name"] for item in orjson.loads(
                inline("audit", *out, "--instance", row["item_id"], "--private", "--json").stdout
            )["missing inputs"]
        }  # fmt: skip
        said = shown.partition(f"\nturn {number}, user, ")[2].partition("\nassistant, ")[0]
        assert Path(name).name in said


def test_several_that_begin_so_are_listed(demo: Demo) -> None:
    listed = orjson.loads(inline("audit", "--out", demo.out, "--json").stdout)["rejections"]
    digits = {row["item_id"][0] for row in listed if row["unit"] == "instance"}
    begin = next(
        digit for digit in sorted(digits)
        if sum(row["item_id"][0] == digit for row in listed if row["unit"] == "instance") > 1
    )  # fmt: skip
    shown = inline("audit", "--out", demo.out, "--instance", begin).stdout
    assert f"IDs begin with {begin}" in shown.splitlines()[0]
    assert "verdicts" not in shown


def test_gate_and_instance_combine(demo: Demo, rejected: str) -> None:
    options = ("audit", "--out", demo.out, "--instance", rejected)
    tables = orjson.loads(inline(*options, "--gate", "fixture", "--json").stdout)
    assert [row["gate"] for row in tables["verdicts"]] == ["fixture"]
    assert tables["rejections"] == []
    assert inline(*options, "--gate", "fixture").stdout.endswith(
        "It was not rejected by fixture.\n"
    )
    assert "It was not rejected" not in inline(*options, "--gate", "length").stdout


def test_private_turns_are_what_was_said_and_the_record_is_in_json(
    demo: Demo, rejected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_command(instance=rejected, private=True, as_json=True, out=demo.out)
    turns = orjson.loads(capsys.readouterr().out)["turns"]
    assert turns
    for turn in turns:
        assert turn["text"] != turn["record"]
        assert not turn["text"].startswith("{")
        assert turn["record"].startswith(("{", "(a single document without lines"))
    audit_command(instance=rejected, private=True, out=demo.out)
    shown = capsys.readouterr().out
    assert f"\nturn 1, user, {turns[0]['path']}" in shown
    assert f"\n  {turns[0]['text'].splitlines()[0][:40]}" in shown
