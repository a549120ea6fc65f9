"""`benchmint lane analytics` and `benchmint lint`: the demo from declaration to checked gold."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from benchmarks.analysts import ANALYSTS, measured, predicted
from construction.analytics.environment.declaration import read_declaration
from construction.analytics.environment.variants import VARIANTS
from construction.analytics.task_files import read_gold
from data.canonical import file_digest
from data.errors import ConfigError
from flows.environments import refuse_shared, source_digests, tables_recipe
from tests.flows.command import inline

pytestmark = pytest.mark.slow(seconds=1)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analytics") / "out"
    run_command("lane", "analytics", "--out", str(folder))
    return folder


def run_command(*arguments: str, code: int = 0) -> str:
    result = inline(*arguments)
    assert result.returncode == code, result.stderr
    return result.stdout


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_demo_has_tasks_of_all_categories(out: Path) -> None:
    tasks = [json.loads(line) for line in (out / "public/tasks.jsonl").read_text().splitlines()]
    assert len(tasks) >= 20
    assert len({task["category"] for task in tasks}) == 7
    assert {task["language"] for task in tasks} == {"en", "zh"}
    assert set(tasks[0]) == {
        "task_id",
        "category",
        "difficulty",
        "difficulty_rule",
        "language",
        "prompt",
    }


def test_the_same_key_gives_the_same_files(out: Path, tmp_path: Path) -> None:
    key = out / "private/release.key"
    run_command("lane", "analytics", "--out", str(tmp_path / "again"), "--key", str(key))
    assert digests(tmp_path / "again/public") == digests(out / "public")
    assert digests(tmp_path / "again/private/analytics") == digests(out / "private/analytics")


def test_no_original_name_or_gold_is_in_the_public_half(out: Path) -> None:
    accounts = pl.read_csv(out / "demo/enterprise/annual_accounts.csv", infer_schema=False)
    names = set(accounts["name"]) | set(accounts["reg_no"])
    released = pl.read_csv(
        out / "public/environment/raw/enterprise/annual_accounts.csv", infer_schema=False
    )
    assert not set(accounts["name"]) & set(released["name"])
    texts = [path.read_text() for path in (out / "public").rglob("*.jsonl")]
    assert not any(name in text for name in names for text in texts)
    assert '"program"' not in "".join(texts)


def test_lint_runs_every_gold_anew_and_names_a_wrong_one(out: Path, tmp_path: Path) -> None:
    assert "0 defects" in run_command("lint", str(out))
    private = out / "private/analytics/gold.jsonl"
    kept = private.read_bytes()
    lines = [json.loads(line) for line in kept.splitlines()]
    lines[3]["answers"][0]["value"] = "7"
    private.write_text("\n".join(map(json.dumps, lines)))
    try:
        result = run_command("lint", str(out), code=1)
    finally:
        private.write_bytes(kept)
    assert f"{lines[3]['task_id']}: " in result
    assert "the gold is not what the steps give" in result


def test_lint_names_gold_beside_another_public_list(out: Path) -> None:
    public = out / "public/tasks.jsonl"
    kept = public.read_bytes()
    public.write_bytes(b"".join(kept.splitlines(keepends=True)[1:]) + b"{}\n")
    try:
        result = run_command("lint", str(out), code=1)
        public.unlink()
        missing = inline("lint", out)
    finally:
        public.write_bytes(kept)
    assert "the public list shows it otherwise or not" in result
    assert "tasks.jsonl: 1 lines are of no gold" in result
    assert missing.returncode == 2
    assert "found no such file; expected the public list beside the gold" in missing.stderr


def test_a_set_without_records_is_no_good_set(out: Path, tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text("[]")
    assert "found no record" in inline("lint", path).stderr
    path.write_text("\n")
    assert "found no record" in inline("lint", path, "--run", out).stderr


def test_the_original_of_an_anonymized_file_does_not_leave(out: Path, tmp_path: Path) -> None:
    text = (out / "demo/environment.toml").read_text()
    again = 'path = "enterprise/annual_accounts.csv"'
    wrong = tmp_path / "environment.toml"
    wrong.write_text(text.replace('path = "other/weather.csv"', again))
    result = inline("lane", "analytics", wrong, "--files", out / "demo", "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "annual_accounts.csv: found the original of accounts" in result.stderr
    assert not (tmp_path / "out/public").exists()


def test_an_original_in_another_dress_does_not_leave(out: Path, tmp_path: Path) -> None:
    """Rows in another order, with other delimiters, line ends and encoding are the same rows."""
    files = tmp_path / "demo"
    shutil.copytree(out / "demo", files)
    header, *rows = (files / "enterprise/annual_accounts.csv").read_text().splitlines()
    lines = [line.replace(",", ";") for line in (header, *reversed(rows))]
    (files / "other/weather.csv").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    declared = files / "environment.toml"
    result = inline("lane", "analytics", declared, "--files", files, "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "weather.csv: found the original of accounts" in result.stderr


def test_a_second_run_that_breaks_off_leaves_the_first_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run_command("lane", "analytics", "--out", str(out))
    halves = (out / "public", out / "private/analytics")
    before = [digests(half) for half in halves]

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr("construction.analytics.task_files.write_gold", broken)
    result = inline("lane", "analytics", "--out", out)
    assert result.returncode != 0
    assert [digests(half) for half in halves] == before


def test_a_gold_that_stands_twice_is_a_fault(out: Path, tmp_path: Path) -> None:
    line = (out / "private/analytics/gold.jsonl").read_bytes().splitlines(keepends=True)[0]
    path = tmp_path / "records.jsonl"
    path.write_bytes(line * 2)
    result = inline("lint", path, "--run", out)
    assert "the same ID as an earlier record" in result.stdout
    assert "2 tasks: 1 defects" in result.stdout


def test_lint_reads_foreign_records(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(json.dumps([{"id": "x", "question": "?", "guidelines": "", "answer": ""}]))
    assert "x: answer.empty: no value" in run_command("lint", str(path), code=1)


def test_analysts_score_on_each_variant_what_was_predicted(out: Path) -> None:
    declaration = read_declaration(out / "demo/environment.toml")
    tasks = read_gold(out / "private/analytics")
    environment = out / "public/environment"
    for analyst in ANALYSTS:
        for variant in VARIANTS:
            score = measured(
                analyst, tasks, variant, declaration, {"accounts", "register"}, environment
            )
            assert score == pytest.approx(predicted(analyst, tasks, variant)), analyst.name
    assert all(predicted(analyst, tasks, "raw") < 1 for analyst in ANALYSTS[1:])


def test_a_source_serves_one_lane(out: Path) -> None:
    root = out / "demo"
    declaration = read_declaration(root / "environment.toml")
    own = source_digests(declaration, root)
    refuse_shared(own, {"sec": "0" * 64})
    with pytest.raises(ConfigError, match=r"register\.csv: found the source edinet"):
        refuse_shared(own, {"edinet": own["enterprise/register.csv"]})


def test_rows_do_not_stand_in_the_order_of_the_originals(out: Path) -> None:
    path = "enterprise/annual_accounts.csv"
    original = pl.read_csv(out / "demo" / path, infer_schema=False)
    released = pl.read_csv(out / "public/environment/raw" / path, infer_schema=False)
    same = (original["industry"] == released["industry"]) & (
        original["province"] == released["province"]
    )
    assert original.height == released.height
    assert same.sum() < 0.3 * original.height
    assert released["reg_no"].is_sorted()


def test_what_the_risk_gate_refuses_does_not_become_public(out: Path, tmp_path: Path) -> None:
    text = (out / "demo/environment.toml").read_text()
    strict = tmp_path / "environment.toml"
    strict.write_text(text.replace("history = 1.0", "history = 0.1"))
    into = tmp_path / "out"
    result = inline("lane", "analytics", strict, "--files", out / "demo", "--out", into)
    assert result.returncode == 1
    assert "refused, nothing is public: accounts: re-identification" in result.stderr
    assert not (into / "public").exists()
    assert "0 defects" in run_command("lint", str(into))


def test_an_anonymized_file_needs_roles(out: Path) -> None:
    declaration = read_declaration(out / "demo/environment.toml")
    tables = dict(declaration.anonymize["tables"])
    tables.pop("register")
    with pytest.raises(ConfigError, match="register"):
        tables_recipe(declaration.model_copy(update={"anonymize": {"tables": tables}}))
