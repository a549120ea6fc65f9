"""What only the person's own working copy or screen holds."""

from __future__ import annotations

import pytest

from construction.judging.reading import read
from construction.judging.working_copy import missing_from_copy

NOTES = ("docs/HARBOUR.md", "README.md")


@pytest.mark.parametrize(
    ("text", "given", "missing"),
    [
        ("Review the current unstaged code as a fix.", ["code-review.md"], ["unstaged code"]),
        ("Review the unstaged changes.", ["changes.diff"], []),
        ("Allow `--quiet` and `--all` together.", NOTES, ["the source code (--quiet, --all)"]),
        ("Allow `--quiet` and `--all` together.", ["src/main.rs"], []),
        ("What is the tideOffset flag in here for?", NOTES, ["the source code (tideOffset)"]),
        ("Use the iPhone and macOS prices.", NOTES, []),
        ("In the Mooring List provider, look at the new path first.", NOTES,
         ["the source code (In the Mooring List provider)"]),
        ("I have got a merge conflict here, explain it.", NOTES,
         ["the source code (merge conflict)"]),
        ("Write a function berthLength that sums the boats.", NOTES, []),
        ("Rename tideOffset in harbour.md.", NOTES, []),
        ("In the menu [Image #1] the label is cut.", NOTES, ["[Image #1]"]),
        ("In the menu [Image #1] the label is cut.", ["menu.png"], []),
        ("Summarise [Pasted text #2 +14 lines].", ["menu.png"], ["[Pasted text #2 +14 lines]"]),
        ("解决合并冲突。", NOTES, ["the source code (合并冲突)"]),
        ("This command crashes on an empty list.", NOTES,
         ["the source code (This command crashes)"]),
        ("Our flag for quiet mode should hide warnings.", NOTES,
         ["the source code (Our flag for quiet mode should)"]),
        ("Fix the bug in the tide parser.", NOTES,
         ["the source code (Fix the bug in the tide parser)"]),
        ("Fix the bug in the tide parser.", ["src/tide.py"], []),
        ("Explain to a newcomer how a parser works.", NOTES, []),
        ("Write a script and make the parser fast.", NOTES, []),
        ("ann@mole harbour % tide list\nno such table\n\nfix this", NOTES, ["the source code"]),
        ("PS C:\\ann\\harbour> tide list\nno such table\n\nfix this", NOTES, ["the source code"]),
        ("ann@mole harbour % tide list\nno such table\n\nWhat does it mean?", NOTES, []),
        ("Describe the photo in two sentences.", NOTES, ["the picture (Describe the photo)"]),
        ("Describe the photo in two sentences.", ["boat.jpeg"], []),
        ("Describe the photo in two sentences.", ["boat_ocr.txt"], []),
        ("Write a note on how to take a photo of a boat.", NOTES, []),
        ("Sum the fees per boat in the excel file.", ["fees.xlsx"], []),
        ("/tide-review 111", NOTES, ["the pull request of /tide-review 111"]),
        ("Here is a photo of the menu. Which dish is cheapest?", ["fees.xlsx"],
         ["the picture (Here is a photo)"]),
        ("Which dishes on the menu photo have no nuts?", NOTES,
         ["the picture (on the menu photo)"]),
        ("Translate the menu in the attached image.", NOTES,
         ["the picture (in the attached image)"]),
        ("From the picture of the bill, list all prices.", NOTES,
         ["the picture (From the picture)"]),
        ("这是菜单的照片，哪道菜最便宜？", NOTES, ["the picture (这是菜单的照片)"]),
        ("菜单图片里有哪些素菜？", NOTES, ["the picture (图片里)"]),
        ("菜单图片里有哪些素菜？", ["menu.png"], []),
        ("Auf dem Foto der Karte: was ist am billigsten?", NOTES, ["the picture (Auf dem Foto)"]),
        ("Create a picture of a boat and add it to the report.", NOTES, []),
        ("Look at the bigger picture of our sales.", ["sales.xlsx"], []),
        ("给报告配一张图片。", NOTES, []),
        ("The fees of the tide CLI should be written to fees.json.", NOTES,
         ["the source code (the tide CLI)"]),
        ("Rename the field start_time to started_at everywhere.", NOTES,
         ["the source code (Rename the field)"]),
        ("Rename the field start_time to started_at.", ["fees.csv"], []),
        ("➜  tide git:(dev) ✗ tide list\nGull 120\n\nThe header should be bold.", NOTES,
         ["the source code"]),
        ("ann@mole tide % tide list\nGull 120\n\nSummarise it in a table.", NOTES, []),
        ("/tide-notes spring", NOTES, ["the text of /tide-notes spring"]),
        ("/tide-notes spring", ["commands/tide-notes.md"], []),
        ("/pr-review", ["skills/pr-review/SKILL.md"], ["the pull request of /pr-review"]),
        ("/pr-review 12", NOTES, ["the pull request of /pr-review 12"]),
        ("Translate the photo of the menu into Danish.", NOTES,
         ["the picture (Translate the photo)"]),
        ("What is on the menu? (photo)", NOTES, ["the picture ((photo))"]),
        ("/harbour/fees.xlsx", NOTES, []),
        ("Review this diff.", [], ["this diff"]),
        ("Review this diff.\n\ndiff --git a/fee.py b/fee.py\n@@ -1 +1 @@\n-a = 1\n+a = 2", [], []),
        ("检查未提交的改动。\n\n--- a/fee.py\n+++ b/fee.py\n@@ -1 +1 @@\n-a = 1\n+a = 2", [], []),
    ],
)  # fmt: skip
def test_what_no_document_can_hold(text: str, given: list[str], missing: list[str]) -> None:
    assert list(missing_from_copy(text, given)) == missing


@pytest.mark.parametrize(
    ("text", "given", "missing"),
    [
        ("OK, now the fees should come first.", NOTES, ["the source code"]),
        ("OK, now the fees should come first.", ["src/fees.go"], []),
        ("Shorten HARBOUR.md by half.", NOTES, []),
        ("Write a script that sums the fees.", NOTES, []),
    ],
)
def test_a_request_among_others_on_a_program(
    text: str, given: list[str], missing: list[str]
) -> None:
    assert list(missing_from_copy(text, given, over_code=True)) == missing


@pytest.mark.parametrize(
    "text",
    [
        "/summarize the decisions of the harbour in five bullets",
        "/model large\nSummarise README.md in five bullets.",
        "How much did this branch sell in May?",
        "Describe the pull request 12 process of our accounts department.",
        "Improve the error handling of the accounts department.",
        "What was the primary endpoint of the trial, and was it met?",
        "Explain the method used and its limits.",
        "List what we teach in the Boat Safety module.",
        "Make our chain of command clearer in the handbook text.",
        "Give me a summary of the overall picture of our fees.",
        "What is the effect on our image?",
        "Add a field trip to the schedule.",
        "Remove the weak argument from the essay and keep the other two.",
        "Add two options for the mooring to the minutes.",
        "Resolve conflicts between the two drafts.",
        "What are the pending changes to our leave rules?",
        "Ask whether deLuca and vonNeumann agree.",
        "Explain to beginners how git log and git diff differ.",
        "删除第三个方法，保留前两个。",
        "增加一节，介绍教学方法。",
        "写一份培训材料，说明如何拍好照片，照片里要有光线。",
        "Schreibe, was auf dem Foto eines Ausweises zu sehen sein muss.",
        "Füge dem Protokoll ein Feld für die Unterschrift hinzu.",
    ],
)
def test_words_that_programs_share_with_offices(text: str) -> None:
    assert missing_from_copy(text, NOTES) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Resolve conflicts and commit the code.",
        "Compare my branch with the codebase.",
        "Why does the berth endpoint return 500? Look at our API.",
        "Add two options to the CLI for the moorings.",
        "/model large\n\nthanks",
    ],
)
def test_such_words_in_a_text_that_speaks_of_code(text: str) -> None:
    assert missing_from_copy(text, NOTES)


@pytest.mark.parametrize(
    ("text", "answers", "leans"),
    [
        ("No, take the longer name.", True, False),
        ("No more than 300 words about the harbour, please.", False, False),
        ("hmm how do I undo that?", True, False),
        ("不对，按年份排。", True, False),
        ("Address 19, 24 and 36.", False, True),
        ("Improve tests, 51-54, 57", False, True),
        ("Take 5 rows, 3 columns and sort them.", False, False),
        ("Apply suggestion 2 of the review.", False, True),
        ("Finding 1: the mast is loose. Write it up.", False, False),
    ],
)
def test_what_can_only_follow_an_earlier_talk(text: str, answers: bool, leans: bool) -> None:
    first = read(text)[0]
    assert (first.answers, first.leans) == (answers, leans)
