"""Values that are written in more than one way, or that a program refers to."""

from __future__ import annotations

from anonymization.text.contracts import EntityType, Finding, Mode
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.one_value import whole_values
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import applied


class Words:
    """A detector that finds these words wherever they stand in a text without code."""

    def __init__(self, **kinds: EntityType) -> None:
        self._kinds = kinds

    def find(self, texts: list[str]) -> list[list[Finding]]:
        return [
            sorted(
                Finding(at, at + len(word), kind, "rule", 1.0)
                for word, kind in self._kinds.items()
                for at in range(len(text))
                if text.startswith(word, at) and not text[at - 1 : at].isalpha()
            )
            for text in texts
        ]


def masked(pieces: list[Piece], **kinds: EntityType) -> list[str]:
    masker = Masker(Words(**kinds), bytes(32), Mode.SURROGATE, "s")  # type: ignore[arg-type]
    masker.learn(pieces)
    return [applied(piece.text, masker.edits(piece))[0] for piece in pieces]


def test_initials_that_are_keys_of_a_program_stay_in_all_texts() -> None:
    code = 'const OWNER = {QB: "x"}; // for QB\n'
    pieces = [Piece(code, fixed=((0, 24),)), Piece("done by QB and by VW, Quirin Bayer said")]
    kinds = {"QB": EntityType.PERSON, "VW": EntityType.PERSON, "Quirin Bayer": EntityType.PERSON}
    new, note = masked(pieces, **kinds)
    assert new == code and "QB" in note and "VW" not in note and "Quirin" not in note


def test_a_loop_makes_no_initials_stay() -> None:
    code = "for x in y; do echo; done  # DO"
    (new,) = masked([Piece(code, fixed=((0, 25),))], DO=EntityType.PERSON)
    assert new.startswith(code[:27]) and not new.endswith("DO")


def test_a_day_and_month_is_no_number_of_a_case() -> None:
    text = "use the case until 24/03, file 88/03"
    numbers = [Finding(at, at + 5, EntityType.CASE_NUMBER, "rule", 1.0) for at in (19, 31)]
    assert [text[f.start : f.end] for f in whole_values(text, numbers)] == ["88/03"]


def test_a_number_has_its_quotes_and_brackets_as_everywhere() -> None:
    quoted, opened = '"+44 7700 900417"', "call (312) 415-0163"
    (number,) = whole_values(quoted, [Finding(0, 17, EntityType.PHONE, "rule", 1.0)])
    assert quoted[number.start : number.end] == "+44 7700 900417"
    (number,) = whole_values(opened, [Finding(6, 19, EntityType.PERSON_NUMBER, "rule", 1.0)])
    assert opened[number.start : number.end] == "(312) 415-0163"


def test_measured_values_and_technical_words_stay() -> None:
    text = "her 50th birthday\nACME_ACCOUNT=5521\nkey SHA512:q7Lm, 12 Elm Street"
    spans = {
        "50th": EntityType.AGE,
        "ACME_ACCOUNT": EntityType.SECRET,
        "SHA512:q7Lm": EntityType.PERSON_NUMBER,
        "12 Elm Street": EntityType.ADDRESS,
    }
    findings = [
        Finding(text.index(value), text.index(value) + len(value), kind, "rule", 1.0)
        for value, kind in spans.items()
    ]
    kept = [text[each.start : each.end] for each in whole_values(text, findings)]
    assert kept == ["q7Lm", "12 Elm Street"]


def test_a_day_is_a_day_whatever_its_label_says() -> None:
    text = "patient=1974-11-03 invoice=1974-1103"
    findings = [
        Finding(8, 18, EntityType.CASE_NUMBER, "declared", 1.0),
        Finding(27, 36, EntityType.CASE_NUMBER, "declared", 1.0),
    ]
    kinds = [each.type for each in whole_values(text, findings)]
    assert kinds == [EntityType.DATE, EntityType.CASE_NUMBER]
