"""From a task instance to a candidate, without a language model.

The prompt is the person's own words in order (`merge`), with files by their released paths and a
closing block that names the inputs and what is to be delivered (`prompt`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from construction.judging.deliverables import ANSWER, expected_deliverables
from construction.judging.hard_rules import hard_rules
from construction.judging.language import language_of
from construction.sessions.mentions.named_files import output_files
from construction.sessions.network.urls import find_urls
from construction.sessions.prompts.merge import LeftOut, as_thread, background, merge_turns
from construction.sessions.prompts.prompt import prompt_text, with_released_paths
from data.contracts import (
    Candidate,
    Deliverable,
    Disclosure,
    Fixture,
    Lane,
    NetworkPolicy,
    Provenance,
    TaskInstance,
)

_CHANNEL = re.compile(r"\[[^\]#]{0,40}#\S")  # "[Slack #launch Mon …]": a message to many


@dataclass(frozen=True, slots=True)
class Identity:
    """What the caller knows of a candidate: its opaque id, its source, and what may be told."""

    task_id: str
    source: str
    disclosure: Disclosure
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class Packaged:
    """A candidate, and what the preflight gate reads of it.

    `request` is the person's part of the prompt and `background` what was said before it;
    `people` are the named writers; `in_channel`: it was written to a channel that many read.
    `thread`: the request is to answer messages that reached somebody.
    """

    candidate: Candidate
    request: str
    background: tuple[str, ...]
    people: tuple[str, ...]
    in_channel: bool
    thread: bool
    left_out: Mapping[int, LeftOut]


def package(
    instance: TaskInstance,
    fixtures: Sequence[Fixture],
    identity: Identity,
    *,
    network: bool = True,
) -> Packaged:
    """Make the candidate of an instance whose redactions are restored and whose files are copied.

    Without `network` the task reaches nothing, whatever URLs its prompt holds.
    """
    merged = merge_turns(instance.user_turns)
    outputs = [mention.path for mention in output_files(instance)]
    deliverables = expected_deliverables(merged.text, outputs, instance.acts)
    only_answer = all(item.name_hints == (ANSWER,) for item in deliverables)
    messages = as_thread(merged) if only_answer else None
    merged = messages or merged
    parts = [replace(part, said=with_released_paths(part.said, fixtures)) for part in merged.parts]
    request = "\n\n".join(part.said for part in parts)
    earlier = background(instance, merged.text)
    policy = _policy(request) if network else NetworkPolicy()
    candidate = Candidate(
        task_id=identity.task_id,
        lane=Lane.SESSIONS,
        prompt=prompt_text(earlier, parts, fixtures, deliverables, thread=messages is not None),
        language=language_of(request),
        execution_surface=_surface(instance, fixtures, deliverables, policy),
        fixtures=tuple(sorted(fixtures, key=lambda fixture: fixture.path)),
        tools=_tools(instance, fixtures, policy),
        network=policy,
        deliverables=deliverables,
        rules=hard_rules(deliverables, request),
        provenance=_provenance(instance, identity, len(parts)),
    )
    in_channel = any(_CHANNEL.match(turn.text) for turn in instance.user_turns)
    return Packaged(
        candidate=candidate,
        request=request,
        background=earlier,
        people=merged.people,
        in_channel=in_channel,
        thread=messages is not None,
        left_out=merged.left_out,
    )


def _policy(text: str) -> NetworkPolicy:
    """The URLs that the prompt holds, and nothing else, may be reached."""
    urls = tuple(dict.fromkeys(mention.url for mention in find_urls(text)))
    return NetworkPolicy(mode="list", urls=urls) if urls else NetworkPolicy()


def _provenance(instance: TaskInstance, identity: Identity, turns: int) -> Provenance:
    return Provenance(
        source=identity.source,
        source_format=str(instance.source_format),
        item_id=instance.instance_id,
        disclosure=identity.disclosure,
        licence=identity.licence,
        detail={
            "started_by": str(instance.started_by),
            "user_turns": len(instance.user_turns),
            "turns_in_prompt": turns,
        },
    )


def _surface(
    instance: TaskInstance,
    fixtures: Sequence[Fixture],
    deliverables: Sequence[Deliverable],
    policy: NetworkPolicy,
) -> str:
    """Where the work is done: `shell` if the agent ran programs, else web, files or chat."""
    if any(act.kind == "ran" for act in instance.acts):
        return "shell"
    if policy.mode != "none":
        return "web"
    only_answer = all(item.name_hints == (ANSWER,) for item in deliverables)
    return "chat" if only_answer and not fixtures else "files"


def _tools(
    instance: TaskInstance, fixtures: Sequence[Fixture], policy: NetworkPolicy
) -> tuple[str, ...]:
    """Plain names of what the task needs; outputs are always written."""
    kinds = {act.kind for act in instance.acts}
    needs = {
        "read_file": bool(fixtures),
        "write_file": True,
        "shell": "ran" in kinds,
        "fetch": policy.mode != "none",
    }
    return tuple(name for name, needed in needs.items() if needed)
