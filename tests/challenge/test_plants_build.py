"""The planted files open, hold what they say they hold, and are the same each time."""

from __future__ import annotations

import collections
import csv
import email
import email.policy
import hashlib
import re
from pathlib import Path

import docx
import lxml.html
import openpyxl
import pptx
import pytest

from tests.challenge.plants import (
    REPEATED,
    HostileCase,
    Kind,
    Plant,
    build_plants,
    load_hostile,
    survivors,
)
from tests.challenge.plants.hostile import HOSTILE_FILE
from tests.challenge.plants.look import fold, views
from tests.challenge.plants.repeated import REPEATED_FRAME

FORMATS = ("xlsx", "docx", "pptx", "eml", "html", "csv")
LEAST_PLACES = 12
ENCODINGS = {"export.csv": "utf-16", "供应商.csv": "gb18030"}
# What code hosts stop a push for: prefixes followed by the body of a key.
BLOCKED = re.compile(
    r"AKIA[A-Z2-7]{16}|gh[opsu]_\w{36}|npm_\w{36}|glpat-[\w-]{20}|sk_live_\w{20}|xoxb-\d+-\d+|"
    r"sk-ant-\w+-|sk-proj-\w{8}|T3BlbkFJ\w{9}|AIza[\w-]{35}|hf_[A-Za-z]{34}|SG\.[\w-]{22}\.|"
    r"LTAI5t\w{18}|BEGIN [A-Z ]*PRIVATE KEY|hooks\.slack\.com/services/T\w+/B\w+/\w+|"
    r"sk-[0-9a-f]{32}"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Plant]]:
    out = tmp_path_factory.mktemp("plants")
    return out, build_plants(out)


def of_format(plants: list[Plant], fmt: str) -> list[Plant]:
    return [plant for plant in plants if plant.fmt == fmt]


def paths(plants: list[Plant], fmt: str) -> list[Path]:
    actual = sorted({plant.path for plant in of_format(plants, fmt)})
    assert actual, f"no {fmt} files"
    return actual


@pytest.mark.parametrize("fmt", FORMATS)
def test_places_are_many_and_named_once(built: tuple[Path, list[Plant]], fmt: str) -> None:
    places = [plant.location for plant in of_format(built[1], fmt)]
    assert len(places) >= LEAST_PLACES
    assert len(set(places)) == len(places)


def test_each_value_is_in_one_place_but_for_the_repeated_one(
    built: tuple[Path, list[Plant]],
) -> None:
    times = collections.Counter(fold(plant.value) for plant in built[1])
    repeated = times.pop(fold(REPEATED))
    assert repeated >= len(FORMATS)
    assert set(times.values()) == {1}


def test_no_value_is_part_of_another(built: tuple[Path, list[Plant]]) -> None:
    """Or one that is missed would be counted as two."""
    values = sorted({fold(plant.value) for plant in built[1]}, key=len)
    inside = [
        (short, long)
        for at, short in enumerate(values)
        for long in values[at + 1 :]
        if short in long
    ]
    assert inside == []


def test_every_value_is_in_its_own_file_and_in_no_other(built: tuple[Path, list[Plant]]) -> None:
    out, plants = built
    for path in sorted({plant.path for plant in plants}):
        hay = fold("\n".join((path.name, *views(path.read_bytes()))))
        actual = {fold(plant.value) for plant in plants if fold(plant.value) in hay}
        assert actual == {fold(plant.value) for plant in plants if plant.path == path}, path.name
    assert survivors(plants, out) == plants


def test_survivors_of_a_clean_folder_are_none(
    built: tuple[Path, list[Plant]], tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("Nothing of the kind.", encoding="utf-8")
    assert survivors(built[1], tmp_path) == []


def test_the_same_bytes_each_time(built: tuple[Path, list[Plant]], tmp_path: Path) -> None:
    out, _ = built
    build_plants(tmp_path)
    assert digests(tmp_path) == digests(out)


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_workbooks_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "xlsx"):
        book = openpyxl.load_workbook(path, rich_text=True)
        sheet = book["Orders"]
        assert str(sheet["A3"].value) == "The claim of Theodore Blackwood was paid in March."
        assert sheet["B2"].comment is not None
        assert [one.sheet_state for one in book.worksheets[:3]] == [
            "visible",
            "hidden",
            "veryHidden",
        ]
        cached = openpyxl.load_workbook(path, data_only=True)["Orders"]["A5"].value
        assert str(cached).startswith("Card on file: ")


def test_documents_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "docx"):
        document = docx.Document(str(path))
        assert len(document.paragraphs) > 5
        assert len(list(document.comments)) == 1
        assert len(document.tables[0].rows) == 3


def test_presentations_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "pptx"):
        deck = pptx.Presentation(str(path))
        assert len(deck.slides) == 4
        assert deck.slides[0].has_notes_slide
        assert deck.slides[3]._element.get("show") == "0"


def test_mails_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "eml"):
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        parts = list(message.walk())
        assert len(parts) > 10
        assert [defect for part in parts for defect in part.defects] == []
        assert "message/rfc822" in {part.get_content_type() for part in parts}


def test_pages_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "html"):
        page = lxml.html.document_fromstring(path.read_bytes())
        assert "Philomena Sturgess" in page.text_content()


def test_tables_open(built: tuple[Path, list[Plant]]) -> None:
    for path in paths(built[1], "csv"):
        encoding = ENCODINGS.get(path.name, "utf-8-sig")
        text = path.read_bytes().decode(encoding)
        mark = "\t" if encoding == "utf-16" else ";" if path.name == "contacts.csv" else ","
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=mark))
        assert len({len(row) for row in rows}) == 1
        assert len(rows[0]) == 3


def test_the_repeated_value_stands_in_its_frame(built: tuple[Path, list[Plant]]) -> None:
    for path in sorted({plant.path for plant in built[1] if plant.value == REPEATED}):
        texts = "\n".join(views(path.read_bytes())).replace("=\r\n", "")
        assert {REPEATED} == set(re.findall(REPEATED_FRAME, texts)), path.name


def test_hostile_strings_are_many_and_mixed() -> None:
    cases = load_hostile()
    full = [case for case in cases if case.entities]
    assert (len(full), len(cases) - len(full)) == (120, 60)
    assert len({case.id for case in cases}) == len({case.text for case in cases}) == len(cases)
    assert {kind for case in full for _, kind in case.entities} == set(Kind)
    languages = collections.Counter(case.lang for case in cases)
    assert min(languages[lang] for lang in ("en", "zh", "mixed")) >= 10


@pytest.mark.parametrize("case", load_hostile(), ids=lambda case: case.id)
def test_hostile_values_stand_once_in_their_text(case: HostileCase) -> None:

    assert [value for value, _ in case.entities if case.text.count(value) != 1] == []


def test_no_secret_stands_in_a_source_file_as_a_whole() -> None:
    sources = [HOSTILE_FILE, *sorted((Path(__file__).parent / "plants").glob("*.py"))]
    hits = [(path.name, BLOCKED.findall(path.read_text(encoding="utf-8"))) for path in sources]
    assert [hit for hit in hits if hit[1]] == []
    # The seams are what keeps them apart.
    whole = "\n".join(case.text for case in load_hostile())
    assert len(BLOCKED.findall(whole)) >= 15
