"""The stage of workflow drafts: what somebody proposes is a shard beside those of generators."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from construction.workflows.demand import REPORT
from data.canonical import canonical_json
from data.pool import read_pool
from data.stages import Results, run_stage
from flows.commands.lanes import workflows_command
from flows.recipe import Recipe, Runtime
from flows.run import open_run
from flows.stages.workflows import WORKFLOW_DEMAND, WORKFLOWS
from tests.construction.workflows.test_proposals import BOSS, PROPOSAL


def proposals(folder: Path) -> Path:
    """A file with a good proposal and one that is none."""
    good = deepcopy(PROPOSAL)
    ticket = good["state"]["helpdesk"]["tickets"]["tkt-1"] | {"assignee": BOSS}
    good["checks"][2]["params"]["except"] = [{"service": "helpdesk", "where": ticket}]
    path = folder / "proposals.jsonl"
    path.write_bytes(canonical_json(good) + b"\n{\n")
    return path


def test_proposals_are_screened_beside_the_drafts_of_generators(tmp_path: Path) -> None:
    demand = tmp_path / "demand"
    demand.mkdir()
    (demand / REPORT).write_bytes(canonical_json({"drafts": {"order_enquiries": 1}}))
    (demand / "sums.json").write_bytes(b"{}")
    runtime = Runtime(out=tmp_path / "out", quiet=True, proposals=proposals(tmp_path))
    results = Results(outputs={WORKFLOW_DEMAND.name: (demand,)})
    run_stage(open_run(Recipe(), runtime), WORKFLOWS, results)
    sources = {
        task.provenance.source for task in read_pool(results.outputs[WORKFLOWS.name]).candidates
    }
    assert sources == {"scenarios over services", "proposal"}


def test_the_command_says_what_becomes_of_each_proposal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped(Exception):
        """Before the build, which takes minutes."""

    def stop(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr("flows.build_snapshot.build", stop)
    with pytest.raises(Stopped):
        workflows_command(proposals=proposals(tmp_path), out=tmp_path / "out")
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in lines if line.startswith("proposal-")] == [
        "passes the screening",
        "proposal.unfit: no JSON",
    ]
