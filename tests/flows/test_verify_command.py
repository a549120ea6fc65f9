"""What `benchmint verify` prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from data.releases.tasks import read_tasks
from data.snapshot.writer import write_snapshot
from flows.commands.releases import verify_command
from tests.data.snapshot.damage import edit_json
from tests.data.snapshot.sample import release

app = typer.Typer()
app.command()(verify_command)


def printed(folder: Path) -> tuple[int, list[str]]:
    result = CliRunner().invoke(app, [str(folder)])
    return result.exit_code, result.stdout.splitlines()


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return write_snapshot(release(tmp_path, 3), tmp_path / "out").path


def test_a_folder_or_file_of_another_kind_is_called_no_snapshot(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for position in (tmp_path, tmp_path / "file"):
        code, lines = printed(position)
        assert (code, len(lines)) == (1, 2)
        assert lines[0].startswith(f"snapshot.not_one: {position.name}: found no ")
        assert lines[1] == f"{position}: no snapshot"


def test_the_digest_that_attempts_and_exports_state_is_printed(snapshot: Path) -> None:
    line = f"digest of the public half {read_tasks(snapshot).digest}"
    assert printed(snapshot)[1][-2:] == [line, "unsigned"]
    assert printed(snapshot / "public")[1][-2:] == [line, "unsigned"]


def test_one_finding_is_one(snapshot: Path) -> None:
    named = f"demo-2026.07.01 ({snapshot.resolve()})"
    assert printed(snapshot)[1][0] == f"{named}: 2 tasks, 42 files, both halves: verified"
    (snapshot / "notes").touch()
    code, lines = printed(snapshot)
    assert code == 1
    assert lines[0] == "snapshot.not_part: notes: not part of a snapshot"
    assert lines[1] == f"{named}: 2 tasks, 42 files, both halves: 1 finding"
    assert lines[2].startswith("recorded digest ")  # nobody is to take it for the one of the files


def test_a_hostile_name_of_a_snapshot_stays_text(snapshot: Path) -> None:
    edit_json(snapshot / "public/manifest.json", lambda result: result.update(snapshot="\x1b[2Jx"))
    assert printed(snapshot)[1][-4].startswith(f"⟨U+001B⟩[2Jx ({snapshot.resolve()}): 2 tasks, ")


def test_a_manifest_that_cannot_be_read_names_the_folder(snapshot: Path) -> None:
    (snapshot / "public/manifest.json").write_bytes(b"{")
    last = printed(snapshot)[1][-3]
    assert last.startswith(f"{snapshot}, whose manifest cannot be read: 2 tasks, ")
