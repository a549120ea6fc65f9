"""A trial: what is tried for a task, what counts as a fault, and what an outcome depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.grading.sandbox_preflight import (
    GATE,
    NO_SANDBOX,
    NOT_TRIED,
    Fault,
    SandboxReason,
    SandboxRecipe,
    TrialStep,
    _Tried,
    measure,
)
from construction.grading.trial import (
    Outcomes,
    Trial,
    _Returned,
    _sandbox_faults,
    outcome_of,
    outside_faults,
    stored_faults,
    trial_key,
)
from data.canonical import digest
from data.contracts import (
    Candidate,
    Criterion,
    Deliverable,
    Disclosure,
    Fixture,
    Lane,
    NetworkPolicy,
    Provenance,
    Rubric,
    Status,
)

CONTENT = b"id,name\n1,lamp\n"


def fixture(path: str = "orders.csv", content: bytes = CONTENT, media: str = "text/csv") -> Fixture:
    return Fixture(path=path, sha256=digest(content), bytes=len(content), media_type=media)


def task(name: str = "t-1", **parts: Any) -> Candidate:
    source = Provenance(
        source="made", source_format="made", item_id=name, disclosure=Disclosure.PUBLIC
    )
    whole = {"prompt": "Sum the orders.", "language": "en", "tools": ("write_file",), **parts}
    return Candidate(task_id=name, lane=Lane.SESSIONS, provenance=source, **whole)


def trial(given: Candidate, files: dict[str, Path] | None = None) -> Trial:
    return Trial(given, trial_key(given, None), f"{given.prompt}\n", files or {})


def rubric(*evidence: str, route: Any = "text") -> Rubric:
    criterion = Criterion(dimension="depth", weight=1.0, text="It is right.", evidence=evidence)
    return Rubric(route=route, criteria=(criterion,))


def test_an_outcome_belongs_to_the_task_as_it_was_tried_whatever_its_ids() -> None:
    key = trial_key(task(), {"tables": []})
    assert (
        trial_key(task("t-2").model_copy(update={"preflight": "verified"}), {"tables": []}) == key
    )
    others = [
        task(prompt="Sum them."),
        task(tools=()),
        task(fixtures=(fixture(),)),
        task(deliverables=(Deliverable(file_type="md"),)),
        task(rubric=rubric()),
    ]
    keys = {trial_key(other, {"tables": []}) for other in others}
    assert len(keys | {key, trial_key(task(), {"tables": ["x"]})}) == len(others) + 2


def test_every_deliverable_has_a_name_and_a_task_without_any_an_answer() -> None:
    deliverables = (
        Deliverable(file_type="xlsx", count=3, name_hints=("a.xlsx", "sub/b.xlsx")),
        Deliverable(file_type="md", name_hints=("/srv/c.md",)),
    )
    assert trial(task(deliverables=deliverables)).outputs == [
        ("outputs/a.xlsx", "xlsx"),
        ("outputs/sub/b.xlsx", "xlsx"),
        ("outputs/file-1-3.xlsx", "xlsx"),
        ("/srv/c.md", "md"),
    ]
    assert trial(task()).outputs == [("outputs/answer.txt", "txt")]


def test_each_fault_between_upload_and_download_has_its_step_and_place() -> None:
    given = trial(
        task(
            fixtures=(fixture("a.csv"), fixture("b.csv"), fixture("c.csv")),
            deliverables=(Deliverable(file_type="md", count=3),),
        )
    )
    report = {
        "inputs": [None, None, "changed", "not_regular"],
        "outputs": [
            {"sha256": "1", "fault": None},
            {"sha256": "2", "fault": None},
            {"sha256": None, "fault": "file_name_too_long"},
        ],
    }
    back = _Returned({"inputs/c.csv": "No space left on device"}, report, {"file-1-1.md": "x"})
    assert list(_sandbox_faults(given, back)) == [
        Fault(TrialStep.UPLOAD, "changed", "input 2"),
        Fault(TrialStep.UPLOAD, "no_space_left_on_device", "input 3"),
        Fault(TrialStep.DOWNLOAD, "changed", "output 1"),
        Fault(TrialStep.DOWNLOAD, "not_downloaded", "output 2"),
        Fault(TrialStep.DOWNLOAD, "file_name_too_long", "output 3"),
    ]


def test_an_input_is_stored_as_the_candidate_says_or_is_a_fault(tmp_path: Path) -> None:
    sound, link, other = (tmp_path / name for name in ("sound", "link", "other"))
    sound.write_bytes(CONTENT)
    link.symlink_to(sound)
    other.write_bytes(CONTENT[::-1])
    given = task(fixtures=(fixture(),))
    stored: dict[str, tuple[Fault, ...]] = {
        path.name: stored_faults(trial(given, {digest(CONTENT): path}))
        for path in (sound, link, other, tmp_path / "gone")
    }
    fault = (Fault(TrialStep.UPLOAD, "not_as_recorded", "input 1"),)
    assert stored == {"sound": (), "link": fault, "other": fault, "gone": fault}
    assert stored_faults(trial(given)) == fault


def test_the_proxy_of_a_sandbox_provides_fetch_where_hosts_are_listed() -> None:
    assert outside_faults(task(tools=("fetch",), network=NetworkPolicy(mode="list")), None) == ()


@pytest.mark.parametrize(
    ("tools", "faults"),
    [
        (("shell", "read_file", "write_file"), []),
        (("shell", "fetch"), [("no_such_tool", "fetch")]),
        (("discover_companies",), [("not_served", "discover_companies")]),
    ],
)
def test_a_tool_that_nobody_provides_is_a_fault(
    tools: tuple[str, ...], faults: list[tuple[str, str]]
) -> None:
    faults_seen = outside_faults(task(tools=tools), None)
    assert faults_seen == tuple(Fault(TrialStep.EXECUTION, *fault) for fault in faults)


CLIP = fixture("clip.mp4", media="video/mp4")
NOTES = fixture("notes.log", media="text/plain")
BLOB = fixture("blob.dat", media="application/octet-stream")


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"rubric": rubric()}, None),
        ({"rubric": rubric("orders.csv#1"), "fixtures": (fixture(),)}, None),
        ({"rubric": rubric("clip.mp4", "notes.log"), "fixtures": (CLIP, NOTES)}, None),
        ({"rubric": rubric("clip.mp4"), "fixtures": (CLIP,)}, "no_evidence_to_show"),
        ({"rubric": rubric("blob.dat"), "fixtures": (BLOB,)}, "no_evidence_to_show"),
        ({"rubric": rubric("gone.csv"), "fixtures": (fixture(),)}, "no_evidence_to_show"),
        ({"rubric": rubric("https://a.example/")}, "no_evidence_to_show"),
        (
            {
                "rubric": rubric("https://a.example/"),
                "network": NetworkPolicy(mode="list", urls=("https://a.example/",)),
            },
            None,
        ),
        (
            {"rubric": rubric(), "deliverables": (Deliverable(file_type="png"),)},
            "nothing_to_judge_as_text",
        ),
        (
            {"rubric": rubric(route="visual"), "deliverables": (Deliverable(file_type="md"),)},
            "nothing_to_judge_as_visual",
        ),
        (
            {"rubric": rubric(route="visual"), "deliverables": (Deliverable(file_type="png"),)},
            None,
        ),
    ],
)
def test_what_is_left_to_a_judge_can_be_shown_to_one(
    parts: dict[str, Any], fault: str | None
) -> None:
    faults_seen = outside_faults(task(**parts), None)
    assert [(one.step, one.what) for one in faults_seen] == (
        [(TrialStep.ROUTE, fault)] if fault else []
    )


def test_the_first_step_that_fails_gives_the_reason_and_all_are_counted() -> None:
    faults = [
        Fault(TrialStep.ROUTE, "no_evidence_to_show", "criterion 1"),
        Fault(TrialStep.DOWNLOAD, "changed", "output 1"),
        Fault(TrialStep.DOWNLOAD, "changed", "output 2"),
    ]
    seen = measure(outcome_of(trial(task(rubric=rubric())), faults))
    assert seen == _Tried(tools=1, outputs=1, criteria=1, download=2, route=1)
    verdict = GATE.judge(seen, SandboxRecipe(sandbox="run"))
    assert (verdict.status, verdict.reason) == (Status.FAILED, SandboxReason.DOWNLOAD)
    assert (verdict.observed, verdict.limit) == (2, 0)


@pytest.mark.parametrize("seen", [NOT_TRIED, NO_SANDBOX])
def test_what_was_not_tried_is_unverified_or_refused(seen: _Tried) -> None:
    keep = GATE.judge(seen, SandboxRecipe(sandbox="run"))
    refuse = GATE.judge(seen, SandboxRecipe(sandbox="run", unverified="refuse"))
    assert (keep.status, refuse.status) == (Status.UNVERIFIED, Status.FAILED)
    assert keep.reason == refuse.reason == seen.reason


def test_to_try_nothing_and_release_only_what_was_tried_is_a_contradiction() -> None:
    with pytest.raises(ValueError, match=r'sandbox = "off" tries no candidates'):
        SandboxRecipe(unverified="refuse")


def test_outcomes_are_read_back_as_they_were_captured(tmp_path: Path) -> None:
    path = tmp_path / "preflight.jsonl"
    outcomes = Outcomes(path)
    failed = outcome_of(trial(task()), [Fault(TrialStep.UPLOAD, "changed", "input 1")])
    outcomes.keep("b", failed)
    outcomes.keep("a", outcome_of(trial(task()), []))
    again = Outcomes.load(path)  # from the journal, as after a kill
    assert again.find("b") == failed
    assert again.content() == path.read_bytes() == outcomes.content()
    assert again.find("c") is None
