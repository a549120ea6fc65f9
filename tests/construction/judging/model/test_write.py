"""Writing by a model: the request, its deliverables and labels, repaired before refused."""

from __future__ import annotations

from typing import Any

import pytest

from construction.judging.baseline.label import as_said
from construction.judging.contracts import Case, Judged, Written
from construction.judging.model.asking import ask
from construction.judging.model.grade import to_deliver
from construction.judging.model.write import _deliverables_of, plain_path, write_stage
from construction.judging.stages import _written_case
from data.contracts import Deliverable, Rule
from tests.construction.judging.model.answers import UNASSIGNED, written
from tests.construction.judging.model.fakes import CONFIG, Scripted, case

TRIPS = {"trips.csv": "driver,month,miles\nAnna,1,120\nBo,2,260\n"}
TURNS = ["Hi! total miles per driver from trips.csv", "sorry, per month, 2 decimals", "hello??"]
GOOD = "Total the miles per month from trips.csv, with 2 decimals."


def judged(item: Case, *answers: dict[str, Any]) -> tuple[Judged[Written], Scripted]:
    remaining = list(answers)
    client = Scripted(lambda question: remaining.pop(0) if len(remaining) > 1 else remaining[0])
    (single,) = ask(write_stage(CONFIG, as_said), [item], client)
    return single, client


def value(item: Case, answer: dict[str, Any]) -> tuple[Written, int]:
    single, client = judged(item, answer)
    assert single.value is not None
    return single.value, len(client.asked)


def test_a_faithful_request_is_taken_at_once() -> None:
    files = [{"path": "outputs/miles.xlsx", "unchanged": False, "what": "miles"}]
    result, calls = value(case(TURNS, TRIPS), written(GOOD, deliverables=files))
    assert (result.request, calls) == (GOOD, 1)
    assert [(single.file_type, single.name_hints) for single in result.deliverables] == [
        ("xlsx", ("miles.xlsx",))
    ]
    assert (result.difficulty, result.difficulty_reason) == ("easy", "one step")


def test_one_clear_message_stands_without_its_greeting() -> None:
    said = "Hi Anna! Sum trips.csv\nper driver,\nthe whole year. thx"
    for words in ("Sum trips.csv\nper driver,\nthe whole year.", "Sum trips.csv ⟨…⟩ whole year."):
        greeting = [{"quote": "Hi Anna!", "why": "greeting"}]
        result, calls = value(case(said, TRIPS), written(words, left_out=greeting))
        assert (result.request, calls) == ("Sum trips.csv\nper driver,\nthe whole year.", 1)
    for item in (case(said, TRIPS), case(TURNS, TRIPS)):
        single, client = judged(item, written(""))
        assert client.asked[1].repair is not None and "is empty" in client.asked[1].repair[1]
        assert single.value is not None and single.value.request == item.request


def test_what_is_shown_by_its_name_is_no_number() -> None:
    said = "Hi! Sum \x1b[31mtrips.csv\x1b[0m, 2 decimals,\x0cand \u202e14\u202c rows"
    words = "Sum ⟨U+001B⟩[31mtrips.csv⟨U+001B⟩[0m, 2 decimals,⟨U+000C⟩and 14 rows"
    for request in (words, words.replace("⟨U+000C⟩", " "), "Sum ⟨U+001B⟩[31mtrips.csv ⟨…⟩ rows"):
        result, calls = value(case(said, TRIPS), written(request))
        assert calls == 1 and result.request.startswith("Sum ⟨U+001B⟩[31mtrips.csv")


def test_a_name_behind_words_without_a_blank_is_that_of_the_input() -> None:
    item = case("地点见会议室_2025.txt，排5场", {"会议室_2025.txt": "A1"})
    result, calls = value(item, written("地点见`会议室_2025.txt`，排5场。"))
    assert (result.request, calls) == ("地点见`会议室_2025.txt`，排5场。", 1)


@pytest.mark.parametrize(
    "request_",
    [
        "Total the miles per month from trips.csv.",  # lost the decimals
        GOOD + " Anna drove 911 miles.",  # nobody said so
        "汇总 trips.csv 里每月的里程，保留2位小数。",
    ],
)
def test_a_request_that_stays_wrong_falls_back_to_the_persons_words(request_: str) -> None:
    item = case(TURNS, TRIPS)
    result, calls = value(item, written(request_, business_task="Total miles"))
    assert (result.request, calls) == (item.request, 2)
    assert result.taxonomy.business_task == "Total miles"  # the other fields stay the model's


def test_an_address_that_nobody_gave_goes_back_and_then_nothing_of_it_counts() -> None:
    item = case(TURNS, TRIPS)
    result, calls = value(item, written(GOOD + " See https://example.org/more"))
    assert (result, calls) == (as_said(item), 2)


def test_what_the_agent_answered_is_an_invention() -> None:
    item = case(
        ["is the warranty over?", "put that in a letter"], agent=["It ended on 3 May 2024."]
    )
    result, _ = value(item, written("Write a letter saying that it ended on 3 May 2024."))
    assert result.request == item.request


def test_a_mended_request_counts_and_names_may_go() -> None:
    item = case(["Dear Pia Olsen, sum trips.csv", "with 3 decimals"], TRIPS)
    lost = written("Sum trips.csv.")
    mended = written("Sum trips.csv with 3 decimals.")
    single, client = judged(item, lost, mended)
    assert single.value is not None and single.value.request == "Sum trips.csv with 3 decimals."
    assert client.asked[1].repair is not None and "number “3”" in client.asked[1].repair[1]


def test_a_pasted_passage_is_put_in_whole() -> None:
    mail = "From: P. Olsen\nwe need 14 chairs\nby Friday\nkind regards, Pia"
    item = case(["answer this one pls", mail, "politely"])
    result, _ = value(item, written("Answer this one politely:\nFrom: P. Olsen ⟨…⟩ regards, Pia"))
    assert result.request == f"Answer this one politely:\n{mail}"
    single, client = judged(item, written("Answer this one politely:\ne ⟨…⟩ Pia"))
    assert single.value is not None and single.value.request == item.request
    assert client.asked[1].repair is not None and "several passages" in client.asked[1].repair[1]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("engineering_it", "engineering_it"),
        ("Engineering IT", "engineering_it"),
        ("unassigned", "unassigned"),
        ("none", "unassigned"),
    ],
)
def test_labels_are_known_however_they_are_spelt(label: str, expected: str) -> None:
    choice = {"reason": "code", "label": label, "confidence": 0.8}
    result, calls = value(case("Sum trips.csv", TRIPS), written(role=choice))
    assert (result.taxonomy.role.value, result.taxonomy.role.judge, calls) == (
        expected,
        "model:m",
        1,
    )


def test_an_unknown_label_is_that_of_the_baseline() -> None:
    item = case("Sum trips.csv", TRIPS)
    result, calls = value(item, written(role=UNASSIGNED | {"label": "wizardry"}))
    assert (result.taxonomy.role, calls) == (as_said(item).taxonomy.role, 2)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("outputs/data/x.xlsx", "data/x.xlsx"),
        ("./outputs/x.md", "x.md"),
        ("inputs/data/score.xlsx", "data/score.xlsx"),
        ("/work/outputs/x.md", "x.md"),
        ("out\\x.md", "out/x.md"),
        ("`x.md`", "x.md"),
        ("../x.md", "x.md"),
        ("a/../../x.md", ""),
    ],
)
def test_paths_are_put_in_plain_form(path: str, plain: str) -> None:
    assert plain_path(path) == plain


def test_any_type_is_a_deliverable_and_an_asterisk_names_none() -> None:
    made = _deliverables_of(["minutes.rtf", "points.parquet", "bills/*.pdf", "Makefile"])
    assert {single.file_type: (single.count, single.name_hints) for single in made} == {
        "rtf": (1, ("minutes.rtf",)),
        "parquet": (1, ("points.parquet",)),
        "pdf": (1, ()),
        "makefile": (1, ("Makefile",)),
    }
    words = "Save the minutes as minutes.rtf and the points as points.parquet."
    files = [
        {"path": name, "unchanged": False, "what": "it"}
        for name in ("minutes.rtf", "points.parquet")
    ]
    result, calls = value(case(words), written(words, deliverables=files))
    assert ([single.file_type for single in result.deliverables], calls) == (["parquet", "rtf"], 1)


def test_a_folder_that_is_asked_for_is_announced_with_what_lies_in_it() -> None:
    item = case("Put one letter per driver of trips.csv into the folder letters", TRIPS)
    for path in ("letters/*.docx", "outputs/letters/{driver}.docx", "letters/<name>.docx"):
        files = [
            {"path": path, "unchanged": False, "what": "letters"},
            {"path": "letters/all.md", "unchanged": False, "what": "list"},
        ]
        result, calls = value(item, written(deliverables=files))
        letters, listing = result.deliverables
        assert (calls, letters.patterns, letters.name_hints) == (1, ("letters/*.docx",), ())
        assert listing.name_hints == ("letters/all.md",)
        whole = _written_case(item, result, "model:m").candidate
        assert "- outputs/letters/*.docx: as many files as the work takes" in whole.prompt
        assert to_deliver(whole) == ["letters/*.docx", "letters/all.md"]
    for path in ("letters/", "letters/*"):
        _, client = judged(
            item, written(deliverables=[{"path": path, "unchanged": False, "what": "letters"}])
        )
        assert len(client.asked) == 2, "what lies in it has to be said"


def test_files_that_stay_as_they_are_need_no_change() -> None:
    """Renamed inputs may be copies; of what is changed it is known; of a pattern alone nothing."""
    item = case("Rename trips.csv by its month, then list it", TRIPS)
    params = {"extensions": ["csv"], "forms": [7]}
    rule = Rule(rule_id="changed.csv", kind="changed", params=params, text="Changed.")
    item = item.model_copy(
        update={"candidate": item.candidate.model_copy(update={"rules": (rule,)})}
    )
    for path, unchanged, kept in (
        ("march.csv", True, ["same.csv"]),
        ("*.csv", True, ["same.csv"]),
        ("march.csv", False, ["changed.csv"]),
        ("*.csv", False, []),
        ("march.json", True, []),
    ):
        files = [
            {"path": path, "unchanged": unchanged, "what": "the trips"},
            {"path": "list.md", "unchanged": False, "what": "the list"},
        ]
        result, _ = value(item, written(deliverables=files))
        rules = _written_case(item, result, "model:m").candidate.rules
        assert [one.rule_id for one in rules] == kept
        assert all(one.params == params for one in rules)


def test_what_an_agent_chose_to_call_its_file_is_not_announced() -> None:
    own = Deliverable(file_type="md", name_hints=("final_v2.md",), source="produced")
    item = case("Sum trips.csv", TRIPS)
    candidate = item.candidate.model_copy(update={"deliverables": (own,)})
    assert to_deliver(candidate) == ["at least 1 × *.md, named as one likes"]


@pytest.mark.parametrize(
    ("written_as", "released"),
    [
        ("/home/bo/workspace/trips.csv", "inputs/trips.csv"),
        (r"C:\Users\Bo\Desktop\trips.csv", "inputs/trips.csv"),
        ("file:///Users/bo/trips.csv", "inputs/trips.csv"),
        ("trips.csv", "trips.csv"),
    ],
)
def test_paths_of_a_machine_are_put_right_by_code(written_as: str, released: str) -> None:
    request = f"Total the miles per month from {written_as}, with 2 decimals, into "
    for target, name in (("/home/bo/out/miles.md", "outputs/miles.md"), ("miles.md", "miles.md")):
        files = [{"path": "miles.md", "unchanged": False, "what": "miles"}]
        turns = [*TURNS, "into miles.md"]
        answer = written(f"{request}{target}.", deliverables=files)
        result, calls = value(case(turns, TRIPS), answer)
        expected = f"Total the miles per month from {released}, with 2 decimals, into {name}."
        assert (result.request, calls) == (expected, 1)


def test_a_skill_of_another_role_or_none_at_all_is_no_fault() -> None:
    finance = {"reason": "costs", "label": "finance_operations", "confidence": 0.8}
    for label, expected in (
        ("hr_admin.spreadsheet_edit", "unassigned"),
        ("unassigned", "unassigned"),
        ("none", "unassigned"),
        ("expense_summary", "finance_operations.expense_summary"),
    ):
        skill = {"reason": "it is", "label": label, "confidence": 0.7}
        result, calls = value(case("Sum trips.csv", TRIPS), written(role=finance, skill=skill))
        assert (result.taxonomy.role.value, calls) == ("finance_operations", 1)
        assert result.taxonomy.skill_subclass.value == expected
