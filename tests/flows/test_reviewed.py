"""`--reviewed`: what the owner decided in words.csv is masked or stays, and nothing is unread."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from openpyxl import Workbook

from anonymization.documents.contracts import Refusal
from data.errors import InputError
from tests.flows.masking_app import run

CONFIG = '[masking.detection]\nenglish_model = ""\nchinese_model = ""\njapanese_model = ""\n'
PRIVATE = ("pebble", "Harvest Moon", "harvest", "moon", "harvest_moon")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    root.mkdir()
    (root / "notes.txt").write_text("We ask pebble about the order of Harvest Moon today.\n")
    (root / "a.json").write_text(json.dumps({"label": "pebble", "status": "pending"}))
    book = Workbook()
    book.worksheets[0]["A1"] = "ready for pebble"
    book.save(root / "b.xlsx")
    (root / "plain.txt").write_text("The file and the name are there.\n")
    (tmp_path / "config.toml").write_text(CONFIG)
    return root


def mask(folder: Path, out: str, *more: object) -> tuple[int, str]:
    given = ("--config", folder.parent / "config.toml", "--key", folder.parent / "key")
    return run("mask", folder, "--out", folder.parent / out, "--level", "full", *given, *more)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def decide(path: Path, leave_out: str = "") -> Path:
    """The list with every row decided, but for one word, as a spreadsheet with semicolons."""
    rows = rows_of(path)
    for row in rows:
        if row["word"] != leave_out:
            row["decision"] = row["decision"] or "private" * (row["word"] in PRIVATE) or "keep"
    reviewed = path.parents[2] / "reviewed.csv"
    with reviewed.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return reviewed


def released(out: Path) -> dict[str, bytes]:
    files = out / "files" / "in"
    return {path.name: path.read_bytes() for path in files.iterdir()} if files.is_dir() else {}


def test_the_loop_ends_and_nothing_private_is_released(folder: Path, tmp_path: Path) -> None:
    assert mask(folder, "first")[0] == 0
    reviewed = decide(tmp_path / "first" / "private" / "words.csv")
    code, output = mask(folder, "second", "--reviewed", reviewed)
    again = tmp_path / "second" / "private" / "words.csv"
    if code:  # a word that was part of a run may stand alone now
        reviewed = decide(again)
        code, output = mask(folder, "third", "--reviewed", reviewed)
    assert code == 0, output
    out = tmp_path / ("third" if (tmp_path / "third").exists() else "second")
    texts = released(out)
    assert sorted(texts) == ["a.json", "b.xlsx", "notes.txt", "plain.txt"]
    assert not [name for name, data in texts.items() if b"pebble" in data or b"Moon" in data]
    assert texts["plain.txt"] == (folder / "plain.txt").read_bytes()
    rows = rows_of(out / "private" / "words.csv")
    assert {row["decision"] for row in rows} <= {"private", "keep"}
    assert run("restore", out, "--out", tmp_path / "back", "--key", tmp_path / "key")[0] == 0
    assert (tmp_path / "back" / "in" / "notes.txt").read_bytes() == (
        folder / "notes.txt"
    ).read_bytes()


def test_a_file_with_a_word_that_nobody_decided_is_refused(folder: Path, tmp_path: Path) -> None:
    assert mask(folder, "first")[0] == 0
    reviewed = decide(tmp_path / "first" / "private" / "words.csv", leave_out="pebble")
    code, output = mask(folder, "second", "--reviewed", reviewed)
    assert code == 1
    assert "notes.txt: rejected, document.words_not_reviewed" in output
    assert "pebble" not in output
    assert sorted(released(tmp_path / "second")) == ["plain.txt"]
    report = json.loads((tmp_path / "second" / "reports" / "masking.json").read_text())
    refusals = {row["path"]: row["refusal"] for row in report["files"]}
    assert refusals["in/notes.txt"] == Refusal.NOT_REVIEWED and refusals["in/plain.txt"] is None
    first, *others = rows_of(tmp_path / "second" / "private" / "words.csv")
    assert (first["decision"], first["word"]) == ("", "pebble")
    assert all(row["decision"] for row in others if row["word"] not in PRIVATE)


def test_a_scan_finds_what_was_decided_to_be_private(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("decision,word\nprivate:ORGANIZATION,harvest moon\n")
    config = ("--config", tmp_path / "config.toml")
    code, output = run("scan", folder, *config, "--reviewed", tmp_path / "words.csv")
    assert code == 1 and "notes.txt:33: ORGANIZATION by listed" in output


def test_a_wrong_list_is_one_line_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    words, listed = tmp_path / "words.csv", tmp_path / "list.txt"
    words.write_text("decision,word\nperhaps,pebble\n")
    with pytest.raises(InputError, match=r"words\.csv:2: found an unknown decision"):
        mask(folder, "out", "--reviewed", words)
    words.write_text("decision,word\nkeep,pebble\n")
    listed.write_text("pebble\n")
    with pytest.raises(InputError, match="found `keep` for a word in the list of private values"):
        mask(folder, "out", "--reviewed", words, "--private-values", listed)
    assert not (tmp_path / "out").exists()
