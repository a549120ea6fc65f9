"""All generators of workspace repair, and the drafts that passed their screening as candidates."""

from __future__ import annotations

from collections.abc import Iterator

from construction.grading.file_types import extension_of
from construction.prompt_frame import WORDS
from construction.workflows.declaration import tools_of
from construction.workflows.repair.drafts import Repair, RepairDraft
from construction.workflows.repair.faults import (
    crontab_times,
    queue_log,
    service_settings,
    site_modes,
)
from construction.workflows.repair.faulty_programs import REPAIRS_OF
from data.canonical import digest
from data.contracts import (
    Budget,
    Candidate,
    Deliverable,
    Disclosure,
    Evidence,
    Fixture,
    Label,
    Lane,
    Provenance,
    Structure,
)

REPAIRS: tuple[Repair, ...] = tuple(
    sorted(
        (
            crontab_times.REPAIR,
            queue_log.REPAIR,
            service_settings.REPAIR,
            site_modes.REPAIR,
            *REPAIRS_OF.values(),
        ),
        key=lambda repair: repair.name,
    )
)
BY_NAME = {repair.name: repair for repair in REPAIRS}


SOURCE = "workspace repair"
TOOLS = ("shell", "read_file", "write_file")
_BUDGET = Budget(turns=40, seconds=900)
_LARGE_BUDGET = Budget(turns=80, seconds=1800)  # of programs of several hundred lines
_ARCHIVE_BUDGET = Budget(turns=140, seconds=2700)  # and of an archive that is read besides
_MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "tar": "application/x-tar",
}


def _item_id(draft: RepairDraft) -> str:
    """The private name of a draft."""
    return f"{draft.generator}-{draft.number}"


def _prompt_of(draft: RepairDraft) -> str:
    """The request, the files that come with it, and where to put what is delivered."""
    words = WORDS["en"]
    inputs = "\n".join(f"- inputs/{name}" for name in sorted(draft.inputs))
    outputs = "\n".join(f"- {words.named.format(name=name)}" for name in draft.delivers)
    return f"{draft.prompt}\n\n{words.inputs}\n{inputs}\n\n{words.deliver}\n{outputs}"


def candidate_of(draft: RepairDraft, repair: Repair, task_id: str) -> Candidate:
    """The candidate of a draft."""
    return Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=_prompt_of(draft),
        language="en",
        task_family=Label(
            value=repair.task_family, confidence=1.0, reason=f"repair of {repair.kind}"
        ),
        business_task=repair.meaning.rstrip("."),
        execution_surface="workspace",
        fixtures=tuple(_fixture(name, data) for name, data in sorted(draft.inputs.items())),
        structure=_structure(draft),
        split=repair.split,
        tools=(*TOOLS, *_services_tools(draft)),
        budget=_budget(draft),
        deliverables=tuple(_deliverable(name) for name in draft.delivers),
        checks=draft.checks,
        evidence=Evidence(
            accuracy=any(check.evidence == "accuracy" for check in draft.checks),
            action=any(check.evidence == "action" for check in draft.checks),
        ),
        provenance=Provenance(
            source=SOURCE,
            source_format="scenario",
            item_id=_item_id(draft),
            disclosure=Disclosure.PUBLIC,
            licence="Apache-2.0",
            detail={"generator": draft.generator, "rule": draft.rule, "kind": repair.kind},
        ),
    )


def _structure(draft: RepairDraft) -> Structure:
    """Files and deliveries; with an archive, its papers and the requests of the reference too."""
    state = draft.world.state if draft.world else {}
    papers = sum(len(records) for each in state.values() for records in each.values())
    calls = len(draft.delivers) + draft.requests
    return Structure(
        records=len(draft.inputs) + papers, overriding=1, services=len(state), calls=calls
    )


def _services_tools(draft: RepairDraft) -> Iterator[str]:
    for tool in tools_of(sorted(draft.world.state)) if draft.world else ():
        yield tool.name


def _budget(draft: RepairDraft) -> Budget:
    if draft.world:
        return _ARCHIVE_BUDGET
    return _LARGE_BUDGET if draft.generator in REPAIRS_OF else _BUDGET


def _fixture(name: str, data: bytes) -> Fixture:
    media_type = _MEDIA_TYPES.get(extension_of(name), "text/plain")
    return Fixture(path=name, sha256=digest(data), bytes=len(data), media_type=media_type)


def _deliverable(name: str) -> Deliverable:
    return Deliverable(file_type=extension_of(name) or "txt", name_hints=(name,))
