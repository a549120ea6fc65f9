"""A small release with one workflow task: a mail to read, a task to write down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from construction.workflows.contracts import Fault, FaultKind, World
from construction.workflows.declaration import tools_of
from construction.workflows.runs import InProcessClient, reference_steps
from construction.workflows.world_file import write_world
from data.contracts import Answer, Budget, Candidate, Check, Evidence, Lane
from data.snapshot.writer import write_snapshot
from tests.construction.workflows.clients import MAIL
from tests.construction.workflows.worlds import ACTOR, NOW
from tests.data.snapshot.sample import release

SERVICES = ("mail", "todo")
SLOW = Fault("todo", "search_tasks", FaultKind.SLOW, (1,))
SLOW_CALL = ("todo_search_tasks", {"status": "open"})
WORLD = World({"mail": {"messages": MAIL}, "todo": {"tasks": {}}}, NOW, ACTOR, (SLOW,))
TODO = {"title": "Refund order 7", "due_on": "2026-03-06"}
ANSWER = "sender: ann@acme.example"
CHECKS = (
    Check(
        check_id="read", kind="records_returned", evidence="retrieval", weight=0.2, required=True,
        params={"service": "mail", "records": ["messages/m-1"]}, text="The mail was read.",
    ),
    Check(
        check_id="made", kind="record_created", weight=0.2, required=True,
        params={"service": "todo", "where": TODO, "max": 1}, text="One task was written down.",
    ),
    Check(
        check_id="rest", kind="unchanged", weight=0.1, required=True,
        params={"except": [{"service": "todo", "where": TODO}]}, text="Nothing else changed.",
    ),
)  # fmt: skip


def reference() -> InProcessClient:
    """The client after the reference solution."""
    client = InProcessClient(WORLD)
    client.call("mail", "search_messages", query="order 7")
    client.call("mail", "get_message", id="m-1")
    client.call("todo", "create_task", **TODO)
    return client


def _workflow(task: Candidate) -> Candidate:
    return task.model_copy(
        update={
            "lane": Lane.WORKFLOWS,
            "prompt": "Write down the refund that a customer asks for as a task due tomorrow. "
            "Who asks? Answer as `sender: address`.",
            "fixtures": (),
            "tools": tuple(tool.name for tool in tools_of(SERVICES)),
            "deliverables": (),
            "rules": (),
            "answers": (Answer(part="sender", type="text", value="ann@acme.example"),),
            "steps": reference_steps(reference().audit, ANSWER),
            "checks": CHECKS,
            "evidence": Evidence(retrieval=True, accuracy=True, action=True),
            "budget": Budget(turns=24, seconds=60),
        }
    )


def write_release(root: Path) -> tuple[Path, str]:
    """The snapshot, and the id of its workflow task."""
    given = release(root)
    first, *rest = given.candidates
    path = root / "world.json"
    write_world(path, WORLD)
    candidates = [_workflow(first), *rest]
    whole = replace(given, candidates=candidates, worlds={first.task_id: path})
    return write_snapshot(whole, root / "out").path, first.task_id
