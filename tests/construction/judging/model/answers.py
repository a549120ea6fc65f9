"""Answers of a model to the stages of a task, to be changed where a test needs it."""

from __future__ import annotations

from typing import Any

UNASSIGNED = {"reason": "a guess", "label": "unassigned", "confidence": 0.4}


def screened(**changes: Any) -> dict[str, Any]:
    """The answer that a case is a task."""
    return {
        "reason": "All that it takes is there.",
        "addressee": "agent",
        "addressee_quote": "",
        "is_work": True,
        "work_quote": "",
        "missing": [],
        "needs_world": [],
        "pieces": ["one"],
        "results": [],
        "today": "",
        "verdict": "self_contained",
        "confidence": 0.9,
    } | changes


def lack(what: str, quote: str, kind: str = "file") -> dict[str, str]:
    return {"what": what, "kind": kind, "quote": quote}


def written(request: str = "Sum trips.csv", **changes: Any) -> dict[str, Any]:
    """A task with `request`."""
    return {
        "request": request,
        "left_out": [],
        "deliverables": [{"path": "answer.md", "unchanged": False, "what": "the answer"}],
        "business_task": "Sum up a list",
        "role": UNASSIGNED,
        "skill": UNASSIGNED,
        "family": UNASSIGNED,
        "difficulty_reason": "one step",
        "difficulty": "easy",
    } | changes


def criterion(
    dimension: str, weight: float, *facts: tuple[str, str], **more: Any
) -> dict[str, Any]:
    return {
        "dimension": dimension,
        "weight": weight,
        "text": f"It says what {dimension} asks for.",
        "met": "All.",
        "partly": "Some.",
        "not_met": "None.",
        "facts": [{"path": path, "quote": quote} for path, quote in facts],
    } | more


DIMENSIONS = (
    "grounded_accuracy",
    "task_relevance",
    "substantive_depth",
    "practical_utility",
    "communication_quality",
)


def graded(*criteria: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A rubric of these criteria, or of one for each dimension."""
    given = list(criteria) or [criterion(name, 0.2) for name in DIMENSIONS]
    return {
        "traps": [],
        "criteria": given,
        "route": "text",
        "retrieval": False,
        "accuracy": True,
        "action": False,
        "semantic": True,
        "why": "it can be computed",
        "computable": False,
        "reference": "",
        "checks": "",
    } | changes
