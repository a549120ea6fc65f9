"""`diff`: what changed, by what, and how much; the same from files as before they were written."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.contracts import Answer
from data.errors import InputError
from data.releases.diff import Changed, _changes_between, _diff
from data.releases.facts import facts_of_release, facts_of_snapshot
from data.releases.listing import find_snapshot, previous_release
from data.snapshot.release import PrivacyStamp
from tests.data.releases import train
from tests.data.snapshot.sample import release


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A train of two: one task gone, one new, three changed, another mixture and stamp."""
    folder = tmp_path_factory.mktemp("train")
    train.written(folder)
    train.written(folder, 1, **later(folder))
    return folder


def later(folder: Path) -> dict[str, object]:
    made = train.given(folder)
    recipe = {"length": {"min_user_chars": 12}, "network": "offline"}
    first, *rest = made.candidates
    prompt, label, answer = rest[0], rest[1], rest[2]
    changed = [
        prompt.model_copy(update={"prompt": "Something else altogether."}),
        label.model_copy(update={"difficulty": "hard"}),
        answer.model_copy(update={"answers": (Answer(part="total", type="number", value="-1"),)}),
        *rest[3:-1],
        rest[-1].model_copy(update={"task_id": "t-other"}),
        first.model_copy(update={"task_id": "t-new", "prompt": "A new task."}),
    ]
    return {
        "candidates": changed,
        "privacy": PrivacyStamp.MASKED,
        "privacy_report": {"attack": {"risk": 0.09, "limit": 0.1}},
        "selection": train.mixture({"correspondence": 0.6, "data_reporting": 0.4}),
        "build": replace(made.build, recipe=recipe),
    }


def snapshots(root: Path) -> tuple[Path, Path]:
    old, new = sorted(path for path in (root / "snapshots").iterdir() if path.is_dir())
    return old, new


def test_a_release_beside_itself_has_no_changes(root: Path) -> None:
    old, _ = snapshots(root)
    result = _diff(facts_of_snapshot(old), facts_of_snapshot(old))
    assert (result.added, result.removed, result.changed, result.reused) == ((), (), {}, ())
    assert (result.churn.new, result.churn.gone, result.churn.turnover) == (0, 0, 0)
    assert not (result.families or result.weights or result.funnel or result.rejections)
    assert not (result.privacy or result.recipe or result.made_with)


def test_tasks_added_removed_and_changed_by_what(root: Path) -> None:
    old, new = snapshots(root)
    tasks = [task.task_id for task in train.given(root).candidates]
    result = _diff(facts_of_snapshot(old), facts_of_snapshot(new))
    assert result.added == ("t-new", "t-other")
    assert set(result.removed) == {tasks[0], tasks[-1]}
    assert result.changed == {
        tasks[1]: ("prompt",),
        tasks[2]: ("difficulty",),
        tasks[3]: ("private.answers",),
    }
    assert result.fields == {"difficulty": 1, "private.answers": 1, "prompt": 1}
    assert result.reused == (tasks[1],)
    assert result.renamed == ((tasks[-1], "t-other"),)
    n = len(tasks)
    assert result.counts == (n, n)
    assert result.churn.new == round(2 / n, 9)
    assert result.churn.turnover == round(4 / (n + 2), 9)


def test_weights_privacy_and_recipe(root: Path) -> None:
    result = _diff(*(facts_of_snapshot(path) for path in snapshots(root)))
    assert result.weights == (
        Changed("correspondence", 0.5, 0.6),
        Changed("data_reporting", 0.3, 0.4),
        Changed("assurance", 0.2, None),
    )
    assert result.distance == 0.2
    assert result.privacy == (
        Changed("privacy", "generated", "masked"),
        Changed("report.attack.limit", None, "0.1"),
        Changed("report.attack.risk", None, "0.09"),
    )
    assert result.recipe == (Changed("length.min_user_chars", "10", "12"),)
    assert result.inputs == {"added": 0, "removed": 0, "kept": 1}


def test_the_funnel_and_the_reasons(tmp_path: Path) -> None:
    old = facts_of_release(release(tmp_path, 24))
    result = _diff(old, facts_of_release(release(tmp_path, 30)))
    gates = next(row for row in result.funnel if row.name == "gates / instance")
    assert (gates.before, gates.after) == ((24, 18), (30, 23))
    reasons = {row.name: (row.before, row.after) for row in result.rejections}
    assert reasons == {"gates / instance / fixture / fixture.unresolved_declared": (3, 4)}


def test_graders_parts_need_both_private_halves(root: Path, tmp_path: Path) -> None:
    old, new = snapshots(root)
    alone = shutil.copytree(new / "public", tmp_path / "alone")
    result = _diff(facts_of_snapshot(old), facts_of_snapshot(alone))
    assert not result.graded
    assert "private.answers" not in result.fields


def test_facts_are_the_same_before_and_after_writing(root: Path) -> None:
    old, new = snapshots(root)
    assert facts_of_release(train.given(root)) == facts_of_snapshot(old)
    assert facts_of_release(train.given(root, 1, **later(root))) == facts_of_snapshot(new)


def test_the_changelog_tells_what_both_public_halves_show(root: Path) -> None:
    old, new = snapshots(root)
    lines = _changes_between(old, facts_of_snapshot(new))
    tasks = [task.task_id for task in train.given(root).candidates]
    n = len(tasks)
    assert lines[0] == (
        f"Since demo-2026.07.01: 2 tasks added, 2 removed, 2 changed; {n} tasks before, {n} now. "
        f"{200 / n:.1f} % of this release is new."
    )
    assert lines[1:] == [
        "What changed in tasks: difficulty in 1, prompt in 1.",
        "IDs that now have a different prompt or different input files, so scores are not "
        f"comparable: {tasks[1]}.",
        f"Same content under a different ID: {tasks[-1]} is now t-other.",
        "Mixture: shifted by 0.200 (total variation): assurance -20.0 points, "
        "correspondence +10.0 points, data_reporting +10.0 points.",
        "Privacy and licence: privacy generated → masked.",
        "Privacy report: 2 figures differ (audit/privacy.json).",
        "Recipe: length.min_user_chars 10 → 12.",
    ]
    public = _changes_between(old / "public", facts_of_release(train.given(root, 1, **later(root))))
    assert public == lines


def test_the_release_before_is_of_the_same_name_and_earlier(root: Path, tmp_path: Path) -> None:
    old, new = snapshots(root)
    folder = root / "snapshots"
    assert previous_release(folder, "demo", train.day(1)) == old
    assert previous_release(folder, "demo", train.day(2)) == new
    assert previous_release(folder, "demo", train.day()) is None
    assert previous_release(folder, "dem", train.day(2)) is None
    assert previous_release(tmp_path / "gone", "demo", train.day(2)) is None


def test_snapshots_are_found_by_path_or_name(root: Path) -> None:
    old, _ = snapshots(root)
    assert find_snapshot(old.name, old.parent) == old
    assert find_snapshot(str(old), Path("gone")) == old
    with pytest.raises(InputError, match="benchmint release list"):
        find_snapshot("../snapshots", old.parent)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", b"[]"),
        ("manifest.json", b"{"),
        ("manifest.json", b"{}"),
        ("tasks.jsonl", b"{}\n"),
        ("tasks.jsonl", b"null\n"),
        ("tasks.jsonl", b'{"task_id": "x", "task_family": 7}\n'),
        ("audit/funnel.json", b'{"stages": [{"stage": 1}]}'),
        ("audit/funnel.json", b'{"stages": 7}'),
        ("audit/ledger.json", b'{"rejections": [{"n": "x"}]}'),
        ("audit/selection.json", b'{"mixture": {"task_weights": {"a": "b"}}}'),
        ("audit/selection.json", b'{"mixture": 3}'),
    ],
)
def test_what_is_no_snapshot_is_refused_with_its_name(
    root: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = shutil.copytree(snapshots(root)[0], tmp_path / "copy")
    (copy / "public" / name).write_bytes(content)
    with pytest.raises(InputError, match="copy"):
        facts_of_snapshot(copy)


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(snapshots(root)[0], tmp_path / "copy")
    (tmp_path / "secret").write_bytes((copy / "public/tasks.jsonl").read_bytes())
    (copy / "public/tasks.jsonl").unlink()
    (copy / "public/tasks.jsonl").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="a symbolic link"):
        facts_of_snapshot(copy)
    shutil.rmtree(copy / "private")
    (copy / "private").symlink_to(snapshots(root)[0] / "private")
    with pytest.raises(InputError, match="private: found a symbolic link"):
        facts_of_snapshot(copy)


def test_hostile_names_come_out_as_plain_text(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(snapshots(root)[0], tmp_path / "copy")
    rows = [orjson.loads(line) for line in (copy / "public/tasks.jsonl").read_bytes().splitlines()]
    rows[0]["task_id"] = "../../\x1b[2J\n\u202ex"
    rows[0]["\x1b]0;"] = "y" * 10_000
    (copy / "public/tasks.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    result = asdict(_diff(facts_of_snapshot(snapshots(root)[0]), facts_of_snapshot(copy)))
    assert result["added"] == ("../../⟨U+001B⟩[2J ⟨U+202E⟩x",)
    assert len(orjson.dumps(result)) < 20_000


@given(st.sets(st.integers(0, 17)), st.sets(st.integers(0, 17)))
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_churn_is_what_the_sets_say(root: Path, old: set[int], new: set[int]) -> None:
    whole = facts_of_snapshot(snapshots(root)[0])
    names = sorted(whole.tasks)
    before, after = (
        replace(whole, tasks={names[n]: whole.tasks[names[n]] for n in sorted(chosen)})
        for chosen in (old, new)
    )
    result = _diff(before, after)
    assert len(result.added) + len(result.removed) == len(old ^ new)
    assert result.churn.turnover == round(len(old ^ new) / max(1, len(old | new)), 9)
    assert (result.changed, result.renamed) == ({}, ())
    back = _diff(after, before)
    assert (back.added, back.removed) == (result.removed, result.added)
