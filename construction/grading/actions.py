"""Checks on what an agent did to controlled services: audit rows and state changes.

A check is data: its `kind` names one of the functions below, its `params` say which requests or
records it is about. `where` maps fields (dotted for nested ones) to a value, or to a constraint
such as `{"contains": "refund"}`; the operators are those of `field_conditions`.

Checks that only forbid are satisfied by an agent that does nothing. They therefore count only
where at least one other check of the task is satisfied, if the task has others.

Imports the standard library, text utilities and `data.contracts.attempt`: the exported bundle takes
it along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from construction.grading.answers.mentions import mentions
from construction.grading.spec import CheckSpec, TaskSpec
from data.contracts.attempt import AuditRow, ScorePart, StateChange, Submission
from data.text.folding import plain_form

# Do fields of requests and records meet what a check wants of them?
#
# Imports the reader of answers and text utilities: the exported bundle takes them along.

MAX_CHARS = 10_000  # of a field that is searched


def fits(fields: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Do all fields fit? A missing field fits only `{"exists": false}`."""
    return all(_meets(_field(fields, name), wanted) for name, wanted in (where or {}).items())


_ABSENT = object()


def _field(fields: Mapping[str, Any], name: str) -> Any:
    if name in fields:
        return fields[name]
    value: Any = fields
    for key in name.split("."):
        value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    return value


def _meets(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return value is not _ABSENT and _equals(value, wanted)
    if value is _ABSENT:
        return wanted == {"exists": False}
    return all(
        name in _OPERATORS and _OPERATORS[name](value, operand) for name, operand in wanted.items()
    )


def _equals(value: Any, wanted: Any) -> bool:
    """Numbers by value, texts without width, case and amount of white space."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, str) and isinstance(wanted, str):
        return plain_form(value) == plain_form(wanted)
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(map(_equals, value, wanted))
    first, second = _number(value), _number(wanted)
    if first is not None and second is not None:
        return first == second
    return bool(value == wanted)


def _number(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool | Mapping | list | tuple):
        return None
    try:
        number = Decimal(str(value)[:100])
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _compares(value: Any, bound: Any, sign: int) -> bool:
    """Is `sign` times the difference from a bound at least zero? Texts, such as days, by order."""
    first, second = _number(value), _number(bound)
    if first is not None and second is not None:
        return (first - second) * sign >= 0
    if isinstance(value, str) and isinstance(bound, str):
        return value >= bound if sign > 0 else value <= bound
    return False


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_equals(item, wanted) for item in value)
    return mentions(str(value)[:MAX_CHARS], str(wanted))


def _all_of(value: Any, wanted: Sequence[Any]) -> bool:
    return all(_contains(value, item) for item in wanted)


def _same_items(value: Any, wanted: Sequence[Any]) -> bool:
    """A list with exactly these items, in any order."""
    if not isinstance(value, list | tuple) or len(value) != len(wanted):
        return False
    free = list(value)
    for item in wanted:
        at = next((at for at, other in enumerate(free) if _equals(other, item)), None)
        if at is None:
            return False
        free.pop(at)
    return True


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": _equals,
    "not": lambda value, wanted: not _equals(value, wanted),
    "in": lambda value, wanted: any(_equals(value, item) for item in wanted),
    "contains": _contains,
    "contains_all": _all_of,
    "same_items": _same_items,
    "matches": lambda value, wanted: re.search(wanted, str(value)[:MAX_CHARS], re.I) is not None,
    "min": lambda value, bound: _compares(value, bound, 1),
    "max": lambda value, bound: _compares(value, bound, -1),
    "exists": lambda value, wanted: wanted is True,
}


OK = "ok"  # the status of a request that a service carried out
FORBIDS = frozenset({"not_called", "unchanged"})
CHANGES = frozenset({"record_equals", "record_created", "record_deleted"})


class ActionReason(StrEnum):
    """Why a check on actions failed; renaming one is a breaking change."""

    NOT_CALLED = "action.not_called"
    REFUSED = "action.refused"  # called, but the service refused each time
    WRONG_ARGUMENTS = "action.wrong_arguments"
    TOO_FEW_CALLS = "action.too_few_calls"
    TOO_MANY_CALLS = "action.too_many_calls"
    FORBIDDEN_CALL = "action.forbidden_call"
    WRONG_ORDER = "action.wrong_order"
    RECORD_NOT_READ = "action.record_not_read"  # the agent was never shown all of it
    RECORD_UNCHANGED = "action.record_unchanged"
    WRONG_RECORD = "action.wrong_record"  # changed, to something else
    NOT_CREATED = "action.not_created"
    TOO_MANY_CREATED = "action.too_many_created"
    NOT_DELETED = "action.not_deleted"
    OTHER_CHANGES = "action.other_changes"
    NOTHING_DONE = "action.nothing_done"  # nothing forbidden, but nothing else either
    UNKNOWN_CHECK = "action.unknown_check"


def grade_actions(spec: TaskSpec, submission: Submission) -> tuple[ScorePart, ...]:
    """One part per check of the task, `check.<id>`, worth 1 or 0. Never raises."""
    reasons = {check.check_id: _reason(check, submission) for check in spec.checks}
    demands = [check for check in spec.checks if check.kind not in FORBIDS]
    is_idle = bool(demands) and all(reasons[check.check_id] for check in demands)
    return tuple(_part(check, reasons[check.check_id], is_idle) for check in spec.checks)


def _part(check: CheckSpec, reason: ActionReason | None, is_idle: bool) -> ScorePart:
    if reason is None and is_idle and check.kind in FORBIDS:
        reason = ActionReason.NOTHING_DONE
    return ScorePart(
        name=f"check.{check.check_id}",
        evidence=check.evidence,
        weight=check.weight,
        value=0.0 if reason else 1.0,
        required=check.required,
        reason=reason,
    )


def _reason(check: CheckSpec, submission: Submission) -> ActionReason | None:
    run = _KINDS.get(check.kind)
    return ActionReason.UNKNOWN_CHECK if run is None else run(check.params, submission)


# Requests


def _called(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """`operation` was carried out with arguments that fit `where`, `min` (1) to `max` times."""
    rows = [row for row in submission.audit if _is_operation(params, row)]
    carried_out = [row for row in rows if row.status == OK]
    fitting = [row for row in carried_out if fits(row.arguments, params.get("where"))]
    least, most = int(params.get("min", 1)), params.get("max")
    if most is not None and len(fitting) > int(most):
        return ActionReason.TOO_MANY_CALLS
    if len(fitting) >= least:
        return None
    if fitting:
        return ActionReason.TOO_FEW_CALLS
    if carried_out:
        return ActionReason.WRONG_ARGUMENTS
    return ActionReason.REFUSED if rows else ActionReason.NOT_CALLED


def _not_called(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """`operation` was never carried out with arguments that fit `where`."""
    done = any(
        _is_operation(params, row) and row.status == OK and fits(row.arguments, params.get("where"))
        for row in submission.audit
    )
    return ActionReason.FORBIDDEN_CALL if done else None


def _order(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """The requests of `calls`, each with `operation` and `where`, were carried out in this order.

    Others may come between them.
    """
    rows = [row for row in submission.audit if row.status == OK]
    position = 0
    for wanted in params.get("calls", ()):
        fitting = [
            at
            for at, row in enumerate(rows)
            if _is_operation(wanted, row) and fits(row.arguments, wanted.get("where"))
        ]
        if not fitting:
            return ActionReason.NOT_CALLED
        following = [at for at in fitting if at >= position]
        if not following:
            return ActionReason.WRONG_ORDER
        position = following[0] + 1
    return None if position else ActionReason.NOT_CALLED


def _records_returned(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """All `records` ("collection/id") of `service` were shown to the agent as a whole."""
    wanted = set(params.get("records", ()))
    shown = {
        record
        for row in submission.audit
        if row.status == OK and params.get("service") in (None, row.service)
        for record in row.records
    }
    return None if wanted and wanted <= shown else ActionReason.RECORD_NOT_READ


def _is_operation(params: Mapping[str, Any], row: AuditRow) -> bool:
    service = params.get("service")
    return row.operation == params.get("operation") and service in (None, row.service)


# Records


def _record_equals(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """The `record` was changed, or made, and now fits `where`."""
    record = params.get("record")
    changed = [change for change in _changes(params, submission) if record in (None, change.record)]
    after = [change.after for change in changed if change.after is not None]
    if any(fits(fields, params.get("where")) for fields in after):
        return None
    return ActionReason.WRONG_RECORD if changed else ActionReason.RECORD_UNCHANGED


def _record_created(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """Records that fit `where` were made, `min` (1) to `max` of them."""
    made = [
        change
        for change in _changes(params, submission)
        if change.before is None and change.after is not None
    ]
    fitting = [change for change in made if fits(change.after or {}, params.get("where"))]
    most = params.get("max")
    if most is not None and len(fitting) > int(most):
        return ActionReason.TOO_MANY_CREATED
    if len(fitting) >= int(params.get("min", 1)):
        return None
    return ActionReason.WRONG_RECORD if made else ActionReason.NOT_CREATED


def _record_deleted(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """The `record`, or one that fitted `where`, is gone."""
    record = params.get("record")
    gone = any(
        change.after is None
        and change.before is not None
        and record in (None, change.record)
        and fits(change.before, params.get("where"))
        for change in _changes(params, submission)
    )
    return None if gone else ActionReason.NOT_DELETED


def _unchanged(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """No record changed but those of `except`, given by id or as `{"where": ...}` on a side.

    With a `record` such a rule is about that one alone. `free` are effects that nobody minds: a
    `field` of a `collection` that moves `among` these values (true: among all), or `new` records
    that fit.
    """
    allowed, free = params.get("except", ()), params.get("free", ())
    about: dict[str | None, list[Any]] = {}  # the rules of each record, and those of all
    for rule in allowed:
        about.setdefault(rule.get("record") if isinstance(rule, Mapping) else rule, []).append(rule)
    for change in _changes(params, submission):
        minded = _without_free(change, free)
        rules = (*about.get(change.record, ()), *about.get(None, ()))
        if minded.before != minded.after and not any(_is_allowed(rule, minded) for rule in rules):
            return ActionReason.OTHER_CHANGES
    return None


def _without_free(change: StateChange, free: Sequence[Mapping[str, Any]]) -> StateChange:
    """The change without what is free in it; none is left of a record that may be made."""
    collection = change.record.partition("/")[0]
    rules = [r for r in free if (r["service"], r["collection"]) == (change.service, collection)]
    if change.after is None:
        return change
    if change.before is None:
        is_free = any("new" in rule and fits(change.after, rule["new"]) for rule in rules)
        return replace(change, after=None) if is_free else change
    before, after = change.before, dict(change.after)
    for rule in rules:
        name = rule.get("field", "")
        values = {fields[name] for fields in (before, after) if name in fields}
        if name in after and (rule["among"] is True or values <= {*rule["among"]}):
            del after[name]
            after |= {name: before[name]} if name in before else {}
    return replace(change, after=after)


def _is_allowed(rule: Any, change: StateChange) -> bool:
    if not isinstance(rule, Mapping):
        return bool(rule == change.record)
    service = rule.get("service")
    sides = [side for side in (change.before, change.after) if side is not None]
    return service in (None, change.service) and any(
        fits(side, rule.get("where")) for side in sides
    )


def _changes(params: Mapping[str, Any], submission: Submission) -> list[StateChange]:
    service = params.get("service")
    return [change for change in submission.changes if service in (None, change.service)]


_KINDS: Mapping[str, Callable[[Mapping[str, Any], Submission], ActionReason | None]] = {
    "called": _called,
    "not_called": _not_called,
    "order": _order,
    "records_returned": _records_returned,
    "record_equals": _record_equals,
    "record_created": _record_created,
    "record_deleted": _record_deleted,
    "unchanged": _unchanged,
}
