"""Titles, camel case and the table of standard trees."""

from __future__ import annotations

import pytest

from construction.statements.hierarchy.naming import section_title, spaced
from construction.statements.hierarchy.tree import Role, default_trees, parse_trees
from data.errors import InputError

PLANT = ("Assets", "Non-current assets", "Property, plant and equipment")


@pytest.mark.parametrize(
    ("label", "title"),
    [
        ("Total current assets", "Current assets"),
        ("TOTAL OTHER ASSETS", "Other assets"),
        ("Total Investments And Advances", "Investments and advances"),
        ("Total cash and marketable securities (Note 3)", "Cash and marketable securities"),
        ("Plant (less accumulated depreciation of $9,570)", "Plant"),
        ("Real estate, net", "Real estate"),
        ("Receivables, less allowance of $12", "Receivables"),
        ("Inventories, total", "Inventories"),
        ("Subtotal", ""),
        ("Total", ""),
        ("合計", ""),
        ("Total IBM and LIFO layers", "IBM and LIFO layers"),
        ("Total " + "very " * 30 + "long", ""),
    ],
)  # fmt: skip
def test_section_title(label: str, title: str) -> None:
    assert section_title(label) == title


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RestOfAsiaPacificSegment", "Rest of Asia Pacific Segment"),
        ("IPhone", "IPhone"),
        ("USGovernment", "US Government"),
        ("FairValueInputsLevel2", "Fair Value Inputs Level 2"),
        ("Mac", "Mac"),
        ("北米", "北米"),
        ("", ""),
    ],
)
def test_spaced(name: str, words: str) -> None:
    assert spaced(name) == words


@pytest.mark.parametrize(
    ("statement", "concept", "label", "role", "path"),
    [
        ("Balance sheet", "AssetsCurrent", "", Role.CLOSER, ("Assets", "Current assets")),
        ("Balance sheet", "X", "TOTAL CURRENT ASSETS", Role.CLOSER, ("Assets", "Current assets")),
        ("Balance sheet", "その他、流動資産", "", Role.LEAF, ("Assets", "Current assets")),
        ("Balance sheet", "TaxesCurrent", "", Role.LEAF, ("Assets", "Current assets")),
        ("Balance sheet", "Land", "", Role.LEAF, PLANT),
        ("Income statement", "GrossProfit", "", Role.RESULT, None),
        ("Income statement", "X", "Book value per share", Role.LEAF, ("Per share",)),
        ("Income statement", "AssetsCurrent", "Assets", Role.UNKNOWN, None),
        ("Guidance", "AssetsCurrent", "Total assets", Role.UNKNOWN, None),
    ],
)  # fmt: skip
def test_place(
    statement: str, concept: str, label: str, role: Role, path: tuple[str, ...] | None
) -> None:
    position = default_trees().placement(statement, concept, label)
    assert (position.role, position.node and position.node.path) == (role, path)


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        '[["Balance sheet"]]\nsection = "A"\nparent = "missing"\n',
        '[["Balance sheet"]]\nclosers = []\n',
        '[["Balance sheet"]]\nsection = "A"\ncolour = "red"\n',
    ],
)
def test_a_broken_table_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"own\.toml"):
        parse_trees(text, "own.toml")
