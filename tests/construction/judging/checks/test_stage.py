"""What a plan counts of the questions on programs: second solutions, and at most each mended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Barrier
from time import sleep

import orjson
import pytest

from construction.grading.programs import Program, Ran, Run
from construction.judging.calls.contracts import FORECASTS, Forecast, LlmRuntime, Mode
from construction.judging.checks.prove import Proof, ProofReason, Provable
from construction.judging.checks.stage import (
    Proofs,
    Proving,
    _checked,
    _proofs,
    _readable,
    write_checked,
)
from construction.judging.model.asking import UnansweredError
from construction.judging.settings import Judges, JudgingConfig, ModelCalls, ModelConfig
from data.contracts import Criterion, Rubric
from tests.construction.judging.model.fakes import case


def test_programs_that_may_have_to_be_mended_are_counted_before_they_are_tried(
    tmp_path: Path,
) -> None:
    files = {"hours.csv": "mason,hours\nArkle,7\n"}
    cases = [case(f"Sum the hours of {name}.", files, item_id=name) for name in ("t1", "t2", "t3")]
    for folder in ("written", "graded"):
        (tmp_path / folder).mkdir()
    kept = b"".join(orjson.dumps(one.model_dump(mode="json")) + b"\n" for one in cases)
    (tmp_path / "written" / "kept.jsonl").write_bytes(kept)
    graded = b"".join(one.candidate.model_dump_json().encode() + b"\n" for one in cases)
    (tmp_path / "graded" / "kept.jsonl").write_bytes(graded)
    programs = [
        {"task_id": name, "reference": "print(1)", "checks": "print(2)"} for name in ("t1", "t2")
    ]
    lines = b"".join(orjson.dumps(one) + b"\n" for one in programs)
    (tmp_path / "graded" / "programs.jsonl").write_bytes(lines)
    config = JudgingConfig(model=ModelConfig(name="m"))
    judges = Judges(config, ModelCalls(mode=Mode.REPLAY), LlmRuntime(), tmp_path / "out")
    proving = Proving(tmp_path / "proofs.jsonl", lambda _: {}, None)
    (tmp_path / "out").mkdir()
    forecasts: list[Forecast] = []
    token = FORECASTS.set(forecasts)
    try:
        with pytest.raises(UnansweredError):
            write_checked(
                tmp_path / "written", tmp_path / "graded", judges, proving, tmp_path / "checks"
            )
    finally:
        FORECASTS.reset(token)
    assert [(one.stage, one.calls) for one in forecasts] == [("second", 2), ("mend", 2)]
    assert forecasts[1].usage.prompt_tokens > 1_000


def test_recorded_proofs_hold_where_nothing_is_run(tmp_path: Path) -> None:
    tasks = {
        name: Provable(name, "Sum.", ("sum.txt",), {}, f"print({name!r})", "", "")
        for name in ("t1", "t2")
    }
    recorded = Proofs(tmp_path / "recorded.jsonl")
    recorded.keep(tasks["t1"].key, Proof(("the sum",)))
    recorded.save()
    captured = tmp_path / "captured.jsonl"
    given = Proving(captured, lambda _: {}, None, tmp_path / "recorded.jsonl")
    proofs = _proofs(tasks, given)
    assert (proofs["t1"].findings, proofs["t2"].reason) == (("the sum",), ProofReason.NOT_RUN)
    assert not captured.exists()


def _two(tmp_path: Path, run: Run) -> tuple[dict[str, Provable], Proving]:
    tasks = {
        name: Provable(name, "Sum.", ("sum.txt",), {}, f"print({name!r})", "", "")
        for name in ("t1", "t2")
    }
    return tasks, Proving(tmp_path / "captured.jsonl", lambda _: {}, run, workers=2)


def test_proofs_are_tried_side_by_side(tmp_path: Path) -> None:
    together = Barrier(2, timeout=20)

    def run(_: Program) -> Ran:
        together.wait()
        return Ran(1)

    tasks, proving = _two(tmp_path, run)
    proofs = _proofs(tasks, proving)
    assert list(proofs) == ["t1", "t2"]
    assert {one.reason for one in proofs.values()} == {ProofReason.REFERENCE_FAILED}
    again = replace(proving, run=None)
    assert _proofs(tasks, again) == proofs


def test_what_was_proven_before_a_fault_is_kept(tmp_path: Path) -> None:
    def run(program: Program) -> Ran:
        if "t2" in str(program):
            sleep(0.2)
            raise OSError("no space")
        return Ran(1)

    tasks, proving = _two(tmp_path, run)
    with pytest.raises(OSError, match="no space"):
        _proofs(tasks, proving)
    kept = Proofs.load(proving.captured)
    assert kept.find(tasks["t1"].key) is not None and kept.find(tasks["t2"].key) is None


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("[12.0, 0.4, 'Rye']", "12, 0.4, Rye"),
        ("{'only one'}", "only one"),
        ("{'rye', 'oats', 'wheat', 'barley', 7.0}", "7, barley, oats, rye, wheat"),
        ("('a', 'b, c', 'cut of", "a, b, c …"),  # the value that was cut does not count
        (str(list(range(13))), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …"),
        ("[not a list of Python", "[not a list of Python"),
        ("一" * 121, "一" * 120 + " …"),
        ("", ""),
        ("[" * 5000, "[" * 120 + " …"),
    ],
)
def test_expected_values_are_said_as_people_write_them(expected: str, said: str) -> None:
    assert _readable(expected) == said


def test_the_rubric_states_what_findings_expect() -> None:
    """A value that a proven finding demands and no criterion states stands in one of its own."""
    rubric = Rubric(
        criteria=(
            Criterion(dimension="grounded_accuracy", weight=0.6, text="12.0 and 40 are wrong."),
            Criterion(dimension="task_relevance", weight=0.4, text="It is a list."),
        )
    )
    item = case("Find the wrong figures.").candidate.model_copy(update={"rubric": rubric})
    task = Provable("t1", item.prompt, (), {}, "", "print([])", "")
    wrong = {"wrong figures": "[12, 40]", "is sorted": "True"}
    whole = _checked(item, task, Proof(tuple(wrong), wrong))
    assert whole.rubric == rubric
    more = {**wrong, "wrong figures": "[12, 40, 77]"}
    mended = _checked(item, task, Proof(tuple(more), more, (), {"changed.csv": "rules.unchanged"}))
    assert mended.rubric is not None
    first, *others = mended.rubric.criteria
    assert first.text == "Agrees with what a program has checked: wrong figures: 12, 40, 77"
    assert [one.weight for one in (first, *others)] == pytest.approx([1 / 3, 0.4, 4 / 15])
    assert [one.text for one in others] == [one.text for one in rubric.criteria]
    dropped = mended.provenance.detail["proof"]["dropped_rules"]
    assert dropped == {"changed.csv": "rules.unchanged"}
