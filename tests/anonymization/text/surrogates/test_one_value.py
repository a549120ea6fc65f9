"""One value has one surrogate, whatever kinds it is taken for, and joins hold."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from anonymization.documents.scopes import FILES, MaskingConfig, mask_paths
from anonymization.text.contracts import EntityType as T
from tests.anonymization.text.surrogates.test_make import surrogates


def test_kinds_share_a_surrogate() -> None:
    kinds = (T.UNEXPLAINED, T.PERSON_NUMBER, T.ACCOUNT, T.CASE_NUMBER)
    made = surrogates(*((kind, "FER-0417") for kind in kinds))
    (new,) = {made.of(kind, "FER-0417") for kind in kinds}
    assert new.startswith("FER-") and len(new) == len("FER-0417") and new != "FER-0417"


def test_numbers_keep_prefix_and_length_and_stay_apart() -> None:
    values = [f"K{number:03d}" for number in range(60)]
    made = surrogates(*((T.PERSON_NUMBER, value) for value in values))
    new = [made.of(T.PERSON_NUMBER, value) for value in values]
    assert len(set(new)) == len(values)
    assert all(made_id[0] == "K" and len(made_id) == 4 and made_id[1:].isdigit() for made_id in new)


def test_a_join_of_two_files_gives_the_rows_it_gave(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    ids = [f"CUS-{number}" for number in (502, 614, 777)]
    (folder / "customers.csv").write_text(
        "customer_id,name\n" + "".join(f"{number},Marguerite Oduya\n" for number in ids)
    )
    orders = [{"customer_id": number, "total": 5} for number in (ids[0], ids[2], ids[0])]
    note = {"orders": orders, "note": f"See {ids[0]} and {ids[1]} again."}
    (folder / "orders.json").write_text(json.dumps(note))
    mask_paths([folder], tmp_path / "out", bytes(32), MaskingConfig(), 1)
    files = tmp_path / "out" / FILES / "in"
    rows = list(csv.DictReader(io.StringIO((files / "customers.csv").read_text())))
    new = [row["customer_id"] for row in rows]
    read = json.loads((files / "orders.json").read_text())
    assert [new.index(order["customer_id"]) for order in read["orders"]] == [0, 2, 0]
    assert set(new).isdisjoint(ids) and f"{new[0]} and {new[1]}" in read["note"]


def test_a_roster_has_one_name_per_person_in_each_of_its_columns(tmp_path: Path) -> None:
    people = [("Brinkhurst", "Oriel"), ("Sallowfield", "Tamar"), ("Quennell", "Idris")]
    lines = ["Legal Name,Preferred Last Name,Work Email"]
    lines += [f'"{f}, {g}",{f},{g.lower()}.{f.lower()}@wexcombe.org' for f, g in people]
    (tmp_path / "roster.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = MaskingConfig()
    mask_paths([tmp_path / "roster.csv"], tmp_path / "out", bytes(32), config, 1)
    (made,) = (tmp_path / "out" / FILES).rglob("*.csv")
    rows = list(csv.DictReader(io.StringIO(made.read_text(encoding="utf-8"))))
    for row, (old, _) in zip(rows, people, strict=True):
        family, given = row["Legal Name"].split(", ")
        assert family == row["Preferred Last Name"] != old
        assert row["Work Email"].split("@")[0] == f"{given}.{family}".lower()
