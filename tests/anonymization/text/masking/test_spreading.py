"""What was found in one file of a call is replaced in the others only if it can be nothing else."""

from __future__ import annotations

import pytest

from anonymization.documents.document import learn
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.masking.spreading import is_unmistakable
from anonymization.text.vault import applied

KEY = b"s" * 32
STAFF = labelled("Customer name", "Selwyn Harrowgate")


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, *files: list[Piece], apart: bool = True) -> list[list[str]]:
    masker = Masker(detector, KEY, Mode.SURROGATE, "scope")
    learn(files, masker, are_apart=apart)
    return [[applied(piece.value, masker.edits(piece))[0] for piece in pieces] for pieces in files]


def test_a_single_word_stays_in_other_files(detector: TextDetector) -> None:
    word = Piece("Selwyn", kind=EntityType.PERSON)
    other = Piece("the selwyn branch; Selwyn stays in the build of Selwyn")
    first, second = masked(detector, [word], [other])
    assert first != ["Selwyn"] and second == [other.value]
    (_, together) = masked(detector, [word], [other], apart=False)
    assert together != [other.value]


def test_a_full_name_spreads_with_its_short_forms(detector: TextDetector) -> None:
    note = Piece("Selwyn Harrowgate has the keys. Ask Selwyn for them.")
    alone = Piece("Restart the node named Selwyn twice.")
    (name,), (text,), (kept,) = masked(detector, [STAFF], [note], [alone])
    given = name.split()[0]
    assert text.startswith(name) and f"Ask {given} for" in text
    assert kept == alone.value


def test_a_text_of_two_files_is_masked_as_one(detector: TextDetector) -> None:
    text = Piece("Ask Selwyn for the keys.")
    first, second = masked(detector, [STAFF, text], [text, Piece("port 8080")])
    assert first[1] == second[0] != text.value


def test_joins_between_files_hold(detector: TextDetector) -> None:
    ids = [labelled("employee_id", f"KX-{number}") for number in (4471, 4482)]
    mails = [labelled("email", f"{name}@hollin-mere.se") for name in ("ines", "jorun")]
    text = Piece("open: KX-4471, KX-4482; cc ines@hollin-mere.se; see build.hollin-mere.se")
    (*keys, mail, _), (other,) = masked(detector, [*ids, *mails], [text])
    assert all(key in other for key in keys) and mail in other
    assert f"build.{mail.partition('@')[2]}" in other


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (EntityType.PERSON, "Ana Vos", True),
        (EntityType.PERSON, "Selwyn", False),
        (EntityType.PERSON, "韩冰", False),
        (EntityType.ORGANIZATION, "Netlib", False),
        (EntityType.EMAIL, "ana@vos.se", True),
        (EntityType.ACCOUNT, "git.vos.se", True),
        (EntityType.ACCOUNT, "besttrust", True),
        (EntityType.ACCOUNT, "backup", False),
        (EntityType.ACCOUNT, "dmg", False),
        (EntityType.UNEXPLAINED, "CUS-502", True),
        (EntityType.LOCATION, "Hotline", False),
    ],
)
def test_what_can_be_nothing_else(
    detector: TextDetector, kind: EntityType, value: str, expected: bool
) -> None:
    assert is_unmistakable(kind, value, detector.dictionary) is expected
