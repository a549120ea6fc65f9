"""Checks on what an agent did to controlled services (audit rows, state changes) and mentioned.

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
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from itertools import pairwise
from typing import Any

from construction.grading.answers import lexicon
from construction.grading.answers.question import common_dates
from construction.grading.answers.tokens import Value, scan_values
from construction.grading.answers.units import settle
from construction.grading.spec import CheckSpec, TaskSpec
from data.contracts.attempt import AuditRow, ScorePart, StateChange, Submission
from data.text.dates import Moment, find_dates, read_date
from data.text.folding import fold_width, plain_form

_MAX_DAYS, _MAX_FIGURES = 8, 60  # different ones in a text that still states one of them
_REACH = 120  # characters before and behind a token that may deny it
_MARKDOWN = re.compile(r"[*_`~]+")
_CLAUSE = re.compile(
    r"[.!?;:。！？；：]\s|[()\n]|[,、，]\s?(?![0-9])|\b(?:and|but|while)\b",
)
_JOINED = re.compile(
    r"[\s,、，;；/|]{0,9}(?:\b(?:or|and|to|through|until|oder|und|auf|bis|ou|et|à|au|o|y|e|a|al|naar|tot|en)\b|または|又は|或者?|及び|[和と至~〜–—-])?"
    r"[\s,、，;；/]{0,9}",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:(?:before|after|until|till|since|between|except|other than|instead of)"
    r"|(?:nach|vor|ab|seit|après|avant|depuis|dès|antes|después|desde|dopo|prima|na|voor|vanaf|sinds)"
    r"(?: (?:dem|der|den|le|la|del?|el|dell['’]|il|het|de))?)\s*\Z",
    re.I,
)
_MOVED = re.compile(
    r"\b(?:mov|chang|postpon|reschedul|shift|correct|rais|lower|reduc|increas|delay|extend|push|brought"
    r"|ros|ris|f[ae]ll|gr[eo]w|went|climb|drop|decreas|stieg|gestiegen|sank|versch[oi]b|verleg|erhöh"
    r"|pass|report|avanc|augment|aument|traslad|retras|spost|posticip|verplaats|verschov)\w*\b"
    r"[^.;\n]{0,40}\b(?:from|von|vom|de|du|del|da|dal|van)\s*\Z",
    re.I,
)
_GOES_ON = re.compile(r"[.,][0-9]")
_BOUND_AFTER = re.compile(r"\s*(?:[?？]|以前|以后|以降|より前|より後|之前|之后|まで)")


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    is_wanted: bool
    is_day: bool = False


def mentions(text: str, wanted: str, beside: Sequence[str] = ()) -> bool:
    """Is the figure, day or text stated? A text counts from the start of a word on.

    A figure or day in a list of several is not singled out, unless the others are wanted `beside`.
    """
    day = read_date(wanted)
    plain = common_dates(_MARKDOWN.sub(" ", fold_width(text)))
    if day is not None:
        days = [Moment(each.year, each.month, each.day) for each in map(read_date, beside) if each]
        moment = Moment(day.year, day.month, day.day)
        return _states(plain, lambda piece: _days(piece, moment, days), _MAX_DAYS)
    figure = _figure(wanted)
    if figure is not None:
        figures = [each for each in map(_figure, beside) if each]
        return _states(plain, lambda piece: _figures(piece, figure, figures), _MAX_FIGURES)
    return _has_text(plain_form(text), plain_form(wanted))


def _figure(wanted: str) -> Value | None:
    """The value that a text is, if it is nothing else."""
    plain = fold_width(wanted).strip()
    values = scan_values(plain, []) if any(map(str.isdigit, plain)) else []
    sole = len(values) == 1 and not plain[: values[0].start] + plain[values[0].end :]
    return values[0] if sole and values[0].number.digits else None


def _days(text: str, wanted: Moment, beside: Sequence[Moment]) -> list[_Token]:
    """The days of a text that are not those wanted beside."""
    days = [(start, end, moment) for start, end, moment in find_dates(text) if moment.is_day]
    return [
        _Token(start, end, is_wanted, is_day=True)
        for start, end, moment in sorted(days, key=lambda day: day[0])
        for is_wanted in [not moment.swapped and moment.covers(wanted)]
        if is_wanted or not any(map(moment.covers, beside))
    ]


def _figures(text: str, wanted: Value, beside: Sequence[Value]) -> list[_Token]:
    """The figures of a text that are the wanted one, or others with as many decimals."""
    days = [(start, end) for start, end, moment in find_dates(text) if moment.is_day]
    figures = [value for value in scan_values(text, days) if value.number.digits]
    return [
        _Token(value.start, value.end, is_wanted)
        for value in figures
        for is_wanted in [_is_same(value, wanted) and not _GOES_ON.match(text, value.end)]
        if is_wanted
        or (
            value.number.quantum == wanted.number.quantum
            and not any(_is_same(value, other) for other in beside)
        )
    ]


def _is_same(value: Value, wanted: Value) -> bool:
    """The same value with the same sign, and where both have a unit, in units that can be one."""
    if value.number.value != wanted.number.value or value.negative != wanted.negative:
        return False
    if value.unit is None or wanted.unit is None:
        return True
    return settle(value.unit, wanted.unit) == settle(wanted.unit, value.unit)


def _states(text: str, read: Callable[[str], Sequence[_Token]], most: int) -> bool:
    """Is a wanted token singled out and not denied, in what the text says last?"""
    retraction = lexicon.taken_back(text)
    if retraction is not None and read(text[retraction.end() :]):
        text = text[retraction.end() :]
    elif retraction is not None and lexicon.WITHDRAWAL.search(text, retraction.start()):
        return False
    tokens = read(text)
    if len({text[token.start : token.end] for token in tokens}) > most:
        return False
    listed = set[_Token]()
    for first, second in pairwise(tokens):
        if _JOINED.fullmatch(text, first.end, second.start) and first.is_wanted != second.is_wanted:
            moved = _MOVED.search(text[max(0, first.start - _REACH) : first.start])
            listed |= {first} if moved else {first, second}
    others = [token.start for token in tokens if not token.is_wanted]
    return any(
        token.is_wanted
        and token not in listed
        and not _is_denied(text, token)
        and not any(_is_superseded(text, token, start) for start in others)
        for token in tokens
    )


def _is_superseded(text: str, token: _Token, other: int) -> bool:
    """Does its clause tell of what was once said or planned, and a later one what is instead?"""
    before = _CLAUSE.split(text[max(0, token.start - _REACH) : token.start])[-1]
    if other < token.end:
        return False
    return bool(
        lexicon.SUPERSEDED.search(before)
        or (lexicon.WAS.search(before) and lexicon.IS_NOW.search(text[token.end : other][-_REACH:]))
    )


def _is_denied(text: str, token: _Token) -> bool:
    """Do the words of its clause deny, doubt or bound a token?"""
    before = _CLAUSE.split(text[max(0, token.start - _REACH) : token.start])[-1]
    behind = text[token.end : token.end + _REACH]
    before, after = (lexicon.MAY.sub(" ", part) for part in (before, _CLAUSE.split(behind)[0]))
    if _BOUND.search(before) or lexicon.BOUND_BEFORE.search(before) or _BOUND_AFTER.match(behind):
        return True
    if lexicon.NEGATED_BEFORE.search(before) or lexicon.NEGATED_AFTER.match(after):
        return True
    doubts = (lexicon.DOUBT, lexicon.GUESS, lexicon.WITHDRAWAL)
    return any(words.search(part) for words in doubts for part in (before, after)) or bool(
        token.is_day and any(map(lexicon.CALLED_OFF.search, (before, after)))
    )


def _has_text(text: str, wanted: str) -> bool:
    """Is it in the text, from the start of a word on, with its figures whole?"""
    if not wanted:
        return True
    first, last = wanted[0], wanted[-1]
    before = r"(?<![0-9])(?<![0-9][.,])" if first.isdigit() else ""
    before = r"(?<![a-z0-9])" if first.isascii() and first.isalpha() else before
    after = r"(?![0-9]|[.,][0-9])" if last.isdigit() else ""
    return re.search(before + re.escape(wanted) + after, text) is not None


# Do fields of requests and records meet what a check wants of them?
#
# Imports the reader of answers and text utilities: the exported bundle takes them along.

_MAX_CHARS = 10_000  # of a field that is searched


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


def _contains(value: Any, wanted: Any, beside: Sequence[Any] = ()) -> bool:
    if isinstance(value, list | tuple):
        return any(_equals(item, wanted) for item in value)
    return mentions(str(value)[:_MAX_CHARS], str(wanted), list(map(str, beside)))


def _all_of(value: Any, wanted: Sequence[Any]) -> bool:
    return all(_contains(value, item, wanted) for item in wanted)


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
    "contains_none": lambda value, barred: not any(_contains(value, item) for item in barred),
    "same_items": _same_items,
    "matches": lambda value, wanted: re.search(wanted, str(value)[:_MAX_CHARS], re.I) is not None,
    "min": lambda value, bound: _compares(value, bound, 1),
    "max": lambda value, bound: _compares(value, bound, -1),
    "exists": lambda value, wanted: wanted is True,
}


_OK = "ok"  # the status of a request that a service carried out
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
    carried_out = [row for row in rows if row.status == _OK]
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
        _is_operation(params, row)
        and row.status == _OK
        and fits(row.arguments, params.get("where"))
        for row in submission.audit
    )
    return ActionReason.FORBIDDEN_CALL if done else None


def _order(params: Mapping[str, Any], submission: Submission) -> ActionReason | None:
    """The requests of `calls`, each with `operation` and `where`, were carried out in this order.

    Others may come between them.
    """
    rows = [row for row in submission.audit if row.status == _OK]
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
        if row.status == _OK and params.get("service") in (None, row.service)
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
