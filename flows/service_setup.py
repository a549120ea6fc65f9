"""What the server must know before the worker starts: pool, notifications, runs cut off.

Imports Prefect: the environment must lead to the service's server by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import yaml
from prefect.automations import AutomationCore, EventTrigger
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.automations import Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Crashed, Scheduled
from prefect.workers.process import ProcessWorker
from pydantic import SecretStr

from data.canonical import pretty_json

_AUTOMATION = "benchmint-run-ended-badly"
_BLOCK = "benchmint-notify"
_WATCH = "benchmint-run-lost"
_LOST = "Lost"  # a kind of Crashed: the process of the run was killed, or its machine
SILENCE = timedelta(minutes=5)  # ten signs of life that did not come
_LATELY = timedelta(days=7)  # crashed runs that are older are let be
_UNENDED: dict[str, Any] = {
    "state": {"type": {"any_": [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]}}
}
_SILENT = (
    "No sign of life; the process may have been killed. Finished stages are kept; make "
    "serve continues from them."
)
_SIGN = "prefect.flow-run.heartbeat"
_BADLY = ("Failed", "Crashed", "TimedOut", _LOST)
_RUNS_NO_MORE = ("Completed", "Cancelled", "AwaitingRetry", *_BADLY)
_MANY = 200  # the most that Prefect's API gives at once
_ANY_RUN = ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"})
_PAYLOAD = {
    "deployment": "{{ deployment.name }}",
    "run": "{{ flow_run.name }}",
    "run_id": "{{ flow_run.id }}",
    "state": "{{ flow_run.state.name }}",
    "message": "{{ flow_run.state.message }}",
}


def prepare(pool: str, webhook: str | None) -> None:
    """Make the work pool and the notification; free turns and runs that a kill left behind."""
    with get_client(sync_client=True) as client:
        template = ProcessWorker.get_default_base_job_template()
        work_pool = WorkPoolCreate(name=pool, type="process", base_job_template=template)
        client.create_work_pool(work_pool, overwrite=True)
        for name in (_AUTOMATION, _WATCH):
            for known in client.read_automations_by_name(name):
                client.delete_automation(known.id)
        _resume(client, _runs(client, _UNENDED))  # nothing runs now, whatever the server says
        _resume(client, _crashed(client))
        _notify(client, webhook)
        client.create_automation(_watch(SILENCE))


def deployments(root: Path) -> list[str]:
    """FLOW/DEPLOYMENT of everything in prefect.yaml, whose flows are named as their functions."""
    deployments = yaml.safe_load((root / "prefect.yaml").read_text(encoding="utf-8"))
    return [
        f"{one['entrypoint'].rpartition(':')[2].replace('_', '-')}/{one['name']}"
        for one in deployments["deployments"]
    ]


def missing_deployments(root: Path) -> list[str]:
    """What prefect.yaml names and the server does not have."""
    with get_client(sync_client=True) as client:
        return [name for name in deployments(root) if not _is_deployed(client, name)]


def _is_deployed(client: SyncPrefectClient, name: str) -> bool:
    try:
        client.read_deployment_by_name(name)
    except ObjectNotFound:
        return False
    return True


def worker_is_online(pool: str) -> bool:
    """Does a worker of the pool answer?"""
    with get_client(sync_client=True) as client:
        workers = client.read_workers_for_work_pool(pool)
    return any(worker.status == "ONLINE" for worker in workers)


def resume_crashed() -> None:
    """Take up what crashed while the service went on, for whom a start has nothing else to do."""
    with get_client(sync_client=True) as client:
        _resume(client, _crashed(client))


def _crashed(client: SyncPrefectClient) -> list[FlowRun]:
    """What crashed lately: its process was killed, or it gave no sign of life."""
    since = datetime.now(UTC) - _LATELY
    crashed = {"state": {"type": {"any_": [StateType.CRASHED]}}, "end_time": {"after_": since}}
    return _runs(client, crashed)


def _resume(client: SyncPrefectClient, runs: Iterable[FlowRun]) -> None:
    """Runs of deployments that were cut off are due again, and go on from finished stages."""
    for run in runs:
        if run.deployment_id is None or run.state is None:
            continue  # a part of another run, or a build by hand
        for part in _runs(client, _UNENDED | {"parent_flow_run_id": {"any_": [run.id]}}):
            client.set_flow_run_state(part.id, Crashed(name=_LOST, message=_SILENT), force=True)
        ended = run.state.type is StateType.CANCELLING
        client.set_flow_run_state(run.id, Cancelled() if ended else _due(run), force=True)


def _runs(client: SyncPrefectClient, wanted: dict[str, Any]) -> list[FlowRun]:
    """The runs that a filter chooses, in the order in which they were due."""
    order = FlowRunSort.EXPECTED_START_TIME_ASC
    chosen = FlowRunFilter.model_validate(wanted)
    return client.read_flow_runs(flow_run_filter=chosen, sort=order, limit=_MANY)


def _due(run: FlowRun) -> Scheduled:  # type: ignore[valid-type]
    return Scheduled(
        scheduled_time=run.expected_start_time,
        name="AwaitingRetry",
        message="The run was cut off; finished stages are kept.",
    )


def _watch(silence: timedelta) -> AutomationCore:
    """One automation: a run without a heartbeat is marked as lost, and so is each of its parts.

    A killed process says nothing, and without this its run, or a part of a run that the worker has
    seen end, would stay Running.
    """
    trigger = EventTrigger(
        posture=Posture.Proactive,
        after={_SIGN},
        expect={_SIGN} | _events(_RUNS_NO_MORE),
        match=_ANY_RUN,
        for_each={"prefect.resource.id"},
        threshold=1,
        within=silence,
    )
    crashed = StateType.CRASHED
    action = ChangeFlowRunState(name=_LOST, state=crashed, message=_SILENT, force=False)
    return AutomationCore(name=_WATCH, trigger=trigger, actions=[action])


def _events(states: Iterable[str]) -> set[str]:
    return {f"prefect.flow-run.{state}" for state in states}


def _notify(client: SyncPrefectClient, address: str | None) -> None:
    """One automation: a deployed run that ends badly is reported to the webhook, if set."""
    if address is None:
        return
    # Outside of a loop the id comes at once.
    block = cast(UUID, Webhook(url=SecretStr(address)).save(_BLOCK, overwrite=True))
    trigger = EventTrigger(
        expect=_events(_BADLY),
        match=_ANY_RUN,
        match_related=ResourceSpecification({"prefect.resource.role": "deployment"}),
        threshold=1,
        within=timedelta(0),
    )
    payload = pretty_json(_PAYLOAD).decode()
    action = CallWebhook(block_document_id=block, payload=payload)
    client.create_automation(AutomationCore(name=_AUTOMATION, trigger=trigger, actions=[action]))
