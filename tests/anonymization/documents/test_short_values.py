"""Which short values are listed by the signs and words around them: initials, PINs, places."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from anonymization.documents.short_values import Around, around, short_sightings
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Edit, EntityType
from anonymization.text.masking.pieces import Piece, labelled

NOTHING = Around(frozenset(), frozenset(), has_open_dates=False)


def listed(piece: Piece, context: Around = NOTHING) -> set[str]:
    seen = list(short_sightings(piece, piece.value, context))
    assert all(piece.value[s.start : s.end] == s.word for s in seen)
    return {sighting.word for sighting in seen}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("signed o.h. and J. S. on the page, i.e. twice", {"o.h.", "J. S."}),
        ("it hangs at #A7, the locker is (K-9)", {"A7", "K-9"}),
        ("fig. (Q1), #utf8 and f(A7)", set()),
        ('the board says "2284", not "2024"', {"2284"}),
        ("his code: 512 was new", {"512"}),
        ("retries = 512", set()),
        ("at 47.37692, 8.54173 on the map", {"47.37692, 8.54173"}),
        ("values 1.234, 5.678, 9.123", set()),
        ("latitude -33.8568 only", {"-33.8568"}),
        ("a ratio of 33.8568 only", set()),
        ("login: jd, user=x, /home/hk/work, mail qv@host", {"jd", "x", "hk", "qv"}),
        ("the user is in, owner: me", set()),
        ("at 47.37692, 178.54173 on the map", {"47.37692, 178.54173"}),
        ("at 47.37692, 188.54173 on the map", set()),
        ("at 97.37692, 98.54173 on the map", set()),
        ("found at 47° 22′ 36.5″ N, 8°32' E", {"47° 22′ 36.5″ N", "8°32' E"}),
        ("it had 47° all day", set()),
        ("in release 1.2345.678 of it", set()),
        ("at 47.37692-8.54173 there", {"47.37692-8.54173"}),
        ("then ssh qv and ls, sudo -u kz ls", {"qv", "kz"}),
        ("then ssh to it", set()),
        ("it lies in ~wb/notes, ask @mf", {"wb", "mf"}),
        ("用户名是xj。", {"xj"}),
    ],
)
def test_values_in_texts(text: str, words: set[str]) -> None:
    assert listed(Piece(text)) == words


def test_numbers_in_cells_count_where_the_column_is_not_one_of_numbers() -> None:
    mixed = [(labelled("gate", value), ()) for value in ("7712", "open", "late")]
    many = [(labelled("seats", value), ()) for value in ("311", "412", "513")]
    file = around([*mixed, *many], DetectionConfig())
    assert listed(labelled("gate", "7712"), file) == {"7712"}
    assert listed(labelled("seats", "311"), file) == set()
    assert listed(labelled("price", "311"), file) == set()
    assert listed(labelled("gate", "1998"), file) == set()
    assert listed(labelled("owner", "fj"), file) == {"fj"}


@pytest.mark.parametrize(
    ("label", "value", "is_listed"),
    [
        ("spot", "47.3769", True),
        ("spot", "-147.3769", True),
        ("spot", "184.3769", False),  # more than a longitude
        ("spot", "0.3769", False),  # a share
        ("spot", "47.376", False),  # too coarse for a place
        ("price", "47.3769", False),
    ],
)
def test_a_precise_number_in_a_cell_may_be_a_place(label: str, value: str, is_listed: bool) -> None:
    assert listed(labelled(label, value)) == ({value} if is_listed else set())


def test_initials_without_points_are_those_of_a_name_in_the_file() -> None:
    piece = Piece("Jorun Selvig has it, and JS or JT signed")
    edit = Edit(0, 12, "Robin Fensby", EntityType.PERSON, "test", 1.0)
    assert listed(piece, around([(piece, [edit])], DetectionConfig())) == {"JS"}


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("born 4/12/1991 or 04.12.1991", {"4/12/1991", "04.12.1991"}),
        ("on 04-12-1991, not 12-04", {"04-12-1991"}),
        ("the 4th of Dec. 1991, 4. December 1991", {"4th of Dec. 1991", "4. December 1991"}),
        ("Sept. 3rd, 1984, September 1984, 3 September", {"Sept. 3rd, 1984"}),
        ("1991年12月4日", {"1991年12月4日"}),
        ("file-1991-12-04, 1991-12-04T10, v1991-12-04 and 1991-14-45", set()),
        ("Q3 1991 at 10:30, 5 pm", set()),
    ],
)
def test_dates_are_whole_and_no_part_of_a_code(text: str, dates: set[str]) -> None:
    assert listed(Piece(text), replace(NOTHING, has_open_dates=True)) == dates


def test_full_dates_are_listed_below_strict() -> None:
    piece = Piece("since 1991-12-04, 3 March 1984 and 2024")
    full, strict = (
        around([], at_level(DetectionConfig(), level))
        for level in (MaskingLevel.FULL, MaskingLevel.STRICT)
    )
    assert listed(piece, full) == {"1991-12-04", "3 March 1984"}
    assert listed(piece, strict) == set()


@pytest.mark.parametrize(
    "part",
    [
        "1.234 ",
        "1.234,",
        "a.",
        "a. ",
        "login ",
        "12 ",
        "(A",
        "user:",
        "°1 ",
        "@a ",
        "2 of ",
        ":12.",
    ],
)
def test_hostile_texts_take_time_in_proportion(part: str) -> None:
    file = Around(frozenset({"AB"}), frozenset(), has_open_dates=True)

    def seconds(size: int) -> float:
        piece = Piece(part * size)
        began = process_time()
        for _ in short_sightings(piece, piece.value, file):
            pass
        return process_time() - began + 1e-3

    assert seconds(40_000) / seconds(5_000) < 24  # linear 8, quadratic 64
