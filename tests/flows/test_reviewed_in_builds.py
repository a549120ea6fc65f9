"""A build with a review: what was decided is masked, and tasks with open words are rejected."""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from anonymization.masking_recipe import MaskingLevel
from data.demo.generate import generate
from data.errors import ListUndecidedError
from flows.stages.sessions import write_words_left
from tests.flows.masked_sessions import mask_sessions


def masked(folder: Path, reviewed: Path | None, level: MaskingLevel) -> tuple[str, list[str], bool]:
    """The texts of the masked sessions, the reasons of rejections, and was the stage reused."""
    made = mask_sessions(folder, level, reviewed=reviewed)
    write_words_left(made.run, made.folders)
    verdicts = pl.concat([pl.read_parquet(each / "verdicts.parquet") for each in made.folders])
    reasons = verdicts.filter(pl.col("gate") == "masking")["reason"].drop_nulls().to_list()
    return made.text, reasons, made.reused


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def decide(folder: Path, decision: Callable[[str], str]) -> Path:
    rows = rows_of(folder / "workspace" / "private" / "review" / "words.csv")
    path = folder / "reviewed.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(("decision", "word"))
        writer.writerows((row["decision"] or decision(row["word"]), row["word"]) for row in rows)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reviewed")
    generate(folder / "demo", 6, 7)
    return folder


def test_what_was_decided_is_masked_and_what_was_not_is_rejected(folder: Path) -> None:
    plain, before, _ = masked(folder, None, MaskingLevel.STRICT)
    assert "document.words_not_reviewed" not in before
    rows = rows_of(folder / "workspace" / "private" / "review" / "words.csv")
    word = next(
        row["word"] for row in rows if row["word"] in plain.split() and row["word"].islower()
    )
    chosen = decide(folder, lambda listed: "private" if listed.lower() == word else "keep")
    text, reasons, reused = masked(folder, chosen, MaskingLevel.STRICT)
    for _ in range(2):  # a word that was part of a run may stand alone now
        if "document.words_not_reviewed" in reasons:
            chosen = decide(folder, lambda listed: "keep")
            text, reasons, reused = masked(folder, chosen, MaskingLevel.STRICT)
    assert reasons == before and not reused
    assert word not in text.split() and len(text.split()) == len(plain.split())
    assert masked(folder, chosen, MaskingLevel.STRICT) == (text, reasons, True)
    nothing = folder / "nothing.csv"
    nothing.write_text("decision,word\n")
    text, reasons, reused = masked(folder, nothing, MaskingLevel.STRICT)
    assert text == "" and not reused
    assert "document.words_not_reviewed" in reasons


def test_what_only_the_owner_can_decide_waits_for_a_review(folder: Path, tmp_path: Path) -> None:
    for level, is_waiting in ((MaskingLevel.STRICT, True), (MaskingLevel.FULL, False)):
        made = mask_sessions(folder, level)
        assert (write_words_left(made.run, made.folders) > 0) is is_waiting
    nothing = tmp_path / "nothing.csv"
    nothing.write_text("decision,word\n")
    made = mask_sessions(folder, MaskingLevel.STRICT, reviewed=nothing)
    assert write_words_left(made.run, made.folders) == 0  # tasks with open words are rejected


def test_the_error_names_the_list_and_its_command_and_survives_a_process() -> None:
    error = ListUndecidedError(3, Path("o/private/review/words.csv"), Path("o/private/x"))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(error).startswith("release.list_undecided: found 3 unexplained words")
    assert "benchmint privacy words o/private/review/words.csv" in str(error)


def test_below_strict_no_list_is_made_without_a_review(folder: Path, tmp_path: Path) -> None:
    words = folder / "workspace" / "private" / "review" / "words.csv"
    words.unlink(missing_ok=True)
    masked(folder, None, MaskingLevel.FULL)
    assert not words.exists()
    (tmp_path / "words.csv").write_text("decision,word\n")
    text, reasons, _ = masked(folder, tmp_path / "words.csv", MaskingLevel.FULL)
    assert text == "" and "document.words_not_reviewed" in reasons and words.exists()
