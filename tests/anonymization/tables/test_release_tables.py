"""What is known of a table when its release is decided, and what stops it."""

from __future__ import annotations

import polars as pl
import pytest

from anonymization.tables import release_tables
from anonymization.tables.attacks.linked import Knowledge
from anonymization.tables.config import (
    AttackConfig,
    FidelityConfig,
    IdentifierKind,
    RiskLimits,
    UtilityLimits,
)
from anonymization.tables.gates import FidelityReason, RiskReason
from anonymization.tables.privacy_report import CONFIGURED, frontier, grid, measure
from anonymization.tables.pseudonym_mapping import Pseudonyms
from anonymization.tables.release_tables import (
    JudgedTable,
    _MeasuredTable,
    _original_identifiers,
    _parts_of,
    _pseudonym_attacks,
    judge_table,
    refusal,
)
from data.contracts import Status, Verdict
from tests.anonymization.tables.attacks.world import NOISE, world
from tests.anonymization.tables.build import KEY, company_config

CODES = {"C1": "C7", "C2": "C3", "C3": "C9"}
MADE = Pseudonyms({"id": CODES}, {}, {}, 1)
ORIGINAL = pl.DataFrame({"id": ["C2", "C1", None, "C3", " ", "C1"]})
RELEASED = pl.DataFrame({"id": ["C3", "C7", None, "C9", " ", "C7"]})


def test_original_identifiers_are_all_codes_that_are_nobodys_pseudonym() -> None:
    frames = {"t": ORIGINAL.with_columns(industry=pl.lit("steel"), year=pl.lit("2020"))}
    assert _original_identifiers(frames, {"t": company_config()}, MADE) == ["C1", "C2"]
    none = Pseudonyms({}, {}, {}, 0)
    assert _original_identifiers(frames, {"t": company_config()}, none) == ["C1", "C2", "C3"]


def test_a_name_that_a_kept_column_releases_is_no_identifier() -> None:
    rows = {"id": ["C1", "North"], "industry": ["North", "steel"], "year": ["2020", "2020"]}
    none = Pseudonyms({}, {}, {}, 0)
    names = _original_identifiers({"t": pl.DataFrame(rows)}, {"t": company_config()}, none)
    assert names == ["C1"]


def test_a_name_that_is_part_of_a_pseudonym_is_not_sought_but_a_whole_one_is() -> None:
    names = ["ELECOM CO.,LTD.", "辻商事株式会社", "Starreach Telecom Co., Ltd", "Okrana Ltd"]
    made = ["STARREACH TELECOM CO.,LTD", "柊辻商事株式会社", "OKRA NAUTICS LTD"]
    assert _parts_of(names, made) == {"ELECOM CO.,LTD.", "辻商事株式会社"}
    frame = ORIGINAL.with_columns(industry=pl.lit("steel"), year=pl.lit("2020"))
    named = Pseudonyms({}, {("C1", "n"): "AC1B"}, {}, 0)
    assert _original_identifiers({"t": frame}, {"t": company_config()}, named) == ["C1", "C2", "C3"]


def test_codes_are_attacked_with_the_key_the_seed_their_order_and_their_rows() -> None:
    config = company_config()
    tries = list(_pseudonym_attacks(ORIGINAL, RELEASED, config, MADE, KEY, 5))
    assert [attack.n for attack in tries] == [3] * 5  # neither the blank nor the missing code
    assert [(attack.name, attack.knows) for attack in tries] == [
        ("dictionary of 3 codes", Knowledge.KEY),
        ("dictionary of 3 codes", Knowledge.PUBLISHED),
        ("same order", Knowledge.WHOLE_POPULATION),
        ("most alike", Knowledge.WHOLE_POPULATION),
        ("row order", Knowledge.WHOLE_POPULATION),
    ]
    names = config.columns["id"].model_copy(update={"kind": IdentifierKind.NAME})
    named = config.model_copy(update={"columns": {**config.columns, "id": names}})
    assert list(_pseudonym_attacks(ORIGINAL, RELEASED, named, MADE, KEY, 5)) == []
    elsewhere = config.model_copy(update={"entity": "year"})
    assert len(list(_pseudonym_attacks(ORIGINAL, RELEASED, elsewhere, MADE, KEY, 5))) == 4
    empty = ORIGINAL.clear()
    assert list(_pseudonym_attacks(empty, empty, config, MADE, KEY, 5)) == []


def verdict(gate: str, status: Status, reason: str | None) -> Verdict:
    return Verdict(gate, status, reason, 0.5, 0.2, {"worst": "one company", "attack": "rank"})


def test_only_re_identification_must_have_been_measured() -> None:
    fidelity = verdict("fidelity", Status.UNVERIFIED, FidelityReason.NOTHING_ASSESSABLE)
    risk = verdict("re-identification", Status.UNVERIFIED, RiskReason.NOT_ATTACKED)
    drifted = verdict("fidelity", Status.FAILED, FidelityReason.DRIFTED)
    passed = verdict("re-identification", Status.PASSED, None)
    assert JudgedTable("t", (fidelity, passed), None).refused == ()
    assert JudgedTable("t", (fidelity, risk), None).refused == (risk,)
    assert JudgedTable("t", (drifted, passed), None).refused == (drifted,)


def test_causes_are_told_with_their_figures() -> None:
    risk = verdict("re-identification", Status.FAILED, RiskReason.ABOVE_LIMIT)
    drifted = verdict("fidelity", Status.FAILED, FidelityReason.DRIFTED)
    missing = verdict("re-identification", Status.UNVERIFIED, RiskReason.NOT_ATTACKED)
    assert [release_tables._cause(each) for each in (risk, drifted)] == [
        "re-identification: 0.500 found, limit 0.2 (one company, by rank)",
        "fidelity: 0.500 of columns and industries drifted, limit 0.2",
    ]
    assert "switch [tables.attacks] assignment on" in release_tables._cause(missing)


def test_a_table_without_measures_has_no_verdicts() -> None:
    judged = judge_table(_MeasuredTable("t", (), ()), RiskLimits(), UtilityLimits())
    assert judged == JudgedTable("t", (), None)


@pytest.mark.parametrize("limit", [1.0, 0.0])
def test_a_table_is_judged_by_the_setting_as_configured(limit: float) -> None:
    frame, released, config = world(NOISE)
    attacks, loose = AttackConfig(known=("people", "assets")), FidelityConfig(max_beyond=1)
    own = measure(CONFIGURED, frame, released, config, attacks, loose)
    limits = RiskLimits(one_company=limit, whole_industry=1, history=1, largest=1)
    judged = judge_table(_MeasuredTable("t", (own,), ()), limits, UtilityLimits())
    assert judged.verdicts[0] == own.fidelity
    assert judged.privacy is not None and judged.privacy.frontier == [own.point(3)]
    assert [each.gate for each in judged.refused] == ([] if limit else ["re-identification"])
    if judged.refused:
        message = refusal(judged)
        assert message.startswith("t: re-identification: ") and "would pass (of 1 tried)" in message
    points = frontier(frame, {CONFIGURED: grid(config)[CONFIGURED]}, KEY, attacks, 3, loose)
    assert points[0].setting == judged.privacy.frontier[0].setting
