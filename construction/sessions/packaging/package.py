"""Turns task instances into candidates, without a language model; the preflight gate judges them.

The prompt holds the person's own words in order, with released file paths and a closing block that
lists inputs and deliverables (`prompts.prompt`). Copies of an instance are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from construction.judging import preflight
from construction.judging.contracts import Case
from construction.judging.conversation import Conversation
from construction.judging.counted_results import with_counts
from construction.judging.deliverables import (
    ANSWER,
    expected_deliverables,
    with_moved,
)
from construction.judging.edits import changed_inputs, moved_inputs
from construction.judging.hard_rules import hard_rules
from construction.judging.held_results import without_held
from construction.judging.inputs import inputs_spoken_of
from construction.judging.messages import with_answer, with_messages
from construction.judging.signals import measure
from construction.mentions.named_files import output_files
from construction.mentions.services import served_inputs
from construction.sessions.config import PACKAGE_GATES, SessionsConfig
from construction.sessions.packaging.calendar_days import calendar_days
from construction.sessions.packaging.conversation import conversation_of, with_day
from construction.sessions.packaging.tools import NetworkMode, network_policy, tools_of
from construction.sessions.prompts.prompt import (
    as_thread,
    background,
    merge_turns,
    prompt_text,
)
from construction.sessions.prompts.released_paths import with_released_paths
from construction.sessions.prompts.spellings import with_names_as_given
from data.contracts import (
    Candidate,
    Deliverable,
    Disclosure,
    Fixture,
    Lane,
    LedgerRow,
    LineageRow,
    NetworkPolicy,
    Outcome,
    Provenance,
    TaskInstance,
    Verdict,
    run_gates,
)
from data.ledger import deciding, gated_row
from data.survivors import Survivor
from data.text.language import UNDETERMINED, language_of


@dataclass(frozen=True, slots=True)
class Identity:
    """What the caller knows about a candidate: opaque id, source, disclosure and licence."""

    task_id: str
    source: str
    disclosure: Disclosure
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class Packaged:
    """A candidate as a case for its judges, and how its request came about.

    `judged` is the case without files that merely lie in the session's folder, where neither words
    nor log speak of any: they are no material at hand.
    """

    case: Case
    conversation: Conversation
    judged: Case

    @property
    def candidate(self) -> Candidate:
        return self.case.candidate


def package(
    instance: TaskInstance,
    fixtures: Sequence[Fixture],
    identity: Identity,
    *,
    network: NetworkMode = "check",
    days: Collection[str] = (),
) -> Packaged:
    """Make the candidate of an instance whose redactions are restored and whose files are copied.

    Where pages are frozen (`network` is `freeze`) the task may reach no URL, even if its prompt
    names some; unless URLs are checked, it may not reach the open web. `days` are those on which
    the given calendars have events.
    """
    given = [fixture.path for fixture in fixtures]
    instance = with_names_as_given(instance, given)
    merged = merge_turns(instance.user_turns)
    outputs = [mention.path for mention in output_files(instance, given)]
    changed = changed_inputs(merged.text, given, outputs)
    served = [path for path in served_inputs(merged.text, given) if path not in changed]
    moved = moved_inputs(merged.text, given)
    named = [*outputs, *(path for path in (*changed, *served) if path not in moved)]
    deliverables = expected_deliverables(merged.text, named, instance.acts, given)
    deliverables = with_messages(with_moved(deliverables, moved), merged.text)
    deliverables = without_held(with_counts(deliverables, merged.text, given), merged.text, given)
    deliverables = with_answer(deliverables, merged.text, served)
    if identity.disclosure is Disclosure.PUBLIC:
        merged = with_day(merged, instance.user_turns, given, days)
    messages = as_thread(merged) if _is_only_answer(deliverables) else None
    merged = messages or merged
    release = partial(with_released_paths, fixtures=fixtures, results=outputs, cwd=instance.cwd)
    parts = [replace(part, said=release(part.said)) for part in merged.parts]
    request = "\n\n".join(part.said for part in parts)
    earlier = background(instance, merged.text)
    policy = network_policy(request, network)
    candidate = Candidate(
        task_id=identity.task_id,
        lane=Lane.SESSIONS,
        prompt=prompt_text(earlier, parts, fixtures, deliverables, thread=messages is not None),
        language=language_of(request) or UNDETERMINED,
        execution_surface=_surface(instance, fixtures, deliverables, policy),
        fixtures=tuple(sorted(fixtures, key=lambda fixture: fixture.path)),
        tools=tools_of(instance, fixtures, policy, request),
        network=policy,
        deliverables=deliverables,
        rules=hard_rules(deliverables, request),
        provenance=_provenance(instance, identity, len(parts)),
    )
    case = Case(
        candidate=candidate,
        request=request,
        background=earlier,
        reply=instance.reply,
        asked_back=instance.asked_back,
    )
    conversation = conversation_of(
        instance,
        fixtures,
        merged,
        is_thread=messages is not None,
        is_offline=network != "check",
        has_event=any(item.file_type == "ics" for item in deliverables),
        calendar_days=days,
    )
    judged = case
    if not instance.acts and _are_unspoken(request, fixtures, deliverables):
        without = candidate.model_copy(update={"fixtures": ()})
        judged = case.model_copy(update={"candidate": without})
    return Packaged(case, conversation, judged)


def _is_only_answer(deliverables: Sequence[Deliverable]) -> bool:
    """True if only a written answer is to be delivered."""
    return all(item.name_hints == (ANSWER,) for item in deliverables)


def _are_unspoken(
    request: str, fixtures: Sequence[Fixture], deliverables: Sequence[Deliverable]
) -> bool:
    """Do the files merely lie in the folder, and only an answer is asked for?"""
    if any(fixture.role != "observed" for fixture in fixtures):
        return False
    spoken = inputs_spoken_of(request, [fixture.path for fixture in fixtures])
    return not spoken and _is_only_answer(deliverables)


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
    """The execution surface: `shell` if the agent ran programs, else web, files or chat."""
    if any(act.kind == "ran" for act in instance.acts):
        return "shell"
    if policy.mode != "none":
        return "web"
    return "chat" if _is_only_answer(deliverables) and not fixtures else "files"


def drop_copies(survivors: Sequence[Survivor]) -> tuple[list[Survivor], list[LedgerRow]]:
    """Of instances with the same typed text, keep the one whose source path comes first.

    Copies arise because resumed sessions replay their beginning and backups repeat whole files.
    """
    first: dict[str, str] = {}
    rows: dict[str, LedgerRow] = {}
    kept: list[Survivor] = []
    by_path = sorted(survivors, key=lambda s: (s.instance.source_path, s.instance.instance_id))
    for survivor in by_path:
        instance = survivor.instance
        original = first.setdefault(instance.fingerprint, instance.instance_id)
        outcome, reason = Outcome.KEPT, None
        evidence = survivor.evidence
        if original == instance.instance_id:
            kept.append(survivor)
        else:
            outcome, reason = Outcome.REJECTED, "instance.duplicate"
            evidence = evidence | {"copy_of": original}
        rows[instance.instance_id] = LedgerRow(
            "distinct", "instance", instance.instance_id, outcome, reason=reason, evidence=evidence
        )
    kept.sort(key=lambda survivor: survivor.instance.instance_id)
    return kept, [rows[name] for name in sorted(rows)]


STAGE = preflight.GATE.stage


@dataclass(frozen=True, slots=True)
class PackagedPool:
    """The stage's cases sorted by task id, its verdicts, ledger rows and lineage."""

    cases: list[Case]
    verdicts: list[tuple[str, Verdict]]
    rows: list[LedgerRow]
    lineage: list[LineageRow]


def package_survivors(
    survivors: Sequence[Survivor],
    identify: Callable[[str], Identity],
    config: SessionsConfig,
) -> PackagedPool:
    """Package each survivor; `identify` returns the released identity for an instance id."""
    pool = PackagedPool([], [], [], [])
    for survivor in survivors:
        instance = survivor.instance
        packaged = package(
            instance,
            survivor.fixtures,
            identify(instance.instance_id),
            network=config.network.mode,
            days=calendar_days(survivor),
        )
        adapters = {preflight.GATE.name: partial(measure, conversation=packaged.conversation)}
        _, verdicts = run_gates(PACKAGE_GATES, config, packaged.judged, adapters)
        decided = deciding(verdicts)
        pool.verdicts.extend((instance.instance_id, verdict) for verdict in verdicts)
        pool.rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
        if decided is None:
            pool.cases.append(packaged.case)
            pool.lineage.append(
                LineageRow(
                    STAGE,
                    "instance",
                    instance.instance_id,
                    "candidate",
                    packaged.candidate.task_id,
                    "packaged",
                )
            )
    pool.cases.sort(key=lambda case: case.candidate.task_id)
    return pool
