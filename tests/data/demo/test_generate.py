"""The demo workspace as a folder: the same bytes each time, whole or absent, of the wanted size."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import orjson
import pytest

from data.demo import DemoSummary, generate
from data.errors import InputError
from tests.data.demo.truth import Truth, load_truth

SEED = 7


def tree(folder: Path) -> dict[str, str]:
    """Path to digest (or link target) of everything below a folder."""
    actual = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            actual[name] = f"-> {path.readlink()}"
        elif path.is_file():
            actual[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return actual


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoSummary]:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return folder, generate(folder, 60, SEED)


def test_the_same_seed_gives_the_same_bytes(
    sixty: tuple[Path, DemoSummary], tmp_path: Path
) -> None:
    again = generate(tmp_path / "again", 60, SEED)
    assert again == sixty[1]
    assert tree(tmp_path / "again") == tree(sixty[0])


def test_another_seed_gives_other_sessions(sixty: tuple[Path, DemoSummary], tmp_path: Path) -> None:
    generate(tmp_path / "other", 3, SEED + 1)
    here, there = tree(sixty[0]), tree(tmp_path / "other")
    assert not {name for name in there if name.startswith("sessions/")} & here.keys()


def test_a_session_is_the_same_in_a_corpus_of_any_size(
    sixty: tuple[Path, DemoSummary], tmp_path: Path
) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    generate(small, 25, SEED)
    generate(large, 70, SEED)
    shared = {"sessions/chat/export-00000.jsonl", "sessions/chat/runs-00000.json"}
    few = {k: v for k, v in tree(small).items() if k.startswith("sessions/") and k not in shared}
    many = {k: v for k, v in tree(large).items() if k.startswith("sessions/")}
    middle = {k: v for k, v in tree(sixty[0]).items() if k.startswith("sessions/")}
    assert len(few) > 20
    assert few.items() <= middle.items() <= many.items()
    again = {k: v for k, v in many.items() if k not in middle}
    assert len(again) > 10
    unlike = {v for k, v in again.items() if not k.endswith("README.md")}
    assert not unlike & set(middle.values())


def test_every_format_and_every_defect_is_there_from_sixty_on(
    sixty: tuple[Path, DemoSummary],
) -> None:
    truth = load_truth(sixty[0])
    assert len(truth.plants) == 44
    assert {f.label for f in truth.files if f.outcome == "read"} == {
        "openclaw", "claude_code", "codex", "atif", "chat",
    }  # fmt: skip
    instances = [i for file in truth.files for s in file.sessions for i in s.instances]
    assert {instance.language for instance in instances} == {"en", "zh"}


def test_the_summary_counts_what_the_truth_holds(sixty: tuple[Path, DemoSummary]) -> None:
    folder, summary = sixty
    truth = load_truth(folder)
    sessions = [session for file in truth.files for session in file.sessions]
    assert summary.sessions == len(sessions) == 60 + 3  # a backup, a resumed log, a sub-agent
    assert summary.instances == sum(len(session.instances) for session in sessions)
    assert summary.session_files == len(truth.files)
    assert summary.plants == truth.plants
    on_disk = {p.relative_to(folder / "sessions").as_posix() for p in _files(folder / "sessions")}
    assert {file.path for file in truth.files} == on_disk


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]


def test_planted_lines_are_the_only_ones_that_are_no_json_objects(
    sixty: tuple[Path, DemoSummary],
) -> None:
    folder = sixty[0] / "sessions"
    for file in load_truth(sixty[0]).files:
        if file.outcome != "read" or ".jsonl" not in file.path:
            continue
        lines = (folder / file.path).read_bytes().splitlines()
        bad = {number for number, line in enumerate(lines, start=1) if not _is_object(line)}
        planted = {issue.line for issue in file.issues if issue.reason.startswith("line.")}
        assert bad == planted, file.path


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def test_declared_files_are_there_unless_they_are_meant_to_be_missing(
    sixty: tuple[Path, DemoSummary],
) -> None:
    files = sixty[0] / "files"
    for session in (s for file in load_truth(sixty[0]).files for s in file.sessions):
        for instance in session.instances:
            missing = [name for name in instance.declared if not (files / name).exists()]
            # What lies outside the roots is really there: it must be refused, not missed.
            verdict = instance.gates.get("fixture")
            unresolved = verdict is not None and verdict.reason == "fixture.unresolved"
            assert bool(missing) is unresolved, instance


def test_planted_files_are_what_they_claim(sixty: tuple[Path, DemoSummary]) -> None:
    planted = sixty[0] / "files" / "planted"
    for name in ("price_matrix.xlsx", "old_reports.zip"):
        with zipfile.ZipFile(planted / name) as archive:
            entry = archive.infolist()[0]
        assert entry.file_size > 500 * entry.compress_size, name
    assert (planted / "full_export.csv").stat().st_size > 50_000_000
    link = (planted / "shared_rates.csv").resolve(strict=True)
    assert link == (sixty[0] / "outside" / "rates.csv").resolve()
    assert sum(path.stat().st_blocks * 512 for path in _files(sixty[0])) < 30_000_000


def test_a_bomb_unpacks_to_what_it_declares(sixty: tuple[Path, DemoSummary]) -> None:
    with zipfile.ZipFile(sixty[0] / "files" / "planted" / "old_reports.zip") as archive:
        assert archive.testzip() is None


def test_tripwires_stand_in_the_sessions_they_name(sixty: tuple[Path, DemoSummary]) -> None:
    truth = load_truth(sixty[0])
    paths = {session.session_id: file.path for file in truth.files for session in file.sessions}
    assert [wire.kind for wire in truth.tripwires] == [
        "phone", "email", "employee_id", "phone", "email", "id_number",
    ]  # fmt: skip
    for wire in truth.tripwires:
        log = (sixty[0] / "sessions" / paths[wire.session_id]).read_text("utf-8")
        assert wire.value in log
    values = (sixty[0] / "tripwires.txt").read_text("utf-8").splitlines()
    assert values == [wire.value for wire in truth.tripwires]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(InputError, match="an empty or missing folder"):
        generate(tmp_path, 1, SEED)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("size", [0, -1, 300_001])
def test_sizes_out_of_range_are_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(InputError, match="1 to 300,000 sessions"):
        generate(tmp_path / "demo", size, SEED)
    assert not (tmp_path / "demo").exists()


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    remaining = tmp_path / ".demo.part" / "sessions"
    remaining.mkdir(parents=True)
    (remaining / "half.jsonl").write_text("{")
    generate(tmp_path / "demo", 1, SEED)
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert not (tmp_path / "demo" / "sessions" / "half.jsonl").exists()


def test_a_corpus_reaches_the_wanted_bytes_in_lines_that_occur(tmp_path: Path) -> None:
    wanted = 20_400_000  # two blocks at 170 KB a session
    summary = generate(tmp_path / "demo", 120, SEED, bytes_target=wanted)
    assert abs(summary.bytes - wanted) < 0.1 * wanted
    sizes, longest = [], 0
    for file in load_truth(tmp_path / "demo").files:
        path = tmp_path / "demo" / "sessions" / file.path
        if file.outcome == "read":
            sizes.append(path.stat().st_size)
        if ".jsonl" in file.path:
            longest = max(longest, *map(len, path.read_bytes().split(b"\n")))
    assert 300_000 < longest < 660_000
    assert sum(size > 3_000_000 for size in sizes) >= 2
    assert sum(20_000 <= size <= 200_000 for size in sizes) > 0.7 * len(sizes)


def test_truth_survives_its_own_format(sixty: tuple[Path, DemoSummary]) -> None:
    truth = load_truth(sixty[0])
    assert Truth.model_validate_json(truth.model_dump_json()) == truth
    assert truth.seed == SEED
    assert truth.size == 60
