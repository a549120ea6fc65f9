"""An attempt at the report on errors, and what a judge makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.judging.calls.contracts import Image, Question
from construction.judging.contracts import CriterionVerdict
from construction.judging.evidence.views import Evidence, FileView, Part
from construction.judging.model.attempt_case import AttemptCase, JudgedAttempt
from construction.judging.model.attempts import judge_attempts
from tests.construction.judging.model.fakes import CONFIG, Scripted
from tests.construction.judging.model.judges import (
    AIMED,
    HELD,
    HELD_IN,
    REPORT,
    TASK,
    Judge,
)
from tests.flows.judge_server import material, scopes

KEY = 7
MET, PARTLY, NOT_MET = CriterionVerdict
HONEST = Judge({HELD: HELD_IN})


def text_file(path: str, text: str) -> FileView:
    """The view of a text."""
    parts = (Part(where="lines 1–9", text=text),) if text else ()
    return FileView(path=path, bytes=len(text), media_type="text/plain", kind="text", parts=parts)


def case(*added: str, pages: int = 0, **more: Any) -> AttemptCase:
    """An attempt whose report has these paragraphs behind its heading."""
    shown = tuple(Image("image/png", bytes([number])) for number in range(pages))
    text = "\n\n".join([REPORT[0], *added, *REPORT[1:]])
    values: dict[str, Any] = {
        "attempt_id": "a1",
        "task": TASK,
        "criteria": {"held": HELD, "aimed": AIMED},
        "answer": "report.md",
        "evidence": Evidence(outputs=(text_file("report.md", text),)),
        "pages": {"report.md": shown},
    }
    return AttemptCase(**values | more)


def judged(given: AttemptCase, judge: Any) -> JudgedAttempt:
    (result,) = judge_attempts([given], Scripted(judge), CONFIG, KEY)
    assert set(result.verdicts) == set(given.criteria)
    return result


def verdicts(given: AttemptCase, judge: Any) -> dict[str, CriterionVerdict | None]:
    return {part: seen.verdict for part, seen in judged(given, judge).verdicts.items()}


def reasons(given: AttemptCase, judge: Any) -> set[str | None]:
    """Why parts have no verdict; fails where one has."""
    made = judged(given, judge).verdicts.values()
    assert [seen.counted for seen in made] == [NOT_MET] * len(made)
    assert [seen.verdict for seen in made] == [None] * len(made)
    return {seen.reason for seen in made}


def answering(shows: str = "all", twin: str = "nothing", **answer: Any) -> Any:
    """A judge that answers so on the held criterion and its twin, and nothing on others."""

    def judge(request: Question) -> Mapping[str, Any]:
        block = material(request.user)
        if request.stage == "scope":
            return scopes(block)
        if request.stage == "evidence":
            return {
                "demands": [
                    {"part": d["part"], "shows": shows if d["demand"] == HELD else twin}
                    if HELD in d["demand"]
                    else {"part": d["part"], "shows": "nothing"}
                    for d in block["demands"]
                ]
            }
        made = []
        for criterion in block["criteria"]:
            part = {
                "part": criterion["part"],
                "finding": "",
                "verdict": "not_met",
                "quotes": [],
                "page": None,
            }
            if criterion["criterion"] == HELD:
                part |= {"verdict": "met"} | answer
            made.append(part)
        return {"verdicts": made}

    return judge
