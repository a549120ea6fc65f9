"""`benchmint privacy words`: the open rows of a list, decided a batch at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from anonymization.words_review import Why, WordLeft, _read_review, open_rows, write_words
from tests.flows.masking_app import app


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.csv"
    write_words(
        path,
        {
            f"word{chr(97 + n)}": WordLeft(1, f"a word{chr(97 + n)}", Why.UNDECIDED)
            for n in range(7)
        },
    )
    return path


def test_numbers_are_private_and_the_rest_of_a_batch_is_kept(words: Path) -> None:
    made = CliRunner().invoke(app, ["words", str(words), "--batch", "4"], input="2, 3\n\n")
    assert made.exit_code == 0 and "1-4 of 7" in made.output and "5-7 of 7" in made.output
    review = _read_review(words)
    assert [value for _, value in review.private] == ["wordb", "wordc"]
    assert review.keep == {"worda", "wordd", "worde", "wordf", "wordg"}


def test_what_was_decided_before_stopping_is_there(words: Path) -> None:
    made = CliRunner().invoke(app, ["words", str(words), "--batch", "3"], input="all\nq\n")
    assert "4 rows without a decision" in made.output
    assert [row["word"] for row in open_rows(words)] == ["wordd", "worde", "wordf", "wordg"]


def test_anything_else_is_an_error_and_decides_nothing(words: Path) -> None:
    made = CliRunner().invoke(app, ["words", str(words)], input="8\n")
    assert made.exit_code == 2 and len(open_rows(words)) == 7


def test_codes_that_differ_in_their_digits_are_decided_together(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    codes = {f"FER-{n:04d}": WordLeft(1, "a code", Why.UNDECIDED) for n in range(40)}
    write_words(path, codes | {"zorblatt": WordLeft(1, "ask zorblatt", Why.UNDECIDED)})
    made = CliRunner().invoke(app, ["words", str(path)], input="2\n")
    assert "1-2 of 2" in made.output and "FER-0000 and 39 like it" in made.output
    assert "0 rows without a decision" in made.output
    assert [value for _, value in _read_review(path).private] == ["zorblatt"]
