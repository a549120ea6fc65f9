"""How a request came about, and what it needs that the task does not bring along."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from construction.grading.file_types import extension_of
from construction.judging.addressees import Called, called
from construction.judging.conversation import Conversation
from construction.judging.edits import missing_objects
from construction.judging.inputs import inputs_spoken_of
from construction.judging.working_copy import missing_from_copy
from construction.mentions.bearings import tells_day, unknown_asker, unknown_day
from construction.mentions.extensions import is_tool, tail
from construction.mentions.records import missing_records
from construction.mentions.resources import ResourceKind, missing_systems, resources
from construction.mentions.services import missing_services
from construction.mentions.stores import missing_stores
from construction.sessions.prompts.prompt import Merged
from data.contracts import AgentAct, Fixture, TaskInstance, UserTurn
from data.text.scripts import leading_language

_CHANNEL = re.compile(r"\[[^\]#]{0,40}#\S")  # "[Slack #launch Mon …]": sent to a channel
_DIALLED = re.compile(r"\b(?:nc|ncat|telnet|ssh) (?:[\w-]+@)?(?:[\w-]+\.){1,5}[a-z]{2,8}\b")
_REVIEWS = re.compile(
    r"(?i)\b(?:review|explain|summari[sz]e|describe|comment on)\b[^.\n]{0,60}"
    r"\b(?:diff|patch|change|changes|commit|code)\b"
    r"|(?:审查|检查|评审|解释|看看)[\s\S]{0,20}(?:改动|补丁|修改|代码)"
)
_CHANGE = re.compile(r"(?m)^(?:diff --git |@@ -\d)")
_LEAST_STATE = 20  # bytes of JSON; fewer hold no record
_TODAY = {"zh": "今天是 {day}。"}
_TODAY_ELSE = "Today is {day}."


def conversation_of(
    instance: TaskInstance,
    fixtures: Sequence[Fixture],
    merged: Merged,
    *,
    is_thread: bool,
    is_offline: bool,
    has_event: bool,
    calendar_days: Collection[str],
) -> Conversation:
    """What is known of the conversation.

    `has_event`: a calendar event is to be delivered; `calendar_days`: on which the given calendars
    have events.
    """
    given = [fixture.path for fixture in fixtures]
    filled = [fixture.path for fixture in fixtures if not _is_empty(fixture)]
    is_pasted = len(instance.user_turns) == 1 and _reviews_pasted(merged.text)
    read_first = set() if is_pasted else _read_before_written(instance.acts)
    is_told = _is_day_told(merged.text, given, calendar_days)
    return Conversation(
        people=len(merged.people),
        calling=tuple(part.said for part in merged.parts if called(part.said) is Called.AGENT),
        in_channel=any(_CHANNEL.match(turn.text) for turn in instance.user_turns),
        is_thread=is_thread,
        said_before=instance.said_before,
        said=tuple(turn.said for turn in instance.user_turns),
        files_read=len(read_first),
        files_missing=tuple(sorted(read_first - set(map(tail, given)))),
        systems_missing=_systems_missing(merged.text, given, filled),
        records_missing=missing_records(merged.text, fixtures),
        offline=_on_the_web(merged.text) if is_offline else (),
        objects_missing=(
            *missing_objects(merged.text, given),
            *missing_from_copy(merged.text, given, over_code=instance.over_code),
        ),
        day_unknown=unknown_day(merged.text, for_event=has_event, is_told=is_told),
        asker_unknown=unknown_asker(merged.text, given),
    )


def _systems_missing(text: str, given: Sequence[str], filled: Sequence[str]) -> tuple[str, ...]:
    missing = (
        *missing_systems(text, filled),
        *missing_services(text, given),
        *missing_stores(text, filled),
    )
    return tuple(dict.fromkeys(missing))


def _reviews_pasted(text: str) -> bool:
    """Is a change to be looked at that stands in the request? What else was read lay around it."""
    last = max((change.start() for change in _CHANGE.finditer(text)), default=0)
    return _REVIEWS.search(text, 0, last) is not None


def _read_before_written(acts: Sequence[AgentAct]) -> set[str]:
    """The names of files that the agent read and had not written before."""
    read: set[str] = set()
    written: set[str] = set()
    for act in acts:
        if act.kind == "wrote":
            written.add(tail(act.path))
        elif act.kind == "read" and tail(act.path) not in written and not is_tool(act.path):
            read.add(tail(act.path))
    return read


def _is_day_told(text: str, given: Sequence[str], calendar_days: Collection[str]) -> bool:
    return tells_day(text, inputs_spoken_of(text, given), calendar_days)


def with_day(
    merged: Merged,
    turns: Sequence[UserTurn],
    given: Sequence[str],
    calendar_days: Collection[str],
) -> Merged:
    """The request with the day on which it was typed, if it depends on that and the log has it.

    It stays as it is where one of the `given` files tells the day that is meant.
    """
    times = [turn.at for turn in turns if turn.at is not None]
    is_told = _is_day_told(merged.text, given, calendar_days)
    if not times or not unknown_day(merged.text, for_event=True, is_told=is_told):
        return merged
    day = datetime.fromtimestamp(times[-1], UTC).date().isoformat()
    words = _TODAY.get(leading_language(merged.text) or "", _TODAY_ELSE).format(day=day)
    last = merged.parts[-1]
    said = f"{last.said}\n\n{words}"
    return replace(merged, parts=(*merged.parts[:-1], replace(last, said=said)))


def _is_empty(fixture: Fixture) -> bool:
    """Is it the state of a system without a single record, such as `{"events": []}`?"""
    return extension_of(fixture.path) == "json" and fixture.bytes < _LEAST_STATE


def _on_the_web(text: str) -> tuple[str, ...]:
    """What the request wants of the web."""
    kinds = (ResourceKind.WEB, ResourceKind.BROWSER)
    named = tuple(resource.name for resource in resources(text) if resource.kind in kinds)
    return (*named, *(match.group() for match in _DIALLED.finditer(text)))
