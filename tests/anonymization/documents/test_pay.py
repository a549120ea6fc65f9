"""Pay that is typed as a number: masked at level `strict`, and still a number."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import orjson
import pytest

from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.masking_recipe import MaskingLevel, Undecided

PAY, SALES = (52_000, 48_500.5, 9_100), 310_000


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Name", "Salary", "Sales"])
    for pay in PAY:
        book.worksheets[0].append(["Ada Brandt", pay, SALES])
    book.save(folder / "pay.xlsx")
    rows = [{"name": "Ada Brandt", "salary": pay, "sales": SALES} for pay in PAY]
    (folder / "pay.json").write_bytes(orjson.dumps(rows))
    return folder


def numbers(out: Path) -> list[tuple[object, object]]:
    """Pay and sales of both files."""
    book, text = (next((out / FILES).rglob(f"*.{end}")) for end in ("xlsx", "json"))
    sheet = openpyxl.load_workbook(book).worksheets[0]
    cells = sheet.iter_rows(min_row=2, min_col=2, max_col=3, values_only=True)
    pairs = [(pay, sales) for pay, sales in cells]
    return [*pairs, *((row["salary"], row["sales"]) for row in orjson.loads(text.read_bytes()))]


@pytest.mark.parametrize("key", [bytes(32), b"k" * 32, b"2" * 32])
def test_pay_becomes_another_number_and_other_amounts_stay(
    files: Path, tmp_path: Path, key: bytes
) -> None:
    config = MaskingConfig(level=MaskingLevel.STRICT, undecided=Undecided.MASKED)
    mask_paths([files], tmp_path / "out", key, config, 1)
    made = numbers(tmp_path / "out")
    assert [sales for _, sales in made] == [SALES] * 6
    assert {pay for pay, _ in made}.isdisjoint(PAY)
    assert [type(pay) for pay, _ in made] == [int, float, int] * 2
    assert made[:3] == made[3:]  # one surrogate in both files


def test_pay_stays_at_level_full(files: Path, tmp_path: Path) -> None:
    mask_paths([files], tmp_path / "out", bytes(32), MaskingConfig(level=MaskingLevel.FULL), 1)
    assert [pay for pay, _ in numbers(tmp_path / "out")] == [*PAY, *PAY]
