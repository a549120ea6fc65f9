"""`--private-values`: what the owner listed is masked in every kind of file, at every level."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook, load_workbook

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.scan import scan_release
from data.canonical import digest
from data.errors import InputError
from tests.flows.masking_app import run

LIST = "# nobody else knows these\npebble\nORGANIZATION\tharvest moon\n"
CONFIG = '[masking.detection]\nenglish_model = ""\nchinese_model = ""\njapanese_model = ""\n'
TEXT = "The pebble order of Harvest Moon is ready.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    root.mkdir()
    (root / "pebble_notes.txt").write_text(TEXT)
    (root / "a.json").write_text(json.dumps({"pebble": ["harvest moon", {"by": "Pebble"}]}))
    book = Workbook()
    book.worksheets[0]["A1"] = "ready for pebble"
    book.save(root / "b.xlsx")
    document = Document()
    document.add_paragraph("Ask at Harvest").add_run(" Moon for pebble.")
    document.save(str(root / "harvest-moon.docx"))
    (tmp_path / "list.txt").write_text(LIST)
    (tmp_path / "config.toml").write_text(CONFIG)
    return root


def mask(folder: Path, out: Path, *more: object) -> tuple[int, str]:
    given = ("--config", folder.parent / "config.toml", "--key", folder.parent / "key")
    return run("mask", folder, "--out", out, *given, *more)


def released(out: Path) -> dict[str, bytes]:
    paths = sorted(
        path for path in out.rglob("*") if path.is_file() and "private" not in path.parts
    )
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("level", ["strict", "full", "secrets"])
def test_every_file_and_name_is_masked_and_can_be_restored(
    folder: Path, tmp_path: Path, level: str
) -> None:
    out, listed = tmp_path / "out", tmp_path / "list.txt"
    code, output = mask(folder, out, "--private-values", listed, "--level", level)
    assert code == 0, output
    public = tmp_path / "public"
    for name, data in (released(out) | {"output.txt": output.encode()}).items():
        (public / name).parent.mkdir(parents=True, exist_ok=True)
        (public / name).write_bytes(data)
    shown = [
        value for word in ("pebble", "harvest moon") for value in (word, digest(word.encode()))
    ]
    sought = [PrivateValue(value, "tripwire") for value in shown]
    assert scan_release(public, LeakPatterns(sought, bytes(32), LeakConfig()), LeakConfig()) == []
    assert len(released(out)) == 5  # four files and the report
    names = sorted(path.name for path in (out / "files" / "in").iterdir())
    assert not [name for name in names if "pebble" in name or "harvest" in name]
    (book,) = [name for name in names if name.endswith(".xlsx")]
    cell = load_workbook(out / "files" / "in" / book).worksheets[0]["A1"].value
    assert str(cell).startswith("ready for ")
    assert run("restore", out, "--out", tmp_path / "back", "--key", tmp_path / "key")[0] == 0
    for path in folder.iterdir():
        assert (tmp_path / "back" / "in" / path.name).read_bytes() == path.read_bytes()


def test_without_the_list_the_words_stay_and_another_list_masks_others(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("ready\n")
    runs = {"none": (), "list": (tmp_path / "list.txt",), "again": (tmp_path / "list.txt",)}
    texts = {}
    for name, lists in {**runs, "other": (other,)}.items():
        more = [part for path in lists for part in ("--private-values", path)]
        assert mask(folder, tmp_path / name, *more, "--level", "full")[0] == 0
        (texts[name],) = (
            released(tmp_path / name)[key]
            for key in released(tmp_path / name)
            if key.endswith(".txt")
        )
    assert texts["none"] == TEXT.encode()
    assert texts["list"] == texts["again"]
    assert b"pebble" in texts["other"] and b"ready" not in texts["other"]
    reports = [released(tmp_path / name)["reports/masking.json"] for name in ("none", "list")]
    recipes = {json.loads(report)["recipe_sha256"] for report in reports}
    assert len(recipes) == 1  # the published recipe says nothing of the list


def test_a_scan_lists_where_the_values_stand(folder: Path, tmp_path: Path) -> None:
    config = ("--config", tmp_path / "config.toml")
    notes = folder / "pebble_notes.txt"
    assert run("scan", notes, *config)[0] == 0
    code, output = run("scan", notes, *config, "--private-values", tmp_path / "list.txt")
    assert code == 1
    assert "pebble_notes.txt:4: UNEXPLAINED by listed" in output


def test_a_wrong_list_is_one_line_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("pebble\nFIRM\tharvest moon\n")
    with pytest.raises(InputError, match=r"list\.txt:2: found an unknown kind") as error:
        mask(folder, tmp_path / "out", "--private-values", tmp_path / "list.txt")
    assert "harvest" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_the_words_that_stayed_are_listed_for_the_owner_only(folder: Path, tmp_path: Path) -> None:
    assert mask(folder, tmp_path / "out", "--level", "full")[0] == 0
    path = tmp_path / "out" / "private" / "words.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    rows = {row["word"]: row for row in csv.DictReader(path.read_text().splitlines())}
    assert {"pebble", "Harvest Moon"} <= rows.keys()
    assert rows["Harvest Moon"]["files"] == "2" and "Moon" in rows["Harvest Moon"]["example"]
    assert not {"the", "and", "for"} & rows.keys()
    assert all(len(row["example"]) <= 130 for row in rows.values())  # 110 and a label
    listed = ("--private-values", tmp_path / "list.txt", "--level", "full")
    assert mask(folder, tmp_path / "again", *listed)[0] == 0
    fewer = (tmp_path / "again" / "private" / "words.csv").read_text()
    assert "pebble" not in fewer.casefold() and "harvest" not in fewer.casefold()
