"""How a scenario is written down: records, what has to be read, wanted changes, gold answers.

A `Story` collects these for one draft and makes checks of them. The weights are the same for every
draft: 0.2 for records that were read, 0.2 for actions, the rest for accuracy, of which values
written into records take a third where there are any. Every check of an action is required, and so
is that the record with the overriding rule was read.

A reference solution calls services as an agent does, and tries again on faults (`attempt`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from construction.workflows.contracts import (
    Client,
    Draft,
    Fault,
    FaultKind,
    Refused,
    RefusedError,
    World,
)
from construction.workflows.declaration import service as declared
from construction.workflows.scenarios.people import Drawing
from data.contracts.candidate import Answer, Check

LIMIT = 50  # rows of a page
TRIES = 4
PASSING = (Refused.RATE_LIMITED, Refused.UNAVAILABLE)
Record = Mapping[str, Any]


def attempt(client: Client, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
    """The body of the response; faults that pass are waited out. Raises RefusedError."""
    for _ in range(TRIES - 1):
        try:
            return client.call(service, operation, **arguments)
        except RefusedError as error:
            if error.refused not in PASSING:
                raise
    return client.call(service, operation, **arguments)


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


def report(**parts: Any) -> str:
    """The lines that the guidelines ask for."""
    return "\n".join(f"{name}: {_written(value)}" for name, value in parts.items())


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return json.dumps(list(value), ensure_ascii=False)
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def rows(client: Client, service: str, plural: str, **conditions: Any) -> list[dict[str, Any]]:
    """All rows of a search, page by page, as the search shows them."""
    listed: list[dict[str, Any]] = []
    page, seen, total = 1, 0, 1
    while seen < total:
        body = attempt(client, service, f"search_{plural}", **conditions, limit=LIMIT, page=page)
        listed += map(dict, body["rows"])
        page, seen, total = page + 1, seen + LIMIT, body["total"]
    return listed


def every(client: Client, service: str, plural: str, **conditions: Any) -> list[Record]:
    """The whole records that a search finds."""
    collection = declared(service).collections[plural]
    listed = rows(client, service, plural, **conditions)
    if not collection.summary:
        return list(listed)
    return [get(client, service, plural, row["id"]) for row in listed]


def get(client: Client, service: str, plural: str, identifier: str) -> Record:
    """One whole record. Raises RefusedError."""
    record = declared(service).collections[plural].record
    return attempt(client, service, f"get_{record}", id=identifier)


def named(client: Client, service: str, plural: str, name: str, field: str = "name") -> Record:
    """The record with exactly this name. Raises LookupError without one."""
    for row in rows(client, service, plural, query=name):
        if row[field] == name:
            return get(client, service, plural, row["id"])
    raise LookupError(name)


def article(client: Client, title: str) -> str:
    """The text of the published article with this title; empty if there is none."""
    for row in rows(client, "kb", "articles", query=title, status="published"):
        if row["title"] == title:
            return str(get(client, "kb", "articles", row["id"])["body"])
    return ""


def figure(text: str, pattern: str, otherwise: float) -> float:
    """The number behind a pattern with one group; thousands may have commas."""
    match = re.search(pattern, text)
    return float(match[1].replace(",", "")) if match else otherwise


def ruled(text: str, words: Mapping[str, str]) -> str:
    """The first rule whose words are in a text; empty if none."""
    return next((rule for rule, phrase in words.items() if phrase in text), "")


def letter(client: Client, sender: str, subject: str) -> str:
    """The text of the mail with this subject from this person; empty if there is none."""
    for row in rows(client, "mail", "messages", query=subject):
        if row["subject"] == subject:
            message = get(client, "mail", "messages", row["id"])
            if message["sender_name"] == sender:
                return str(message["body"])
    return ""


RETRIEVAL, ACTION, WRITTEN = 0.2, 0.2, 0.2  # shares of the whole task
FAULTY = 3  # every third draft of a scenario has a fault
Where = Mapping[str, Any]


class Story:
    """One draft in the making. `rule` decides the right action in it."""

    def __init__(
        self, scenario: str, number: int, seed: int, rules: Sequence[str], now: str, actor: str
    ) -> None:
        self.scenario, self.number = scenario, number
        self.rule = rules[(number - 1) % len(rules)]
        self.draw = Drawing(scenario, number, seed)
        self.now, self.actor = now, actor
        self._state: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        self._facts: dict[str, list[str]] = {}
        self._overriding: list[str] = []
        self._decoys: dict[str, str] = {}
        self._changes: list[Check] = []
        self._allowed: list[dict[str, Any]] = []
        self._answers: list[Answer] = []
        self._forms: list[str] = []

    # Records

    def add(self, service: str, collection: str, prefix: str, **fields: Any) -> str:
        """A record with a new id; returns `service/collection/id`."""
        identifier = fields.pop("id", None) or self.draw.identifier(prefix)
        stored = {name: _stored(value) for name, value in fields.items()}
        self.room(service, collection)[identifier] = {"id": identifier, **stored}
        return f"{service}/{collection}/{identifier}"

    def room(self, service: str, collection: str) -> dict[str, dict[str, Any]]:
        return self._state.setdefault(service, {}).setdefault(collection, {})

    def fields(self, record: str) -> dict[str, Any]:
        service, collection, identifier = record.split("/", 2)
        return self._state[service][collection][identifier]

    # What has to be known

    def reads(self, *records: str) -> None:
        """Records whose whole content is needed: what a list shows of them does not suffice."""
        for record in records:
            known = self._facts.setdefault(record.partition("/")[0], [])
            if record not in known:
                known.append(record)

    def overrides(self, record: str) -> None:
        """The record with the rule, or the fact, that overrides the obvious."""
        self._overriding.append(record)

    def decoy(self, right: str, wrong: str) -> None:
        """Two records of one collection, the second easily taken for the first."""
        self._decoys[right] = wrong

    # What has to be done

    def sets(self, record: str, text: str, *, free: Sequence[str] = (), **changes: Any) -> None:
        """The record gets these values, and keeps all others. A value may be a constraint.

        Fields that are `free` may change too: some ways of doing it stamp the time, some do not.
        """
        service = record.partition("/")[0]
        kept = {name: value for name, value in self.fields(record).items() if name not in free}
        after = {**kept, **changes}
        where = {"service": service, "record": _record_name(record)}
        self._changes.append(self._wanted("record_equals", {**where, "where": changes}, text))
        self._allowed.append({"service": service, "where": after})

    def makes(self, service: str, collection: str, text: str, **where: Any) -> None:
        """One record is made with these values. A value may be a constraint."""
        params = {"service": service, "where": where, "min": 1, "max": 1}
        self._changes.append(self._wanted("record_created", params, text))
        self._allowed.append({"service": service, "where": where})

    def _wanted(self, kind: str, params: dict[str, Any], text: str) -> Check:
        number = len(self._changes) + 1
        return Check(check_id=f"write.{number}", kind=kind, params=params, text=text, required=True)

    # What has to be reported

    def number_is(
        self, part: str, value: float, form: str, *, unit: str | None = None, decimals: int = 0
    ) -> None:
        written = f"{value:.{decimals}f}"
        self._answer(part, "number", written, form, unit=unit, decimals=decimals)

    def text_is(self, part: str, value: str, form: str) -> None:
        self._answer(part, "text", value, form)

    def date_is(self, part: str, value: str) -> None:
        self._answer(part, "date", value, "the date as YYYY-MM-DD")

    def list_is(self, part: str, values: Sequence[str], form: str) -> None:
        listed = json.dumps(list(values), ensure_ascii=False)
        self._answer(part, "list", listed, form, ordered=False)

    def _answer(
        self,
        part: str,
        kind: Literal["number", "text", "date", "list"],
        value: str,
        form: str,
        **more: Any,
    ) -> None:
        self._answers.append(Answer(part=part, type=kind, value=value, **more))
        self._forms.append(f"{part}: <{form}>")

    # The draft

    def draft(
        self,
        prompt: str,
        params: Mapping[str, Any],
        *,
        faulty: tuple[str, str],
        language: str = "en",
    ) -> Draft:
        """`faulty`: service and operation that are disturbed in every third draft."""
        assert self._overriding, f"{self.scenario}: nothing overrides"
        return Draft(
            scenario=self.scenario,
            rule=self.rule,
            number=self.number,
            prompt=prompt,
            language=language,
            guidelines=guidelines_of(self.now, self.actor, self._forms, language),
            world=World(self._state, self.now, self.actor, self._faults(faulty)),
            params=params,
            answers=tuple(self._answers),
            checks=self._checks(),
            overriding=tuple(self._overriding),
            decoys=self._decoys,
        )

    def _faults(self, faulty: tuple[str, str]) -> tuple[Fault, ...]:
        if self.number % FAULTY:
            return ()
        kind = self.draw.pick((FaultKind.RATE_LIMITED, FaultKind.UNAVAILABLE))
        return (Fault(*faulty, kind, (1,)),)

    def _checks(self) -> tuple[Check, ...]:
        overriding = self._overriding
        facts = {
            service: [record for record in records if record not in overriding]
            for service, records in self._facts.items()
        }
        reads = [
            read_check(f"rule.{service}", service, records, required=True)
            for service, records in by_service(overriding).items()
        ]
        reads += [
            read_check(service, service, records) for service, records in facts.items() if records
        ]
        action, written = self._writes()
        return (
            *weighed(reads, RETRIEVAL),
            *weighed(action, ACTION),
            *weighed(written, WRITTEN),
        )

    def _writes(self) -> tuple[list[Check], list[Check]]:
        """Checks of actions, and those of values in records: the latter count as accuracy."""
        only = Check(
            check_id="only",
            kind="unchanged",
            params={
                "except": self._allowed,
                "free": free_effects(self._changes, self._state),
            },
            text="Nothing else is changed.",
            required=True,
        )
        written = [
            check.model_copy(update={"evidence": "accuracy"})
            for check in self._changes
            if holds_a_value(check.params.get("where", {}))
        ]
        ids = {check.check_id for check in written}
        return [*(c for c in self._changes if c.check_id not in ids), only], written


def _stored(value: Any) -> Any:
    """Whole numbers as services store them: without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _record_name(record: str) -> str:
    """What a state change calls the record `service/collection/id`."""
    return record.partition("/")[2]


_LEADS = {
    "en": "It is {day}, {clock}. You act for {actor}. Change nothing beyond what is asked.\n"
    "Please end your reply with exactly these lines:",
    "zh": "现在是 {day} {clock}，您代 {actor} 处理。除所要求的以外，请不要改动任何内容。\n"
    "请在回复的最后只写以下几行：",
}


def guidelines_of(now: str, actor: str, forms: Sequence[str], language: str) -> str:
    """Clock and mailbox of the person for whom the agent acts, and the form of the report."""
    lead = _LEADS[language].format(day=now[:10], clock=now[11:16], actor=actor)
    return "\n".join((lead, *forms))


def holds_a_value(where: Where) -> bool:
    """Does it demand a number? Such a write shows whether the agent got its facts right."""
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in where.values())


def by_service(records: Sequence[str]) -> dict[str, list[str]]:
    services = sorted({record.partition("/")[0] for record in records})
    return {name: [r for r in records if r.partition("/")[0] == name] for name in services}


def read_check(name: str, service: str, records: Sequence[str], *, required: bool = False) -> Check:
    return Check(
        check_id=f"read.{name}",
        kind="records_returned",
        params={"service": service, "records": [_record_name(record) for record in records]},
        text=f"The records needed were read in {service}.",
        required=required,
        evidence="retrieval",
    )


def weighed(checks: Sequence[Check], total: float) -> list[Check]:
    """The checks with equal weights that sum to `total`, to four decimals."""
    if not checks:
        return []
    each = round(total / len(checks), 4)
    rest = round(total - each * (len(checks) - 1), 4)
    weights = [rest, *[each] * (len(checks) - 1)]
    return [c.model_copy(update={"weight": w}) for c, w in zip(checks, weights, strict=True)]
