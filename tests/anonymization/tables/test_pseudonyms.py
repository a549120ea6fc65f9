"""Codes, names in three languages, and both inside text.

Legal forms, spaces and letter case are dealt anew, and still vary as they did.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from anonymization.tables.config import ColumnConfig, ColumnRole, IdentifierKind, TableConfig
from anonymization.tables.pseudonym_mapping import (
    _replaced,
    make_pseudonyms,
    permuted_codes,
    pseudonymize,
)
from anonymization.tables.pseudonym_names import (
    CLOSE,
    Company,
    Language,
    _normal,
    dissect,
    lexicon,
    rebuilt_names,
)
from data.errors import InputError
from tests.anonymization.tables.build import KEY

_CODES = st.lists(st.from_regex(r"\A(?:[0-9]{4}|[0-9]{3}[A-Z]|[a-z]{2}-[0-9]{9})\Z"), max_size=40)


@settings(max_examples=50)
@given(_CODES)
def test_codes_are_permuted_into_the_most_common_shape(codes: list[str]) -> None:
    made = permuted_codes(codes, KEY, "stock").new
    assert set(made) == set(codes)
    assert len(set(made.values())) == len(made)
    assert not set(made.values()) & set(codes)
    counts = Counter(shape(code) for code in set(codes))
    assert {shape(new) for new in made.values()} <= {
        form for form, count in counts.items() if count == max(counts.values())
    }
    assert len({shape(new) for new in made.values()}) <= 1


def shape(code: str) -> str:
    return "".join("9" if a.isdigit() else "A" if a.isupper() else "a" for a in code)


def test_a_code_of_a_shape_of_its_own_is_not_known_by_it() -> None:
    draw = np.random.default_rng(3)
    codes = [f"{int(number):08x}" for number in draw.integers(0, 2**32, 60)]
    assert len({shape(code) for code in codes}) > 30
    made = permuted_codes(codes, KEY, "id")
    assert len({shape(new) for new in made.new.values()}) == 1
    assert len(set(made.new.values())) == 60
    assert made.clashes == 0
    assert permuted_codes(reversed(codes), KEY, "id") == made
    others = permuted_codes(codes, bytes(32), "id").new
    assert sum(others[code] == made.new[code] for code in codes) < 3


def test_codes_keep_their_shapes_where_no_shape_has_room_for_all() -> None:
    codes = [*(str(digit) for digit in range(10)), "A", "B", "C", "D", "E"]
    made = permuted_codes(codes, KEY, "digit").new
    assert {shape(old) == shape(new) for old, new in made.items()} == {True}


def test_a_full_space_is_permuted_and_its_clashes_are_told() -> None:
    codes = [str(digit) for digit in range(10)]
    made = permuted_codes(codes, KEY, "digit")
    assert sorted(made.new.values()) == codes
    assert made.clashes == 10


def test_dense_runs_of_codes_find_room_elsewhere() -> None:
    codes = [f"{n:04d}" for n in range(1000, 4900)]
    made = permuted_codes(codes, KEY, "stock")
    assert made.clashes == 0
    assert len(set(made.new.values())) == len(codes)


def test_prefix_stays_and_is_required() -> None:
    assert permuted_codes(["E00001"], KEY, "e", "E").new["E00001"].startswith("E")
    with pytest.raises(InputError, match="without it"):
        permuted_codes(["X1"], KEY, "e", "E")


def test_dropping_other_codes_changes_nothing_where_none_clash() -> None:
    codes = [f"{n:09d}" for n in range(0, 9_000, 7)]
    whole, some = permuted_codes(codes, KEY, "id").new, permuted_codes(codes[:5], KEY, "id").new
    assert some.items() <= whole.items()


@pytest.mark.parametrize(
    ("name", "core", "language"),
    [
        ("株式会社　青空商店", "青空商店", Language.JA),
        ("青空商店ホールディングス㈱", "青空商店", Language.JA),
        ("蓝湖电子股份有限公司", "蓝湖电子", Language.ZH),
        ("BLUE LAKE FOODS CO., LTD.", "BLUE LAKE FOODS", Language.EN),
        ("Blue Lake Holdings, Inc", "Blue Lake", Language.EN),
        ("Incline Ltd", "Incline", Language.EN),
        ("Group", "Group", Language.EN),
    ],
)
def test_dissect(name: str, core: str, language: Language) -> None:
    actual = dissect(name, Language.ZH)
    assert (actual.core, actual.language) == (core, language)
    assert actual.before + actual.core + actual.after == name


def _companies(count: int) -> list[Company]:
    heads, tails = lexicon().first, lexicon().second
    made = []
    for at in range(count):
        a, b = heads[at % len(heads)], tails[(at * 7 + at // len(heads)) % len(tails)]
        en = f"{a[Language.EN]}{b[Language.EN]} Real{at} Corp."
        zh = f"{a[Language.ZH]}{b[Language.ZH]}真{at}股份有限公司"
        made.append(Company(f"c{at}", "电子" if at % 2 else "小売業", (en, zh)))
    return made


@pytest.mark.full
@pytest.mark.slow
def test_ten_thousand_companies_without_a_collision() -> None:
    companies = _companies(10_000)
    made = rebuilt_names(companies, KEY)
    assert len({_normal(name) for name in made.values()}) == len(made) == 20_000
    assert not {_normal(n) for n in made.values()} & {_normal(name) for _, name in made}


_ALIASES = ("青空食品株式会社", "AOZORA FOODS CO., LTD.", "AOZORA", "AF", "青空食品㈱")


def test_names_are_unique_far_from_real_ones_and_keep_their_forms() -> None:
    companies = [
        *_companies(300),
        Company(
            "x",
            "食品",
            _ALIASES,
        ),
    ]
    made = rebuilt_names(companies, KEY)
    own = {name: new for (entity, name), new in made.items() if entity == "x"}
    assert own["青空食品株式会社"].removesuffix("株式会社") == own["青空食品㈱"].removesuffix("㈱")
    assert own["AOZORA FOODS CO., LTD."].endswith(" CO., LTD.")
    assert own["AOZORA FOODS CO., LTD."].isupper()
    assert own["AOZORA FOODS CO., LTD."].startswith(own["AOZORA"])
    assert own["AF"].isupper() and own["AF"].isascii() and len(own["AF"]) <= 5
    cores = {key: _normal(dissect(new, Language.ZH).core) for key, new in made.items()}
    assert len({c for (e, n), c in cores.items() if n != "青空食品㈱"}) == len(made) - 1
    real = sorted({_normal(dissect(name, Language.ZH).core) for _, name in made})
    for core in sorted({core for core in cores.values() if len(core) > 4}):
        assert max(fuzz.ratio(core, other) for other in real) < CLOSE


def test_names_do_not_depend_on_order_and_differ_by_key() -> None:
    companies = _companies(40)
    made = rebuilt_names(companies, KEY)
    assert rebuilt_names(companies[::-1], KEY) == made
    other = rebuilt_names(companies, bytes(32))
    assert sum(made[key] == other[key] for key in made) < 3


def test_text_is_replaced_in_one_pass_longest_first_at_word_ends() -> None:
    new = {
        "Sun": "Moon",
        "Sun Foods": "Oak Mills",
        "Moon": "Star",
        "青空": "玉原",
        "青空食品": "杉城食品",
    }
    texts = pl.Series(["Sunday at sun foods, not Sun.", "青空食品と青空", None, "Moon"])
    got, count = _replaced(texts, new)
    assert got.to_list() == ["Sunday at Oak Mills, not Moon.", "杉城食品と玉原", None, "Star"]
    assert count == 5


def test_one_mapping_for_tables_and_narratives() -> None:
    name = ColumnConfig(role=ColumnRole.IDENTIFIER, kind=IdentifierKind.NAME)
    code = ColumnConfig(role=ColumnRole.IDENTIFIER, prefix="S")
    table = pl.DataFrame(
        {
            "code": ["S00001", "S00002"],
            "name": ["蓝湖电子股份有限公司", None],
            "en": ["Blue Lake Corp.", " "],
        }
    )
    said = pl.DataFrame({"code": ["S00001"], "text": ["蓝湖电子（Blue Lake，S00001）"]})
    text = ColumnConfig(role=ColumnRole.FREE_TEXT)
    configs = (
        TableConfig(columns={"code": code, "name": name, "en": name}, entity="code"),
        TableConfig(columns={"code": code, "text": text}, entity="code"),
    )
    pseudonyms = make_pseudonyms(list(zip((table, said), configs, strict=True)), KEY)
    item, two = (
        pseudonymize(*pair, pseudonyms).frame for pair in zip((table, said), configs, strict=True)
    )
    assert item["name"][1] is None and item["en"][1] == " "
    core, en = item["name"][0].removesuffix("股份有限公司"), item["en"][0].removesuffix(" Corp.")
    assert two.row(0) == (item["code"][0], f"{core}（{en}，{item['code'][0]}）")
    assert "蓝湖" not in core and "Blue Lake" not in en


COUNT = 400


def _dressed_companies() -> list[Company]:
    """Half with the legal form in front; every second of these with a wide space behind it."""
    heads = ("株式会社　", "", "株式会社", "")
    return [
        Company(f"c{at:03d}", "食品", (f"{heads[at % 4]}丸{at}屋{'' if heads[at % 4] else '㈱'}",))
        for at in range(COUNT)
    ]


def test_the_legal_form_of_a_pseudonym_says_nothing_about_the_company() -> None:
    made = rebuilt_names(_dressed_companies(), KEY)
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
    made = rebuilt_names([*_dressed_companies(), *twice], KEY)
    for company in twice:
        own = {made[company.entity, name] for name in company.names}
        cores = {name.removeprefix("株式会社").removesuffix("㈱") for name in own}
        assert len(own) == 3
        assert len(cores) == 1


def test_another_company_changes_few_of_the_others() -> None:
    made = rebuilt_names(_dressed_companies(), KEY)
    more = rebuilt_names([*_dressed_companies(), Company("new", "食品", ("新屋有限会社",))], KEY)
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
