"""Legal forms, spaces and letter case are dealt anew, and still vary as they did."""

from __future__ import annotations

from anonymization.tables.pseudonyms.names import Company, rebuilt_names
from tests.anonymization.tables.build import KEY

COUNT = 400


def _companies() -> list[Company]:
    """Half with the legal form in front; every second of these with a wide space behind it."""
    heads = ("株式会社　", "", "株式会社", "")
    return [
        Company(f"c{at:03d}", "食品", (f"{heads[at % 4]}丸{at}屋{'' if heads[at % 4] else '㈱'}",))
        for at in range(COUNT)
    ]


def test_the_legal_form_of_a_pseudonym_says_nothing_about_the_company() -> None:
    made = rebuilt_names(_companies(), KEY)
    in_front = [new.startswith("株式会社") for new in made.values()]
    same = sum(
        new.startswith("株式会社") == name.startswith("株式会社") for (_, name), new in made.items()
    )
    assert 0.35 < sum(in_front) / COUNT < 0.65
    assert 0.4 < same / COUNT < 0.6


def test_spellings_of_one_name_stay_spellings_of_one_name() -> None:
    twice = [
        Company(f"d{at}", "食品", (f"株式会社丸{at}屋", f"丸{at}屋㈱", f"丸{at}屋"))
        for at in range(30)
    ]
    made = rebuilt_names([*_companies(), *twice], KEY)
    for company in twice:
        own = {made[company.entity, name] for name in company.names}
        cores = {name.removeprefix("株式会社").removesuffix("㈱") for name in own}
        assert len(own) == 3
        assert len(cores) == 1


def test_another_company_changes_few_of_the_others() -> None:
    made = rebuilt_names(_companies(), KEY)
    more = rebuilt_names([*_companies(), Company("new", "食品", ("新屋有限会社",))], KEY)
    assert sum(made[key] != more[key] for key in made) < COUNT // 20


def test_letter_case_is_dealt_with_the_form() -> None:
    names = [f"{'ACORN' if at % 2 else 'acorn'} works {at}".title() for at in range(100)]
    companies = [
        Company(f"e{at}", "foods", (name.upper() if at % 2 else name.lower(),))
        for at, name in enumerate(names)
    ]
    made = rebuilt_names(companies, KEY)
    same = sum(name.isupper() == new.isupper() for (_, name), new in made.items())
    assert all(new.isupper() or new.islower() for new in made.values())
    assert 30 < same < 70
