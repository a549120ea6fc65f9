"""What follows the surrogate of a person or of a series does so everywhere in a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest

from anonymization.text.contracts import EntityType, Finding, Mode
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.prose import MachineLines
from anonymization.text.masking.masker import Masker
from anonymization.text.surrogates.assignment import lexicon
from tests.anonymization.text.masking.calls import mask_files

_KINDS = {
    EntityType.EMAIL: r"[\w.+-]+@[\w-]+\.[a-z]{2,6}",
    EntityType.DATE: r"\d{4}-\d\d-\d\d|\d{8}(?= ship)",
    EntityType.CASE_NUMBER: r"[A-Z]{1,4}-?\d[\dO-]{3,20}",
}


class Declared:
    """Finds the values that it was given, mail addresses, days and numbers of cases."""

    def __init__(self, **values: str) -> None:
        self._values = {
            (EntityType[kind], value)
            for kind, listed in values.items()
            for value in listed.split("|")
        }

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        return [self._in(text) for text in texts]

    def _in(self, text: str) -> list[Finding]:
        patterns = [(kind, rf"(?<!\w){re.escape(v)}(?!\w)") for kind, v in self._values]
        patterns.sort(key=lambda each: -len(each[1]))
        hits: list[Finding] = []
        for kind, pattern in [*_KINDS.items(), *patterns]:
            for match in re.finditer(pattern, text):
                if all(match.end() <= h.start or h.end <= match.start() for h in hits):
                    hits.append(Finding(*match.span(), kind, "declared", 1.0))
        return sorted(hits)


def masked(text: str, **values: str) -> str:
    masker = Masker(Declared(**values), b"f" * 32, Mode.SURROGATE, "s")
    return masker.mask_texts([text])[0]


def test_initials_are_those_of_somebody_in_the_text() -> None:
    text = "Present: Ottoline Brask, Radek Holub. ACTION OB: keys; RH agreed (R.H., rh)"
    new = masked(text, PERSON="Ottoline Brask|Radek Holub|OB|RH|R.H.|rh")
    people = re.search(r"Present: (\w)\w+ (\w)\w+, (\w)\w+ (\w)\w+\.", new)
    assert people is not None
    first, second = people[1] + people[2], people[3] + people[4]
    assert f"ACTION {first}:" in new
    assert f"; {second} agreed ({second[0]}.{second[1]}., {second.lower()})" in new


@pytest.mark.parametrize(
    ("text", "people", "logins", "becomes"),
    [
        ("Ottoline Braskova, obraskova", "Ottoline Braskova", "obraskova", "{i}{family}"),
        ("Ottoline Braskova, obrask", "Ottoline Braskova", "obrask", "{i}{short}"),
        ("Ottoline Braskova, ottbrask", "Ottoline Braskova", "ottbrask", "{begun}{short}"),
        ("Ottoline Brask-Holub, obraskholub@a.org", "Ottoline Brask-Holub", "", "{i}{family}"),
        ("T. Radimsky, tomas.radimsky@a.org", "T. Radimsky", "", "{i}*.{family}"),
        ("Tomas R. wrote, tradimsky@a.org", "Tomas R.", "", "{i}{family}*"),
    ],
)
def test_logins_and_addresses_follow_the_name(
    text: str, people: str, logins: str, becomes: str
) -> None:
    new = masked(text, PERSON=people, **({"ACCOUNT": logins} if logins else {}))
    name = re.match(r"(\w+)\.? ([\w-]+)", new)
    assert name is not None
    given, family = (part.casefold().replace("-", "") for part in name.groups())
    expected = becomes.format(i=given[0], begun=given[:3], family=family, short=family[:5])
    login = new.rpartition(" ")[2].partition("@")[0]
    assert fnmatchcase(login, expected), new


def test_words_before_a_family_name_and_its_genitive_follow_it() -> None:
    text = "Wendel Quastenberg kam; Wendel Qua. schrieb. Wendels Rad. W. Quastenberg"
    new = masked(text, PERSON="Wendel Quastenberg|Wendel Qua|Wendels|Wendel|W. Quastenberg")
    given, family = new.split(" ", 2)[:2]
    assert f"{given} {family[:3]}. schrieb. {given}" in new
    assert new.endswith(f"{given[0]}. {family}")


def test_a_name_of_two_words_has_a_family_name() -> None:
    new = masked(
        "Iva Novotna-Malik, Iva Brask, I. Brask", PERSON="Iva Novotna-Malik|Iva Brask|I. Brask"
    )
    whole, short = new.split(", ")[1:]
    assert whole.split()[1] == short.split()[1]


def test_running_numbers_stay_running_and_keep_the_day_of_their_files() -> None:
    text = (
        "2025-05-06 vouchers K250506-011, K250506-012, K250506-014 of RG-25-4711, RG-25-4712, "
        "RG-25-4713; part TR-2504-99871, code L7O13 for L7013. Open until the 9th."
    )
    new = masked(text)
    runs = [int(each) for each in re.findall(r"K250506-(\d{3})", new)]
    assert [each - runs[0] for each in runs] == [0, 1, 3] and runs[0] != 11
    bills = [int(each) for each in re.findall(r"RG-25-(\d{4})", new)]
    assert [each - bills[0] for each in bills] != [0, 1, 2] and 4711 not in bills
    assert "TR-2504-" in new and "99871" not in new
    typed = re.search(r"L(\d)O(\d\d) for L(\d{4})\.", new)
    assert typed is not None and typed[1] == typed[3][0] and typed[2] == typed[3][2:]


def test_a_street_ends_with_its_sentence() -> None:
    text = "auf Erlenallee 14.\n- Frau Ostrova kam. 31 Cooper Street. Father came. "
    text += "Kessel 2 Druckstufe 870 °C"
    streets = [text[f.start : f.end] for f in find_addresses(text, MachineLines(text))]
    assert streets == ["Erlenallee 14", "31 Cooper Street"]


def test_german_texts_get_german_names() -> None:
    text = (
        "Die Firma Quellmann GmbH hat nicht bezahlt, und wir haben mit Frau Annegret Zschau"
        " am Erlenweg 14 in der Stadt gesprochen. Bitte den Brief an sie schicken.\n"
    )
    (new,) = mask_files({"brief.txt": text}).values()
    assert "Zschau" not in new
    name = re.search(r"Frau (\w+) (\w+)\s", new)
    assert name is not None
    assert name[1] in lexicon().de_women
    assert name[2].startswith(lexicon().de_first)
