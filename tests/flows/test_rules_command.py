"""`benchmint agents rules`, on the files that a release holds."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner, Result

from construction.judging.baseline.grade import _hard_rules
from data.contracts import Candidate, Deliverable
from data.errors import InputError
from data.snapshot.tasks import private_parts
from flows.commands.agents import rules_check_command
from tests.data.snapshot.sample import Store, candidate
from tests.demo import Demo
from tests.flows.command import benchmint

app = typer.Typer()
app.command()(rules_check_command)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def put(task: Candidate, folder: Path) -> Path:
    """The private part of a task, as a release has it."""
    folder.mkdir()
    for name, content in private_parts(task, "a-guid").items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def task(tmp_path: Path) -> Path:
    requests = Deliverable(file_type="txt")
    made = candidate(1, Store(tmp_path / "store"))
    return put(made.model_copy(update={"rules": _hard_rules([requests], "")}), tmp_path / "task")


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    return folder


def test_a_released_folder_and_its_file_are_taken(task: Path, outputs: Path) -> None:
    (outputs / "answer.txt").write_text("The orders add up to 42.\n")
    for position in (task, task / "rules.json"):
        result = run(position, outputs)
        assert (result.exit_code, result.exception) == (0, None)
        assert "pass  count.txt" in result.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "meant", "said"),
    [
        ("q-revenue-01", "q-revenue-01", None),
        ("q-rev", "q-revenue-01", None),
        ("q-", None, "found 2 tasks that begin so; expected one of its 2 tasks. Did you mean q-"),
        ("q-revenues-01", None, "found no such task; expected one of its 2 tasks. Did you mean q-"),
        ("zzz", None, "found no such task; expected one of its 2 tasks. List them: ls "),
    ],
)
def test_a_task_is_named_by_its_id_or_the_beginning_of_it(
    typed: str, meant: str | None, said: str | None, outputs: Path, tmp_path: Path
) -> None:
    (tmp_path / "out/private").mkdir(parents=True)
    put(candidate(1, Store(tmp_path / "store")), tmp_path / "out/private/q-margin-02")
    rules = _hard_rules([Deliverable(file_type="txt")], "")
    made = candidate(2, Store(tmp_path / "store2")).model_copy(update={"rules": rules})
    put(made, tmp_path / "out/private/q-revenue-01")
    result = run(typed, outputs, "--snapshot", tmp_path / "out")
    if meant is None:
        assert isinstance(result.exception, InputError)
        assert said is not None and said in str(result.exception)
    else:
        assert "FAIL  count.txt" in result.stdout


def test_what_fails_is_told_with_its_reason(task: Path, outputs: Path) -> None:
    result = run(task, outputs, "--json")
    assert result.exit_code == 1
    failed = {row["rule_id"]: row["reason"] for row in orjson.loads(result.stdout) if row["reason"]}
    assert failed["count.txt"] == "rules.missing_file"


@pytest.mark.parametrize(
    ("content", "actual"),
    [
        (b"{", r"no rules \(JSONDecodeError\)"),
        (b'{"canary": "a-guid"}', r"no rules \(KeyError\)"),
        (b'{"rules": [{"kind": "count", "text": "x"}]}', "1 error;"),
        (b'{"rules": 7}', "1 error;"),
        (b'[{}, {"rule_id": "x"}]', "5 errors;"),
    ],
)
def test_what_holds_no_rules_is_told(
    content: bytes, actual: str, outputs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "rules.json"
    path.write_bytes(content)
    result = run(path, outputs)
    assert isinstance(result.exception, InputError)
    with pytest.raises(InputError, match=rf"rules\.json: found {actual}"):
        raise result.exception


def test_a_task_without_hard_rules_says_so(outputs: Path, tmp_path: Path) -> None:
    folder = put(candidate(2, Store(tmp_path / "store")), tmp_path / "task")
    result = run(folder, outputs)
    assert str(result.exception) == (
        f"{folder}: found no rules.json; expected a task with hard rules. "
        "This task has none to check."
    )


@pytest.mark.slow
def test_every_released_task_with_rules_can_be_checked(demo: Demo, tmp_path: Path) -> None:
    private = demo.out / "snapshots/latest/private"
    files = sorted(private.glob("*/rules.json"))
    assert len(files) > 10
    result = benchmint("agents", "rules", files[0].parent, tmp_path)
    assert (result.returncode, result.stderr) == (1, "")
    for path in files:
        rows = orjson.loads(run(path.parent, tmp_path, "--json").stdout)
        released = orjson.loads(path.read_bytes())["rules"]
        assert [row["rule_id"] for row in rows] == [rule["rule_id"] for rule in released]
