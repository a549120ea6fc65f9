"""A build that releases nothing: an outcome with its reasons, not wrong use."""

from __future__ import annotations

import shlex
from pathlib import Path
from subprocess import CompletedProcess

import orjson
import pytest

from tests.flows.command import inline, inline_build

_SAID = {
    "lost": ("Help me with a report on sales.", "Summarise figures_march.xlsx in one page please."),
    "lost-2": ("Translate minutes_may.docx into Welsh please.",),
    "short": ("hi",),
    "short-2": ("ok go",),
    "short-3": ("yes",),
    "redacted": ("Read https://[REDACTED]/guide and list its headings.",),
    "chat": ("Thank you so much, that was all that I wanted!",),
}
_GUIDE = (
    "Write a two-page guide to composting for beginners as guide.md. Cover choosing a bin, what to "
    "add, what to leave out, and how long it takes. Use a heading for each of these four parts and "
    "end with a checklist of ten points."
)
_NAME, _DESCRIBED = "figures_march.xlsx", "a file .xlsx, named in turn 2"


def _logs(folder: Path, said: dict[str, tuple[str, ...]]) -> list[Path]:
    """A log for each session, in which the agent answers every message of the person."""
    paths = []
    for name, texts in said.items():
        messages = [
            message
            for text in texts
            for message in (
                {"role": "user", "content": text},
                {"role": "assistant", "content": "I see."},
            )
        ]
        paths.append(folder / f"{name}.json")
        paths[-1].write_bytes(orjson.dumps({"session_id": name, "messages": messages}))
    return paths


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whose name a shell would read as two words."""
    return tmp_path_factory.mktemp("nothing") / "an out"


@pytest.fixture(scope="module")
def ended(out: Path) -> CompletedProcess[str]:
    return inline_build(*_logs(out.parent, _SAID), "--out", out)


@pytest.mark.slow(seconds=2)
def test_nothing_released_is_an_outcome_with_funnel_reasons_and_next_command(
    ended: CompletedProcess[str], out: Path
) -> None:
    funnel, _, reasons = ended.stdout.partition("no task passed every gate")
    assert ended.returncode == 1
    assert "gates" in funnel
    assert "Traceback" not in ended.stderr
    lines = reasons.splitlines()[1:]
    assert [line.split()[:2] for line in lines[:2]] == [
        ["3", "length.too_short"],
        ["2", "fixture.unresolved"],
    ]
    assert len(lines) == 3
    commands = [shlex.split(line)[2:] for line in lines]
    assert {command[-1] for command in commands} == {str(out)}
    assert {Path(command[0]).name for command in commands} == {"benchmint"}
    shown = inline(*commands[0][1:])
    assert shown.returncode == 0
    assert shown.stdout.count("length.too_short") == 3 + 1  # the last line says what it means


@pytest.mark.slow(seconds=2)
def test_what_is_missing_is_named_in_private_and_described_elsewhere(
    ended: CompletedProcess[str], out: Path
) -> None:
    assert ended.returncode == 1
    listed = inline("audit", "--json", "--out", out).stdout
    assert _NAME not in listed
    (lost,) = [row for row in orjson.loads(listed)["rejections"] if row["missing"] == _DESCRIBED]
    private = ("audit", "--instance", lost["item_id"], "--private", "--json", "--out", out)
    (missing,) = orjson.loads(inline(*private).stdout)["missing inputs"]
    assert (out / "private" / "missing_inputs.json").stat().st_mode & 0o077 == 0
    assert (missing["name"], missing["source"]) == (_NAME, "named in turn 2")
    inline("audit", "--export", out / "page", "--out", out)
    exported = [path.read_text() for path in (out / "page").iterdir()]
    assert all(_DESCRIBED in text and _NAME not in text for text in exported)


@pytest.mark.full
def test_a_release_names_what_is_missing_in_its_private_half_alone(tmp_path: Path) -> None:
    logs = _logs(tmp_path, {"kept": (_GUIDE,), "lost": _SAID["lost"]})
    built = inline_build(*logs, "--out", tmp_path / "out", "--quiet")
    assert built.returncode == 0, built.stderr
    latest = tmp_path / "out" / "snapshots" / "latest"
    public = [path for path in (latest / "public").rglob("*") if path.is_file()]
    assert not [path for path in public if _NAME.encode() in path.read_bytes()]
    assert _DESCRIBED in (latest / "public" / "audit" / "report.html").read_text()
    pages = [path.read_text() for path in (latest / "private" / "audit").glob("*.html")]
    assert any(_NAME in page for page in pages)
    verified = inline("verify", latest)
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.parametrize("names", [["notes.txt"], ["notes.txt", "plan.md", "data.csv"]])
def test_files_of_which_none_is_a_session_are_wrong_use(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("Buy chairs, and a table to go with them.\n")
    result = inline_build(tmp_path, "--out", tmp_path.with_name("out"), "--quiet")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    count = "one file" if len(names) == 1 else f"{len(names)} files"
    assert f"found {count}, of which none is a session log: " in line
    assert "notes.txt (" in line
    assert "chairs" not in line


def test_a_text_beside_a_session_is_left_out_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy chairs.\n")
    _logs(tmp_path, {"short": _SAID["short"]})
    result = inline_build(tmp_path, "--out", tmp_path.with_name("out"), "--quiet")
    assert result.returncode == 1
    assert "file.unsupported_format" in result.stdout


@pytest.mark.full
def test_what_nobody_decided_is_built_and_not_published(tmp_path: Path) -> None:
    said = f"{_GUIDE} Name the bin zorblatt and quote QT-0093-17."
    config = tmp_path / "build.toml"
    config.write_text("[judging]\nrelease_unjudged = true\n")
    logs = _logs(tmp_path, {"kept": (said,)})
    built = inline_build(*logs, "--out", tmp_path / "out", "--quiet", "--config", config)
    assert built.returncode != 0 and "release.list_undecided" in built.stderr + built.stdout
    assert not (tmp_path / "out" / "snapshots").exists()
    (kept,) = (tmp_path / "out" / "private" / "unpublished").glob("*-20*")
    assert inline("verify", kept).returncode == 0
    assert (tmp_path / "out" / "private" / "review" / "words.csv").is_file()
