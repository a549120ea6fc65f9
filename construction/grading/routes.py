"""The routes by which a judge is shown what it has to judge: as text, or by its look.

A criterion of a rubric is worth something only if some judge can be shown the deliverable and the
files that the criterion points at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.grading.file_types import TYPES, FileType, type_of
from data.contracts import Candidate, Fixture

# Types whose look can be judged.
VISUAL = frozenset({"pptx", "png", "jpg", "gif", "webp", "svg", "html", "pdf", "docx", "xlsx"})
_SHOWN = ("text/", "image/")  # media types that a judge can be shown, whatever the file's name


def unresolved(task: Candidate) -> Iterator[tuple[str, str]]:
    """What is left to a judge and cannot be shown to one: what is wrong, and where.

    A task without files is judged by its answer. A criterion that names evidence needs one piece
    that can be shown by either route: an input file, or a URL that the task may reach.
    """
    if task.rubric is None or not task.rubric.criteria:
        return
    types = [TYPES.get(item.file_type) for item in task.deliverables]
    if types and not any(_shows(kind, task.rubric.route) for kind in types):
        yield f"nothing_to_judge_as_{task.rubric.route}", "rubric"
    shown = {fixture.path for fixture in task.fixtures if _can_be_shown(fixture)}
    for number, criterion in enumerate(task.rubric.criteria, 1):
        if criterion.evidence and not _has_one(criterion.evidence, shown, task.network.urls):
            yield "no_evidence_to_show", f"criterion {number}"


def _shows(kind: FileType | None, route: str) -> bool:
    if kind is None:  # no rule opens it, a judge is shown what of it is text
        return route == "text"
    return kind.name in VISUAL if route == "visual" else _has_text(kind)


def _has_text(kind: FileType) -> bool:
    return kind.opener not in (None, "image", "zip")


def _can_be_shown(fixture: Fixture) -> bool:
    kind = type_of(fixture.path)
    if kind is None:
        return fixture.media_type.startswith(_SHOWN)
    return _has_text(kind) or kind.name in VISUAL


def _has_one(evidence: Sequence[str], shown: set[str], urls: Sequence[str]) -> bool:
    """Does one pointer (`path`, `path#part` or a URL) lead to what can be shown?"""
    return any(
        pointer in urls or pointer in shown or pointer.partition("#")[0] in shown
        for pointer in evidence
    )
