"""The owner's decisions in words.csv: what is read, what is refused, and what is written again."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from anonymization.text.contracts import EntityType
from anonymization.words_review import (
    COLUMNS,
    Review,
    Why,
    WordLeft,
    _read_review,
    _with_review,
    owners_words,
    write_words,
)
from data.errors import InputError

HEADER = ",".join(COLUMNS)


def read(folder: Path, *rows: str, header: str = HEADER) -> Review:
    path = folder / "words.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return _read_review(path)


def test_decisions_with_and_without_a_kind(tmp_path: Path) -> None:
    rows = (
        "private,pebble,1",
        "Private:person,Mara Thornquist",
        " KEEP ,stone",
        ",open,3",
        "keep,青鸟",
    )
    review = read(tmp_path, *rows)
    assert review.private == (
        (EntityType.PERSON, "Mara Thornquist"),
        (EntityType.UNEXPLAINED, "pebble"),
    )
    assert review.keep == {"stone", "青鸟"}
    assert not review.leaves_open(["stone"]) and review.leaves_open(["stone", "open"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("maybe,pebble",), r"words\.csv:2: found an unknown decision; expected keep, private"),
        (("=1+1,pebble",), r"words\.csv:2: found an unknown decision"),
        (("keep:PERSON,pebble",), r"words\.csv:2: found an unknown decision"),
        (("private:PERSN,pebble",), r"words\.csv:2: found an unknown kind .* Did you mean PERSON"),
        (("private,Pebble", "keep,PEBBLE"), r"words\.csv:3: found `keep` .* in line 2"),
        (("keep,",), r"words\.csv:2: found a decision without a word"),
        (("keep",), r"words\.csv:2: found a decision without a word"),
        (("private,peb\u202eble",), r"words\.csv:2: found hidden characters in a word"),
        (('private,"peb\nble"',), r"words\.csv:3: found hidden characters in a word"),
        (("private,pebble", "keep,pebble"), r"words\.csv:3: found `keep` .* in line 2"),
        (("keep,Pebble", "private,pebble"), r"words\.csv:2: found `keep` .* in line 3"),
        (("private,pebble", "private:PERSON,pebble"), r"words\.csv:3: found PERSON .* in line 2"),
        (('private,"pebble',), "found a row that is not CSV"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_not_repeated(
    tmp_path: Path, rows: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, *rows)
    assert "pebble" not in str(error.value).lower() and "\n" not in str(error.value)


def test_a_single_letter_is_not_masked_but_stays_open(tmp_path: Path) -> None:
    review = read(tmp_path, "private,x", "private:PERSON,岚")
    assert review.private == () and review.decisions == {"x": "private", "岚": "private:PERSON"}
    assert review.leaves_open(["x"]) and review.leaves_open(["岚"])


def test_capitals_of_another_letter_case_are_a_word_of_their_own(tmp_path: Path) -> None:
    review = read(tmp_path, "private,ACORN", "keep,Acorn", "private,Will", "keep,will")
    assert review.keep == {"Acorn", "will"}


@pytest.mark.parametrize(
    "word", ["0471", "-33.8568", "3 March 1984", "$1,200", "(7", "Mar-4", "=a"]
)
def test_no_spreadsheet_reads_a_word_as_a_number_a_date_or_a_formula(
    tmp_path: Path, word: str
) -> None:
    path = tmp_path / "words.csv"
    write_words(path, {word: WordLeft(1, word, Why.CODE, {"a"})})
    text = path.read_text(encoding="utf-8-sig")
    cells = next(row for row in csv.reader(io.StringIO(text)) if row[1] != "word")
    assert cells[1] == f"'{word}"
    path.write_text(text.replace("\n,", "\nkeep,"), encoding="utf-8")
    assert _read_review(path).keep == {word}


def test_only_a_small_word_is_found_in_capitals_and_clashes_with_them(tmp_path: Path) -> None:
    review = read(tmp_path, "private,Will", "keep,will")
    assert review.private == ((EntityType.UNEXPLAINED, "Will"),) and review.keep == {"will"}


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheet_may_save_it_with_other_marks_and_encodings(
    tmp_path: Path, separator: str
) -> None:
    rows = [["Word", "Decision", "why"], ["'=SUM(A1)", "keep", ""], ['say "hi"', "private", "a;b"]]
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "words.csv").write_bytes(text.getvalue().encode(encoding))
        review = _read_review(tmp_path / "words.csv")
        assert review.keep == {"=SUM(A1)"}
        assert review.private == ((EntityType.UNEXPLAINED, 'say "hi"'),)


def test_files_that_are_no_list_of_words(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    for data, message in {
        b"": "found a header without decision",
        b"word,times\npebble,1\n": "found a header without decision",
        b"decision,value\nkeep,pebble\n": "found a header without word",
        b"decision,word\nkeep,\xff\n": "found text that is not UTF-8",
        b"\xff\xfe\x00": "found text that is not UTF-8",
        b"decision,word\nkeep," + b"a" * 20_000 + b"\n": "found a row that is not CSV",
    }.items():
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            _read_review(path)
    with pytest.raises(InputError, match="expected the filled-in word list"):
        _read_review(tmp_path / "gone.csv")


def test_a_million_rows_are_read_and_more_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_bytes(b"decision,word\n" + b",a\n" * 999_999 + b"keep,stone\n")
    assert _read_review(path).keep == {"stone"}
    path.write_bytes(b"decision,word\n" + b",a\n" * 1_000_001)
    with pytest.raises(InputError, match=r"found more than 1,000,000 rows"):
        _read_review(path)


def test_a_list_and_a_review_that_contradict_each_other(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    review = read(tmp_path, "private:PERSON,pebble", "keep,Stone")
    person, plain = EntityType.PERSON, EntityType.UNEXPLAINED
    assert owners_words(None, None) == ((), None)
    assert owners_words(None, path) == (review.private, review)
    assert _with_review(((plain, "acorn"),), review, path) == ((person, "pebble"), (plain, "acorn"))
    for listed, message in {
        (plain, "stone"): "found `keep`",
        (plain, "pebble"): "one kind per word",
    }.items():
        with pytest.raises(InputError, match=message):
            _with_review((listed,), review, path)


def test_open_words_come_first_and_decisions_are_kept(tmp_path: Path) -> None:
    words = {
        "table": WordLeft(3, "the table", Why.WORD, {"a", "b"}),
        "=zeb": WordLeft(1, "=1+zeb\u202e", Why.UNKNOWN, {"a"}),
        "Acorn": WordLeft(1, "with Acorn", Why.NAME, {"a"}),
        "stone": WordLeft(2, "stone", Why.FIELD, {"b"}),
        "K-9": WordLeft(1, "(K-9)", Why.CODE, {"a"}),
        "Birch": WordLeft(5, "with Birch", Why.NAME, {"a", "b"}),
    }
    review = read(tmp_path, "keep,stone", "private:PERSON,pebble")
    path = tmp_path / "again.csv"
    assert write_words(path, words, review) == 5
    assert path.stat().st_mode & 0o777 == 0o600
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert rows == [
        list(COLUMNS),
        ["", "'=zeb", "1", "1", "'=1+zeb⟨U+202E⟩", "no everyday word"],
        ["", "K-9", "1", "1", "(K-9)", "code or number"],
        ["", "Acorn", "1", "1", "with Acorn", "written as a name"],
        ["", "Birch", "5", "2", "with Birch", "written as a name"],
        ["", "table", "3", "2", "the table", "word of a sentence"],
        ["private:PERSON", "pebble", "0", "0", "", ""],
        ["keep", "stone", "2", "1", "stone", "cell, key or heading"],
    ]
    assert _read_review(path) == review
