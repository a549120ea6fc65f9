"""`benchmint release errata`: stored attempts are graded anew, and what everybody sees says why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson
import polars as pl
import pytest
import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from data.attempts import AttemptRecord, attempt_id_of, write_attempt
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.errors import InputError
from data.releases.tasks import read_tasks
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from flows.commands.evaluate import grade_command
from flows.commands.leaderboard import leaderboard_command
from flows.commands.releases import errata_command, verify_command
from tests.data.snapshot.sample import release
from tests.flows.command import invoked

app = typer.Typer()
app.command(name="errata")(errata_command)
app.command(name="grade")(grade_command)
app.command(name="leaderboard")(leaderboard_command)
app.command(name="verify")(verify_command)

CONFIGURATIONS = ("careful", "hasty")


run = partial(invoked, app)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "signer"
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    return path


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Tasks whose only grader is one number."""
    given = release(tmp_path)
    tasks = [
        candidate.model_copy(update={"rules": (), "deliverables": ()})
        for candidate in given.candidates
    ]
    return write_snapshot(replace(given, candidates=tasks), tmp_path / "out").path


@pytest.fixture
def attempts(snapshot: Path, tmp_path: Path) -> Path:
    return made_attempts(snapshot, tmp_path / "attempts")


def made_attempts(snapshot: Path, folder: Path) -> Path:
    """`careful` answers as the release expects, `hasty` answers 12345 everywhere; all graded."""
    tasks = read_tasks(snapshot)
    for name in CONFIGURATIONS:
        for task_id in tasks.tasks:
            expected = tasks.grading(task_id)["answers"][0]["value"]
            said = expected if name == "careful" else "12345"
            attempt = Attempt(
                attempt_id_of(tasks.digest, task_id, name, 1), tasks.digest, task_id,
                Configuration(name, "h", "m"), 1,
                AttemptStatus.COMPLETED, None, 1, Usage(), 1.0, 0, "d" * 64,
            )  # fmt: skip
            write_attempt(folder / name, AttemptRecord(attempt, Submission(answer=said)))
    grade(snapshot, folder)
    return folder


def grade(snapshot: Path, attempts: Path) -> str:
    return "".join(run("grade", attempts / name, "--snapshot", snapshot) for name in CONFIGURATIONS)


def corrected(snapshot: Path, task_id: str, value: str, tmp_path: Path) -> Path:
    """An edited copy of the answers of a task, as the docs say."""
    content = orjson.loads((snapshot / "private" / task_id / "answers.json").read_bytes())
    content["answers"][0]["value"] = value
    path = tmp_path / "answers.json"
    path.write_bytes(orjson.dumps(content))
    return path


def board(snapshot: Path, attempts: Path, out: Path) -> tuple[str, dict[str, float], pl.DataFrame]:
    said = run("leaderboard", snapshot, "--attempts", attempts, "--out", out)
    frame = pl.read_parquet(out / "leaderboard.parquet")
    return said, dict(frame.select("configuration", "passed").iter_rows()), frame


def test_errata_reach_the_leaderboard_without_running_an_agent(
    snapshot: Path, attempts: Path, key: Path, tmp_path: Path
) -> None:
    first, second, *rest = sorted(read_tasks(snapshot).tasks)
    _, rates, _ = board(snapshot, attempts, tmp_path / "before")
    assert rates == {"careful": 1.0, "hasty": 0.0}
    before = verify(snapshot)

    run("errata", snapshot, "--withdraw", first, "--reason", "Two weeks are meant.", "--key", key)
    fields = corrected(snapshot, second, "12345", tmp_path)
    said = run(
        "errata", snapshot, "--correct", second, "--fields", fields,
        "--reason", "The sum left out <b>returns</b>.", "--key", key,
    )  # fmt: skip
    assert f"{first} is withdrawn" in said and f"{second} is graded with corrected answers" in said
    assert verify(snapshot) == before
    assert "errata signed by SHA256:" in run("verify", snapshot)

    with pytest.raises(InputError, match="scores older than the current errata"):
        board(snapshot, attempts, tmp_path / "stale")
    assert grade(snapshot, attempts).count("withdrawn by errata, not counted: 1") == 2
    said, rates, frame = board(snapshot, attempts, tmp_path / "after")
    n = len(rest) + 1
    assert rates == {"careful": pytest.approx(len(rest) / n), "hasty": pytest.approx(1 / n)}
    assert set(frame["tasks"]) == {n}
    assert set(frame["withdrawn"]) == set(frame["corrected"]) == {1}
    assert f"- {first} is withdrawn and not counted" in said
    for ending in ("html", "md"):
        text = (tmp_path / "after" / f"leaderboard.{ending}").read_text()
        assert "Two weeks are meant." in text and "<b>returns" not in text
    assert ",withdrawn,corrected" in (tmp_path / "after" / "leaderboard.csv").read_text()


def test_an_erratum_can_be_replaced_and_printed(snapshot: Path, key: Path, tmp_path: Path) -> None:
    assert run("errata", snapshot).endswith(": no errata\n")
    task = min(read_tasks(snapshot).tasks)
    fields = corrected(snapshot, task, "12345", tmp_path)
    correct = ("errata", snapshot, "--correct", task, "--fields", fields, "--key", key)
    run(*correct, "--reason", "Returns were counted.")
    withdraw = ("errata", snapshot, "--withdraw", task, "--key", key, "--reason", "Not one answer.")
    with pytest.raises(InputError, match="which is already corrected"):
        run(*withdraw)
    with pytest.raises(InputError, match=f"an answer for {task}"):
        run(*withdraw[:-1], "It is 12,345 or another.", "--replace")
    run(*withdraw, "--replace")
    said = run("errata", snapshot)
    assert f"{task} is withdrawn" in said and "corrected" not in said
    run(*correct, "--replace", "--reason", "Returns were counted after all.")
    assert read_tasks(snapshot).grading(task)["answers"][0]["value"] == "12345"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--withdraw", "t-none", "--reason", "r", "--key", "K"], "not a task in demo-2026.07.01"),
        (["--withdraw", "TASK", "--key", "K"], "a missing option"),
        (["--withdraw", "TASK", "--reason", "r"], "a missing option"),
        (["--withdraw", "TASK", "--reason", "a\nb", "--key", "K"], "no printable text"),
        (["--correct", "TASK", "--reason", "r", "--key", "K"], "a missing option"),
        (
            ["--correct", "TASK", "--withdraw", "TASK", "--reason", "r", "--key", "K"],
            "which is also in --withdraw",
        ),
        (
            ["--correct", "TASK", "--fields", "FIELDS", "--reason", "it is 12345", "--key", "K"],
            "an answer for t-",
        ),
        (
            ["--correct", "TASK", "--fields", "SAME", "--reason", "r", "--key", "K"],
            "nothing that differs",
        ),
        (
            ["--correct", "TASK", "--fields", "BROKEN", "--reason", "r", "--key", "K"],
            "fields that cannot grade",
        ),
        (["--correct", "TASK", "--fields", "K", "--reason", "r", "--key", "K"], "a JSON object"),
    ],
)
def test_misuse_is_an_error_of_one_line_and_writes_nothing(
    snapshot: Path, key: Path, tmp_path: Path, options: list[str], problem: str
) -> None:
    task = min(read_tasks(snapshot).tasks)
    broken = tmp_path / "broken.json"
    broken.write_text('{"answers": [{"part": 1}]}')
    values = {
        "K": key,
        "TASK": task,
        "FIELDS": corrected(snapshot, task, "12345", tmp_path),
        "SAME": snapshot / "private" / task / "answers.json",
        "BROKEN": broken,
    }
    with pytest.raises(InputError, match=problem) as caught:
        run("errata", snapshot, *(values.get(option, option) for option in options))
    assert "\n" not in str(caught.value)
    assert not list(snapshot.parent.glob("*.errata*"))
