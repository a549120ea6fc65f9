"""Rules that follow from request and inputs; good work meets them, the cheapest files do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.grading.hard_rules import check
from construction.judging.computed_rules import computed_rules
from construction.judging.contracts import Case
from construction.judging.hard_rules import hard_rules
from construction.judging.inputs import with_inputs
from construction.judging.rules.criteria import GradingConfig
from construction.judging.rules.grading import grade
from data.contracts import Rule
from tests.construction.judging.rules.cases import case

SCORES = "Name,Midterm 1,Midterm 2\nAlice,90,80\nBob,70,75\nCarla,60,65\nDing,85,95\n"


def graded(tmp_path: Path, text: str, **files: str) -> tuple[Case, tuple[Rule, ...]]:
    """A case over these CSV files, and its computed rules."""
    made = case(text, files=[f"data/{name}.csv" for name in files])
    sources: dict[str, Path] = {}
    fixtures = []
    for number, (fixture, content) in enumerate(
        zip(made.candidate.fixtures, files.values(), strict=True)
    ):
        sha256 = f"{number:064x}"
        fixtures.append(fixture.model_copy(update={"sha256": sha256}))
        sources[sha256] = tmp_path / sha256
        sources[sha256].write_text(content)
    candidate = made.candidate.model_copy(update={"fixtures": tuple(fixtures)})
    (known,) = with_inputs([made.model_copy(update={"candidate": candidate})], sources)
    return known, computed_rules(known, candidate.deliverables)


def failures(tmp_path: Path, rules: tuple[Rule, ...], **outputs: str) -> set[str]:
    folder = tmp_path / "outputs"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in outputs.items():
        (folder / name.replace("_dot_", ".")).write_text(content)
    return {result.rule_id for result in check(rules, folder) if not result.passed}


def params(rules: tuple[Rule, ...], rule_id: str) -> dict[str, Any]:
    return next(rule.params for rule in rules if rule.rule_id == rule_id)


def test_a_row_that_is_deleted_is_gone_and_the_rest_is_there(tmp_path: Path) -> None:
    _, rules = graded(tmp_path, "delete student Alice and her score in scores.csv", scores=SCORES)
    done = SCORES.replace("Alice,90,80\n", "")
    assert failures(tmp_path, rules, scores_dot_csv=done) == set()
    assert failures(tmp_path, rules, scores_dot_csv=SCORES.replace("\n", "\r\n")) == {
        "changed.csv",
        "length.rows.scores.csv",
    }
    assert failures(tmp_path, rules, scores_dot_csv="a,b\n1,2\n") >= {
        "columns.kept.scores.csv",
        "mentions.kept.scores.csv",
        "mentions.csv",
    }


def test_several_rows_and_columns_that_are_deleted(tmp_path: Path) -> None:
    _, rules = graded(tmp_path, "delete the first three students in scores.csv", scores=SCORES)
    assert params(rules, "length.rows.scores.csv")["max"] == 1
    _, rules = graded(tmp_path, "remove the column Midterm 1 from scores.csv", scores=SCORES)
    assert params(rules, "columns.kept.scores.csv")["names"] == ["Name"]
    assert not any(rule.rule_id == "length.rows.scores.csv" for rule in rules)


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("delete the last two columns in scores.csv", "Name\nAlice\nBob\nCarla\nDing\n"),
        ("drop all columns but Name in scores.csv", "Name\nAlice\nBob\nCarla\nDing\n"),
        ("remove the header from scores.csv", SCORES.partition("\n")[2]),
        ("delete everything in scores.csv", ""),
        ("clear all the content of scores.csv", ""),
    ],
)
def test_no_rule_demands_what_the_request_wants_gone(tmp_path: Path, text: str, done: str) -> None:
    item, rules = graded(tmp_path, text, scores=SCORES)
    every = (*hard_rules(item.candidate.deliverables, text), *rules)
    assert failures(tmp_path, every, scores_dot_csv=done) <= {"opens.csv", "file_type.csv"}
    assert "changed.csv" in failures(tmp_path, rules, scores_dot_csv=SCORES)


def test_rows_that_go_by_a_condition_leave_the_columns(tmp_path: Path) -> None:
    text = "delete all rows where a midterm is below 70 in scores.csv"
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert {"columns.kept.scores.csv", "mentions.csv"} <= {rule.rule_id for rule in rules}


def test_a_file_that_is_renamed_may_say_what_it_said(tmp_path: Path) -> None:
    item, rules = graded(tmp_path, "Rename the csv file to the name of the best.", scores=SCORES)
    assert [entry.file_type for entry in item.candidate.deliverables] == ["csv"]
    assert failures(tmp_path, rules, Ding_dot_csv=SCORES) == set()


def test_a_copy_is_the_work_where_a_copy_is_wanted(tmp_path: Path) -> None:
    _, rules = graded(tmp_path, "duplicate scores.csv and name it backup.csv", scores=SCORES)
    assert failures(tmp_path, rules, backup_dot_csv=SCORES) == set()
    assert failures(tmp_path, rules, backup_dot_csv="a,b\n1,2\n") == {"same.csv"}


@pytest.mark.parametrize("text", ["sort scores.csv by name", "Sort scores.csv by name ascending"])
def test_a_table_in_order_may_stay_as_it_is(text: str, tmp_path: Path) -> None:
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert failures(tmp_path, rules, scores_dot_csv=SCORES) == set()
    _, rules = graded(tmp_path, "sort scores.csv by name descending", scores=SCORES)
    assert "changed.csv" in failures(tmp_path, rules, scores_dot_csv=SCORES)


def test_a_value_that_is_added_to_another_adds_no_row(tmp_path: Path) -> None:
    text = "find the lowest item in Midterm 1, add it to the highest in scores.csv"
    _, rules = graded(tmp_path, text.replace("add it to", "add to"), scores=SCORES)
    assert params(rules, "length.rows.scores.csv")["min"] == 4
    _, rules = graded(tmp_path, "add a student Eve in scores.csv", scores=SCORES)
    assert params(rules, "length.rows.scores.csv")["min"] == 5


@pytest.mark.parametrize(
    ("text", "name", "answer"),
    [
        ("Did all students pass Midterm 1 in scores.csv?", "answer_dot_md", "Yes"),
        ("Check scores.csv for gaps and write yes or no in result.md", "result_dot_md", "no"),
        ("Look at scores.csv. Answer `larger` or `smaller`.", "answer_dot_md", "larger"),
    ],
)
def test_a_short_answer_is_an_answer(text: str, name: str, answer: str, tmp_path: Path) -> None:
    item, rules = graded(tmp_path, text, scores=SCORES)
    every = (*hard_rules(item.candidate.deliverables, text), *rules)
    assert failures(tmp_path, every, **{name: answer}) == set()
    assert failures(tmp_path, every, **{name: "Done."}) != set()


def test_a_new_column_is_there_and_no_row_is_lost(tmp_path: Path) -> None:
    text = "add a new header 'Total' in scores.csv with the sum of both midterms"
    _, rules = graded(tmp_path, text, scores=SCORES)
    header, *lines = SCORES.splitlines()
    done = "\n".join([f"{header},Total", *(f"{line},1" for line in lines)])
    assert failures(tmp_path, rules, scores_dot_csv=done) == set()
    cut = "\n".join(done.splitlines()[:3])
    assert failures(tmp_path, rules, scores_dot_csv=cut) == {"length.rows.scores.csv"}
    assert "columns.named" in failures(tmp_path, rules, scores_dot_csv=SCORES + "Eve,1,2\n")


def test_at_least_2000_words_is_a_rule_on_the_file(tmp_path: Path) -> None:
    _, rules = graded(tmp_path, "Write an essay of at least 2000 words on rain as essay.md")
    long = "Rain falls on the hills. " * 400
    assert failures(tmp_path, rules, essay_dot_md=long) == set()
    assert failures(tmp_path, rules, essay_dot_md="Rain falls.") >= {"length.md.words"}


def test_four_tables_about_nothing_fail(tmp_path: Path) -> None:
    text = "Split scores.csv by midterm into north.csv, south.csv, east.csv and west.csv"
    _, rules = graded(tmp_path, text, scores=SCORES)
    four = {f"{name}_dot_csv": "a,b\n1,2\n" for name in ("north", "south", "east", "west")}
    assert "mentions.csv" in failures(tmp_path, rules, **four)


@pytest.mark.parametrize(
    ("answer", "passes"), [("Alice and Bob", True), ("It is 42.", True), ("Done.", False)]
)
def test_an_answer_names_something_of_the_task_or_a_figure(
    answer: str, passes: bool, tmp_path: Path
) -> None:
    text = "Which students have a lower score in Midterm 2 than in Midterm 1 in scores.csv?"
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert (failures(tmp_path, rules, answer_dot_md=answer) == set()) is passes


def test_a_translation_need_not_use_the_words_of_the_original(tmp_path: Path) -> None:
    text = "Translate scores.csv to French as notes.md"
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert {rule.kind for rule in rules} == {"length"}


def test_highlighting_may_leave_the_text_as_it_is(tmp_path: Path) -> None:
    _, rules = graded(tmp_path, "Highlight the best student in scores.csv", scores=SCORES)
    assert failures(tmp_path, rules, scores_dot_csv=SCORES) == set()


def test_what_the_inputs_hold_is_known_by_file(tmp_path: Path) -> None:
    text = "delete student Alice in scores.csv"
    odd = SCORES + "Bob,70,75\nEve,,60\n"
    known, _ = graded(tmp_path, text, scores=odd)
    (scores,) = known.inputs["data/scores.csv"].tables
    assert (scores.columns, scores.rows) == (("Name", "Midterm 1", "Midterm 2"), 6)
    assert (scores.blanks, scores.repeats) == ({"Midterm 1": 1}, 1)


def test_one_of_the_words_of_a_choice_stands_in_the_file_named_for_it(tmp_path: Path) -> None:
    text = "Check scores.csv for gaps and write yes or no in result.md."
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert params(rules, "mentions.choice.md")["names_of_files"] == ["result.md"]
    assert "mentions.choice.md" in failures(tmp_path, rules, result_dot_md="The scores are full.")
    assert failures(tmp_path, rules, result_dot_md="no") == set()


def test_what_is_converted_is_carried_over(tmp_path: Path) -> None:
    text = "Convert the scores in scores.csv to scores.md"
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert failures(tmp_path, rules, scores_dot_md="Alice Bob Carla Ding") == set()
    assert "mentions.carried.md" in failures(tmp_path, rules, scores_dot_md="Midterm and scores")
    for other in ("Convert the first row of scores.csv to scores.md",
                  "Analyze scores.csv and convert the report to scores.md"):  # fmt: skip
        _, rules = graded(tmp_path, other, scores=SCORES)
        assert not any("carried" in rule.rule_id for rule in rules)


@pytest.mark.parametrize(
    ("text", "rule_id", "key", "values"),
    [
        ("Mail it to Ann as a.eml. The subject of the email should be Crew_List", "holds.named",
         "texts", ["Crew_List"]),
        ("Sum the scores; put it between <FINAL_ANSWER></FINAL_ANSWER>.", "holds.named",
         "texts", ["FINAL_ANSWER"]),
        ("另外请保存 plan.csv，列为 issue_type、 path_of、fix。", "columns.named", "names",
         ["issue_type", "path_of", "fix"]),
        ("Write queue.csv. Each row needs crew_id, club, and a short reason.", "columns.named",
         "names", ["crew_id", "club"]),
        ("Save roi.xlsx with a sheet named ROI.", "sheets.named", "names", ["ROI"]),
        ("Are all scores above 60? Yes or no?", "mentions.choice.md", "terms", ["yes", "no"]),
    ],
)  # fmt: skip
def test_subjects_tags_and_columns_that_the_request_fixes(
    tmp_path: Path, text: str, rule_id: str, key: str, values: list[str]
) -> None:
    _, rules = graded(tmp_path, text, scores=SCORES)
    assert params(rules, rule_id)[key] == values


def test_words_that_any_stub_has_are_no_words_of_the_task(tmp_path: Path) -> None:
    table = "To,Subject,Task\na@b.example,Done,Paint the shed\nc@d.example,Done,Mend the pier\n"
    text = "How many tasks in tasks.csv are done? Send the number to Lou as an email, lou.eml."
    _, rules = graded(tmp_path, text, tasks=table)
    stub = "To: a@b.example\nSubject: Done\n\nDone.\n"
    assert "mentions.eml" in failures(tmp_path, rules, lou_dot_eml=stub)
    reply = "To: lou@b.example\nSubject: Tasks\n\nTwo tasks, the shed and the pier.\n"
    assert failures(tmp_path, rules, lou_dot_eml=reply) == set()


def test_a_text_that_is_added_to_another_is_carried_over(tmp_path: Path) -> None:
    text = "Append the rows of extra.csv to scores.csv"
    extra = "Note\nharbour\nlantern\nmooring\nrudder\ncompass\n"
    _, rules = graded(tmp_path, text, extra=extra, scores=SCORES)
    done = SCORES + "".join(f"{word},1,2\n" for word in extra.split()[1:])
    assert failures(tmp_path, rules, scores_dot_csv=done) == set()
    other = SCORES + "Zed,1,2\n"
    assert failures(tmp_path, rules, scores_dot_csv=other) == {"mentions.carried.scores.csv"}


@pytest.mark.parametrize(("text", "is_met"), [("Midterm 1", False), ("Name", True)])
def test_a_table_that_is_in_the_wanted_order_leaves_nothing_to_grade(
    text: str, is_met: bool, tmp_path: Path
) -> None:
    item, _ = graded(tmp_path, f"sort scores.csv by {text} in ascending order", scores=SCORES)
    assert grade(item, GradingConfig(min_usable=0)).rubric.needs_model == is_met
