"""A file in which a value of the run still stands is refused; texts in bytes, phones as floats."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import mask_bytes
from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.documents.survivors import survivors
from anonymization.masking_recipe import MaskingLevel
from anonymization.text.contracts import EntityType, Entry, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.known_values import short_forms
from anonymization.text.masking.masker import Masker
from anonymization.text.vault import Vault

_KEY = bytes(32)


def test_a_file_that_still_holds_a_value_of_the_run_is_not_released(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "plain.txt").write_text("Please call Margaret Thornquist about the lease.\n")
    (source / "turned.txt").write_text("the tag says tsiuqnrohT teragraM backwards\n")
    reports = mask_paths([source], out, _KEY, MaskingConfig(level=MaskingLevel.FULL), workers=1)
    refusals = {Path(report.path).name: report.refusal for report in reports}
    assert refusals == {"plain.txt": None, "turned.txt": Refusal.VALUE_REMAINS}
    assert not list((out / FILES).rglob("turned.txt"))
    released = next((out / FILES).rglob("plain.txt")).read_text()
    assert "Thornquist" not in released


def test_values_that_masking_itself_wrote_are_nosurvivors(tmp_path: Path) -> None:
    vault = Vault("run", Mode.SURROGATE)
    for value, surrogate in {
        "Margaret Thornquist": "Rosalind Vandermeer",
        "Vandermeer, Rosalind": "Ottoline Grieve",
        "+44 7700 900733": "+44 7700 900118",
    }.items():
        kind = EntityType.PHONE if value.startswith("+") else EntityType.PERSON
        vault.add(Entry(kind, value, surrogate))
    files = {name: tmp_path / name for name in ("made.txt", "name.txt", "phone.txt")}
    files["made.txt"].write_text("Signed: Rosalind Vandermeer, and Vandermeer, Rosalind.\n")
    files["name.txt"].write_text("Signed: margaret thornquist.\n")
    files["phone.txt"].write_text("Call 07700-900-733.\n")
    assert {name for name, _ in survivors(vault, files, _KEY)} == {"name.txt", "phone.txt"}


def test_a_day_that_is_no_value_keeps_the_days_of_its_file_alone(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "said.txt").write_text("The lease began on 2024-03-14 and ends on 2026-03-13.\n")
    named = "The copy of 2024-03-20 is in release-2024-03-14+5 on the server.\n"
    (source / "named.txt").write_text(named)
    reports = mask_paths([source], out, _KEY, MaskingConfig(level=MaskingLevel.FULL), workers=1)
    assert [r.refusal for r in reports] == [None, None]
    assert next((out / FILES).rglob("named.txt")).read_text() == named
    assert "2024-03-14" not in next((out / FILES).rglob("said.txt")).read_text()


def test_days_that_stay_on_purpose_keep_no_file_back(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "said.txt").write_text("The lease began on 2024-03-14 and ends on 2026-03-13.\n")
    kept = "Protokoll vom 3. Mai 2022.\nThe audit began on 2024-03-14 and ended in May.\n"
    (source / "kept.txt").write_text(kept)
    reports = mask_paths([source], out, _KEY, MaskingConfig(level=MaskingLevel.FULL), workers=1)
    assert [(r.refusal, r.part) for r in reports if r.refusal is not None] == []
    masked = {Path(r.path).stem: (out / "files" / r.path).read_text() for r in reports}
    assert masked["kept"] == kept
    assert "2024-03-14" not in masked["said"]


def test_cells_of_bytes_and_of_floats_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE people (phone REAL, note BLOB)")
    database.execute(
        "INSERT INTO people VALUES (?, ?)", (447700900733.0, b"Please call Margaret Thornquist.")
    )
    database.commit()
    database.close()
    masker = Masker(TextDetector(), _KEY, Mode.SURROGATE, "run")
    masked = mask_bytes(path.read_bytes(), "a.sqlite", masker)
    assert masked.report.refusal is None
    copy = tmp_path / "b.sqlite"
    copy.write_bytes(masked.data)
    database = sqlite3.connect(copy)
    ((phone, note),) = database.execute("SELECT phone, note FROM people").fetchall()
    database.close()
    assert isinstance(phone, float)
    assert phone != 447700900733.0
    assert isinstance(note, bytes)
    assert b"Thornquist" not in note


def test_names_alone_are_forms_of_a_known_name_unless_they_are_words() -> None:
    words = frozenset({"rose", "stone"})
    assert {"Ottoline", "Grieve"} <= {form for _, form in short_forms("Ottoline Grieve", words)}
    assert not {"Rose", "Stone"} & {form for _, form in short_forms("Rose Stone", words)}
    assert {form for _, form in short_forms("顾长风")} == {"老顾", "小顾", "长风"}
    assert {form for _, form in short_forms("时建国")} == set()
