"""Scripts and months are written in data/text and nowhere else."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from data.text.dates import MONTH_ABBREVIATIONS, MONTHS
from tests.conftest import REPO

HOME = Path("data/text")
ROOTS = ("flows", "construction", "anonymization", "selection", "data", "benchmarks", "notebooks")
FILES = sorted(
    path.relative_to(REPO)
    for path in chain.from_iterable((REPO / root).rglob("*.py") for root in ROOTS)
    if not path.is_relative_to(REPO / HOME)
)
_ESCAPE = re.compile(r"\\[uU]([0-9a-fA-F]{8}|[0-9a-fA-F]{4})")
_RANGE = re.compile(r"(.)-(.)")
_WIDEST = 256  # characters; the ranges of scripts are longer
_FEWEST_MONTHS = 6  # so many months named in one module are a table


@cache
def texts(source: str) -> list[str]:
    """The string constants of a module, with the escapes of raw strings resolved."""
    constants = (
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    )
    return [
        _ESCAPE.sub(lambda code: chr(int(code[1], 16)), text)
        for text in constants
        if isinstance(text, str)
    ]


def writes_han_range(source: str) -> bool:
    """Is there a range from or to an ideograph, or a bound of the block to compare with?"""
    for text in texts(source):
        if text in ("\u3400", "\u4dbf", "\u9fff"):
            return True
        for first, last in _RANGE.findall(text):
            wide = ord(last) - ord(first) > _WIDEST
            if wide and "\u2e80" <= first <= "\u9fff" and last >= "\u3400":
                return True
    return False


def writes_month_table(source: str) -> bool:
    """Are most months named in the strings of the module?"""
    words = set(re.findall("[a-z]+", " ".join(texts(source)).lower()))
    named = (name.lower() for name in (*MONTHS, *MONTH_ABBREVIATIONS))
    return len({name[:3] for name in named if name in words}) >= _FEWEST_MONTHS


@pytest.mark.parametrize(
    ("source", "is_range"),
    [
        (r"""re.compile(r"[\u4e00-\u9fff]")""", True),
        ("""re.compile("[一-龥]")""", True),
        ("""is_han = "\\u4e00" <= char <= "\\u9fff" """, True),
        ("""re.compile("[㐀-鿿々]")""", True),
        ("""re.compile("[一二三]-[四五]")""", False),
        (r"""re.compile(r"[\uff01-\uff5e\u3000-\u303f]")""", False),
        ("""re.compile(f"[{HAN}]")""", False),
    ],
)
def test_a_range_is_noticed(source: str, is_range: bool) -> None:
    assert writes_han_range(source) is is_range


def test_a_month_table_is_noticed() -> None:
    assert writes_month_table(f"NAMES = {MONTHS!r}")
    assert writes_month_table("""M = re.compile("jan|feb|mar|apr|may|jun|jul")""")
    assert not writes_month_table("""TEXT = "from January to June, or in May" """)


def test_han_ranges_are_written_in_data_text_only() -> None:
    written = [str(p) for p in FILES if writes_han_range((REPO / p).read_text("utf-8"))]
    # What check programs import goes into the sandbox alone, without data.text.
    assert written == ["construction/grading/checking.py"]


def test_months_are_listed_in_data_text_only() -> None:
    assert [str(p) for p in FILES if writes_month_table((REPO / p).read_text("utf-8"))] == []
