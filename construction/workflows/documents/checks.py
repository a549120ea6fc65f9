"""What is right as checks: what the wanted changes lead to, what may change besides, what is read.

The weights are the same for every draft: 0.2 for records that were read, 0.2 for actions, the rest
for accuracy, of which values written into records take a third where there are any. Every check of
an action is required, and so is that the records with the rules were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from construction.workflows.contracts import Client, RefusedError, World
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.documents.contracts import Act, DocumentFault
from construction.workflows.documents.gold import Arguments, Decided
from construction.workflows.documents.tables import fields_of
from construction.workflows.engine import state_changes
from construction.workflows.runs import InProcessClient, attempt
from construction.workflows.values import FieldType
from data.contracts.attempt import StateChange
from data.contracts.candidate import Check

RETRIEVAL, ACTION, WRITTEN = 0.2, 0.2, 0.2  # shares of the whole task
_MOST_REFUSED = 6  # refused requests that a message names
_CLOCKED = (FieldType.DATE, FieldType.DATETIME)


def carry_out(client: Client, act: Act, arguments: Arguments) -> None:
    """One act, and what follows it. Raises RefusedError."""
    service, _, operation = act.operation.partition(".")
    done = attempt(client, service, operation, **_worded(act, arguments))
    for title in act.then:
        name, _, following = title.partition(".")
        attempt(client, name, following, id=done["id"])


def _worded(act: Act, arguments: Arguments) -> Arguments:
    """Arguments as they are given: texts that have to state several things state them in a line."""
    service, _, operation = act.operation.partition(".")
    rules = operations(service)[operation].arguments
    return {
        name: "; ".join(map(str, value))
        if isinstance(value, list) and name in rules and rules[name].type is FieldType.TEXT
        else value
        for name, value in arguments.items()
    }


def checks_of(world: World, right: Decided, required: Sequence[str]) -> tuple[Check, ...]:
    """The checks of a draft; `required` are the records that have to be read.

    Raises DocumentFault where a service refuses what is wanted.
    """
    wanted, allowed = [], []
    stating = _stating(right)
    for number, (act, change) in enumerate(_changed(world, right), 1):
        check, may = _wanted(f"write.{number}", act, change, stating)
        wanted.append(check)
        allowed.append(may)
    # Where nothing is to be done, the request says so: a note or a star is then a change too.
    free = free_effects(wanted, world.state) if wanted else []
    only = Check(
        check_id="only",
        kind="unchanged",
        params={"except": allowed, "free": free},
        text="Nothing else is changed.",
        required=True,
    )
    written = [
        check.model_copy(update={"evidence": "accuracy"}) for check in wanted if _has_number(check)
    ]
    acted = [*(check for check in wanted if not _has_number(check)), only]
    return (
        *_weighed(_read_checks(required), RETRIEVAL),
        *_weighed(acted, ACTION),
        *_weighed(written, WRITTEN),
    )


def _changed(world: World, right: Decided) -> list[tuple[Act, StateChange]]:
    """The changes that the acts lead to, each with the last act behind it. Raises DocumentFault."""
    client, behind = InProcessClient(world), dict[tuple[str, str], Act]()
    refused = dict[str, None]()
    for act, arguments in right.acts:
        before = client.world
        try:
            carry_out(client, act, arguments)
        except RefusedError as error:
            refused[f"{act.operation} is refused: {error}"] = None
        for change in state_changes(before.state, client.world.state):
            behind[(change.service, change.record)] = act
    if refused:
        raise DocumentFault("\n".join(islice(refused, _MOST_REFUSED)))
    return [(behind[(c.service, c.record)], c) for c in client.changes]


def _stating(right: Decided) -> dict[str, list[Any]]:
    """What texts have to state, by the text that the reference writes."""
    stated: dict[str, list[Any]] = {}
    for act, arguments in right.acts:
        worded = _worded(act, arguments)
        for name, value in arguments.items():
            if isinstance(value, list) and isinstance(worded[name], str):
                stated[worded[name]] = value
    return stated


def _wanted(
    name: str, act: Act, change: StateChange, stating: Mapping[str, list[Any]]
) -> tuple[Check, dict[str, Any]]:
    """The check of a change, and what of it `unchanged` allows."""
    service, before, after = change.service, change.before, change.after
    if after is None:
        params: dict[str, Any] = {"service": service, "record": change.record}
        return _check(name, "record_deleted", params, act), {"service": service, "where": before}
    rules = fields_of(f"{service}.{change.record.partition('/')[0]}")
    stamps = {f for f, rule in rules.items() if rule.read_only and rule.type in _CLOCKED}
    open_fields = {*act.loose, *stamps}
    plain = {f: _meant(v, stating, act.only_of) for f, v in after.items() if f not in open_fields}
    if before is None:
        where = {f: v for f, v in plain.items() if f != "id"}
        params = {"service": service, "where": where, "min": 1, "max": 1}
        return _check(name, "record_created", params, act), {"service": service, "where": where}
    where = {f: v for f, v in plain.items() if before.get(f) != after[f]}
    params = {"service": service, "record": change.record, "where": where}
    return _check(name, "record_equals", params, act), {**params, "where": plain}


def _meant(value: Any, stating: Mapping[str, list[Any]], only_of: Sequence[str]) -> Any:
    if isinstance(value, str) and value in stating:
        stated = [str(each) for each in stating[value]]
        barred = [word for word in only_of if word not in stated]
        return {"contains_all": stated, **({"contains_none": barred} if barred else {})}
    if isinstance(value, list) and value:
        return {"same_items": value}
    return value


def _check(name: str, kind: str, params: dict[str, Any], act: Act) -> Check:
    return Check(check_id=name, kind=kind, params=params, text=act.text, required=True)


def free_effects(checks: Sequence[Check], services: Iterable[str]) -> list[dict[str, Any]]:
    """What an agent may change by the way: harmless, and not what any of the checks is about."""
    set_to = [check.params for check in checks if check.kind == "record_equals"]
    set_fields = {(params["service"], name) for params in set_to for name in params["where"]}
    made = {check.params["service"] for check in checks if check.kind == "record_created"}
    free: list[dict[str, Any]] = []
    for service in sorted(services):
        for plural, collection in declared(service).collections.items():
            where = {"service": service, "collection": plural}
            free += [
                {**where, "field": name, "among": rule.harmless}
                for name, rule in collection.fields.items()
                if rule.harmless and (service, name) not in set_fields
            ]
            if collection.harmless_new is not None and service not in made:
                free.append({**where, "new": dict(collection.harmless_new)})
    return free


def _has_number(check: Check) -> bool:
    """Does it demand a number? Such a write shows whether the agent got its facts right."""
    values = check.params.get("where", {}).values()
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _read_checks(required: Sequence[str]) -> list[Check]:
    """A check for each service that the records with the rules were read."""
    by_service: dict[str, list[str]] = {}
    for service, _, record in sorted(
        (name.partition("/") for name in required), key=lambda parts: parts[0]
    ):
        by_service.setdefault(service, []).append(record)
    return [
        Check(
            check_id=f"read.rule.{service}",
            kind="records_returned",
            params={"service": service, "records": records},
            text=f"The records needed were read in {service}.",
            required=True,
            evidence="retrieval",
        )
        for service, records in by_service.items()
    ]


def _weighed(checks: Sequence[Check], total: float) -> list[Check]:
    """The checks with equal weights that sum to `total`, in millionths: the first has the rest."""
    if not checks:
        return []
    millionths = round(total * 1e6)
    each = millionths // len(checks) / 1e6
    rest = (millionths - millionths // len(checks) * (len(checks) - 1)) / 1e6
    weights = [rest, *[each] * (len(checks) - 1)]
    return [c.model_copy(update={"weight": w}) for c, w in zip(checks, weights, strict=True)]
