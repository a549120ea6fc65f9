"""Masking that would break a file refuses it, and says what would have changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import damage
from anonymization.documents.scopes import MaskingConfig, mask_paths
from anonymization.text.contracts import EntityType, Mode

_SQL = "CREATE TABLE berth (id INTEGER NOT NULL PRIMARY KEY, depth NUMERIC CHECK (depth > 0));"


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("a.py", "x = 'Ann'\n", "x = 'Eve'\n", ""),
        ("a.py", "x = 'Ann'\n", "x = 'Eve\n", "syntax"),
        ("a.py", "import bisect\nbisect\n", "import wadworth\nbisect\n", "imports"),
        ("a.py", "x.loc[A]\n", "x.loc['A']\n", "statements"),
        ("a.py", "x = (\n", "x = [\n", ""),  # broken before
        ("a.json", '{"a": [1, "Ann"]}', '{"a": [1, "Eve"]}', ""),
        ("a.json", '{"a": 1}', '{"a": "1"}', "types"),
        ("a.json", '{"a": 1, "b": 2}', '{"a": 1, "a": 2}', "types"),
        ("a.jsonl", '{"a": 1}\n{"a": null}\n', '{"a": 1}\n{"a": ""}\n', "types"),
        ("a.yaml", "port: 6379\n", "port: '6379'\n", "types"),
        ("a.toml", "[a]\nb = 1.5\n", "[a]\nb = 1\n", "types"),
        ("a.csv", "id,n\n1,2\n", "id,n\n1,2,3\n", "columns"),
        ("a.csv", "id,n\nK1,2\nK2,3\n", "id,n\nK7,2\nK7,3\n", "keys"),
        ("a.csv", "id,n\nK1,2\nK1,3\n", "id,n\nK7,2\nK7,x\n", "numbers"),
        ("a.csv", "id,n\nK1,2\nK2,3\n", "id,n\nK8,2\nK9,3\n", ""),
        ("a.sql", _SQL, _SQL.replace("INTEGER NOT NULL", "BROADMERE LANGHOPE"), "schema"),
        ("a.sql", _SQL, _SQL + "-- for Eve\n", ""),
        ("a.sql", "ATTACH 'x.db' AS y; CREATE TABLE t (a);", "CREATE TABLE t (b INTEGER);", ""),
        ("a.md", "# Ann", "# Eve", ""),
    ],
)
def test_what_is_no_longer_as_it_was(name: str, before: str, after: str, expected: str) -> None:
    assert damage(before, after, name) == expected


def test_deep_nesting_and_endless_scripts_are_not_judged() -> None:
    deep = "[" * 100_000
    assert damage(deep, deep + "]", "a.json") == ""
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
    )
    assert damage(f"CREATE TABLE t (a);{endless}", "CREATE TABLE t (b);", "a.sql") == ""


def test_aliases_that_multiply_and_blobs_that_grow_are_not_judged() -> None:
    levels = "".join(f"k{n + 1}: &k{n + 1} [{','.join([f'*k{n}'] * 9)}]\n" for n in range(8))
    aliases = f"k0: &k0 [x, x, x]\n{levels}"
    assert damage(aliases, aliases.replace("[x, x, x]", "[1, 2, 3]"), "a.yaml") == ""
    blob = "INSERT INTO t SELECT zeroblob(900000000);"
    assert damage(f"CREATE TABLE t (a); {blob}", "CREATE TABLE t (b INTEGER);", "a.sql") == ""


def test_a_file_that_masking_would_break_is_refused(tmp_path: Path) -> None:
    text = 'pebble = 1\nprint("pebble")\n'
    (tmp_path / "run.py").write_text(text)
    out, config = tmp_path / "out", MaskingConfig(mode=Mode.SURROGATE)
    (kept,) = mask_paths([tmp_path / "run.py"], out, bytes(32), config, 1)
    assert kept.refusal is None and (out / "files" / "run.py").read_text() == text
    (tmp_path / "use.py").write_text("import bisect\n")
    listed = ((EntityType.UNEXPLAINED, "bisect"),)
    (refused,) = mask_paths([tmp_path / "use.py"], tmp_path / "o2", bytes(32), config, 1, listed)
    assert (refused.refusal, refused.part) == (Refusal.DAMAGED, "imports")
    assert not (tmp_path / "o2" / "files" / "use.py").exists()


_API = """openapi: 3.0.0
paths:
  /x:
    get: {responses: {"404": {$ref: "#/components/responses/Gone"}}}
components:
  responses:
    Gone: {description: gone}
"""
_COMPOSE = """services:
  web: {image: web, depends_on: [db], networks: [inner]}
  db: {image: db, networks: [inner], environment: {NAME: "${DB_NAME}"}}
networks:
  inner: {driver: bridge}
"""
_SPRING = "datasource: {url: '${MYSQL_URL:jdbc:mysql://192.168.25.135/auth}', on: '${{ host }}'}\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "expected"),
    [
        (_API, "responses/Gone", "responses/Torn", "references"),
        (_API, "description: gone", "description: torn", ""),
        (_COMPOSE, "depends_on: [db]", "depends_on: [mallory]", "references"),
        (_COMPOSE, "networks: [inner]}\n  db", "networks: [outer]}\n  db", "references"),
        (_COMPOSE, "${DB_NAME}", "${XB_NAME}", "references"),
        (_COMPOSE, "image: web", "image: shop", ""),
        (_SPRING, "192.168.25.135", "10.7.1.2", ""),
        (_SPRING, "MYSQL_URL:", "REDIS_URL:", "references"),
        (_SPRING, "{ host }", "{ port }", "references"),
    ],
)
def test_references_lead_where_they_led(before: str, old: str, new: str, expected: str) -> None:
    assert damage(before, before.replace(old, new), "a.yaml") == expected
