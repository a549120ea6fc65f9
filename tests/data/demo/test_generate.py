"""The demo workspace as a folder: the same bytes each time, whole or absent, of the wanted size."""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from pathlib import Path

import orjson
import pytest

from data.demo import DemoSummary, Truth, generate, load_truth
from data.demo.defects import DEFECTS
from data.demo.plan import BLOCK, PLAN
from data.demo.script import Flavor
from data.demo.session import make_session
from data.demo.session_builder import Bulk
from data.errors import InputError

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
    many, middle = tree(large), tree(sixty[0])
    assert len(few) > 20
    assert few.items() <= many.items()
    assert few.items() <= middle.items()


def test_every_format_and_every_defect_is_there_from_sixty_on(
    sixty: tuple[Path, DemoSummary],
) -> None:
    truth = load_truth(sixty[0])
    damage = {name for row in PLAN for name in row.damage}
    outcomes = {f.outcome for f in truth.files} - {"read"}
    beside = {"backup", "sub_agent", "replayed_prefix", "duplicate", "too_short"}
    assert set(DEFECTS) | damage | outcomes | beside == set(truth.plants)
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
    texts = {
        make_session(SEED, number).script.session_id: " ".join(
            turn.text for turn in make_session(SEED, number).script.human_turns()
        )
        for number in range(60)
    }
    assert Counter(wire.kind for wire in truth.tripwires) == {
        "phone": 2, "email": 2, "id_number": 1, "employee_id": 1,
    }  # fmt: skip
    for wire in truth.tripwires:
        assert wire.value in texts[wire.session_id]


def test_identity_numbers_have_a_right_check_digit() -> None:
    weights = [2 ** (17 - place) % 11 for place in range(17)]
    for number in range(600):
        item = make_session(SEED, number)
        for wire in item.tripwires:
            if wire.kind == "id_number":
                total = sum(int(d) * w for d, w in zip(wire.value[:17], weights, strict=True))
                last = 10 if wire.value[17] == "X" else int(wire.value[17])
                assert (total + last) % 11 == 1
                assert wire.value.startswith("99")  # no region has this code


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(InputError, match="an empty or missing folder"):
        generate(tmp_path, 1, SEED)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("size", [0, -1, 1_000_001])
def test_sizes_out_of_range_are_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(InputError, match="1 to 1,000,000 sessions"):
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
    assert sum(size > 4_000_000 for size in sizes) >= 2
    assert sum(20_000 <= size <= 200_000 for size in sizes) > 0.7 * len(sizes)


def test_filler_changes_neither_what_is_said_nor_what_is_true() -> None:
    for number in range(BLOCK):
        plain, long = make_session(SEED, number), make_session(SEED, number, Bulk(10_000_000, 60))
        assert plain.truth == long.truth
        assert plain.script.human_turns() == long.script.human_turns()
        assert plain.script.flavor in Flavor


def test_truth_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text("[]")
    with pytest.raises(InputError, match="the truth of a demo workspace"):
        load_truth(tmp_path)


def test_truth_survives_its_own_format(sixty: tuple[Path, DemoSummary]) -> None:
    truth = load_truth(sixty[0] / "truth.json")
    assert Truth.model_validate_json(truth.model_dump_json()) == truth
    assert truth.seed == SEED
    assert truth.size == 60
