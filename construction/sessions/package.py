"""Turns task instances into candidates, by facts alone: files, names, what the agent did.

The request holds the person's own words in order, with released file paths; `prompt_frame.frame`
puts inputs and deliverables around it. Whether it is a task is screened later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits
from construction.grading.file_types import TYPES, extension_of, type_of
from construction.judging.contracts import Case
from construction.judging.evidence.views import Evidence, Said, look, tree_of
from construction.mentions.files import is_shown_in_part, named_files, path_parts, tail
from construction.mentions.urls import find_urls, normalise, parse_url
from construction.prompt_frame import ANSWER, PromptWords, frame, with_released_paths, words_of
from construction.sessions.config import SessionsConfig
from construction.sessions.gates.restoration import holds_mark
from construction.sessions.network.probe import refusal
from construction.sessions.recovery.recover import other_tools
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
    Rule,
    TaskInstance,
    UserTurn,
)
from data.ledger import gated_row
from data.pool import Survivor
from data.text.language import UNDETERMINED, language_of

_LIMITS = RuleLimits(total_seconds=3600, files=100_000)


# The files that a task asks for, by facts: names in the request, and what the agent wrote.

_MOST_WANTED = 20  # names kept as hints


def _named_outputs(instance: TaskInstance, fixtures: Sequence[Fixture]) -> tuple[str, ...]:
    """The paths of results that the words name, in order, each name once.

    A named file is a result if the agent made it, or if no file of that name is at hand. An input
    that the words name and that the agent changed is delivered under its own name.
    """
    files = named_files(instance)
    given = {tail(fixture.path) for fixture in fixtures}
    changed = {tail(path) for path in _changed(instance)}
    made = {tail(path) for path in files.results}
    attached = {tail(mention.path) for mention in files.attached}
    outputs: dict[str, str] = {}
    for mention in files.named:
        name = tail(mention.path)
        is_new = name not in given and name not in attached
        if extension_of(name) and (name in changed or name in made or is_new):
            is_certain = name in made or name in changed or not mention.doubtful
            if is_certain and (is_new or name in changed or name in made - given):
                outputs.setdefault(name, mention.path)
    return tuple(outputs.values())


def _expected(
    instance: TaskInstance, outputs: Sequence[str], fixtures: Sequence[Fixture]
) -> tuple[Deliverable, ...]:
    """The files to expect, sorted by type: what the words name, else what the agent wrote.

    Where there is neither, it is an answer.
    """
    if outputs:
        written = {tail(path) for path in (*named_files(instance).results, *_changed(instance))}
        names = [path.replace("\\", "/").rpartition("/")[2] for path in outputs]
        is_made = all(tail(name) in written for name in names)
        return _by_type(names, "both" if is_made else "request")
    produced = _produced(instance, fixtures)
    if produced:
        return _by_type(produced, "produced")
    return (Deliverable(file_type="md", name_hints=(ANSWER,)),)


def _by_type(names: Iterable[str], source: str) -> tuple[Deliverable, ...]:
    kinds: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        kinds.setdefault(_type_of(name), []).append(name)
    return tuple(
        Deliverable.model_validate(
            {
                "file_type": kind,
                "count": len(named),
                "name_hints": tuple(named[:_MOST_WANTED]),
                "source": source,
            }
        )
        for kind, named in sorted(kinds.items())
    )


def _type_of(name: str) -> str:
    ending = extension_of(name)
    return next((kind.name for kind in TYPES.values() if ending in kind.extensions), ending)


def _changed(instance: TaskInstance) -> list[str]:
    """The files that the agent read first and wrote afterwards."""
    read: set[str] = set()
    changed: list[str] = []
    for act in instance.acts:
        if act.kind == "read":
            read.add(act.path)
        elif act.kind == "wrote" and act.path in read:
            changed.append(act.path)
    return changed


def _produced(instance: TaskInstance, fixtures: Sequence[Fixture]) -> list[str]:
    """Names of what the agent made; code only where nothing else was made."""
    given = {tail(fixture.path) for fixture in fixtures}
    made = [path for path in named_files(instance).results if tail(path) not in given]
    names = [path.replace("\\", "/").rpartition("/")[2] for path in made if _is_result(path)]
    plain = [name for name in names if not _is_code(name)]
    return plain or names


def _is_result(path: str) -> bool:
    return bool(extension_of(path)) and not any(p.startswith(".") for p in path_parts(path)[-1:])


def _is_code(name: str) -> bool:
    kind = TYPES.get(_type_of(name))
    return kind is not None and kind.kind == "code"


# What a task may use: which tools it needs, and what of the network it may reach.

_NetworkMode = Literal["check", "freeze", "offline"]


def _network_policy(instance: TaskInstance, text: str, network: _NetworkMode) -> NetworkPolicy:
    """The URLs in the prompt may be reached, or the web where the agent searched it.

    What is never requested (private addresses, other ports) is no part of it.
    """
    if network == "freeze":
        return NetworkPolicy()
    named = dict.fromkeys(mention.url for mention in find_urls(text))
    urls = tuple(url for url in named if refusal(parse_url(normalise(url))) is None)
    if network == "check" and _called(instance, "websearch"):
        return NetworkPolicy(mode="web", urls=urls)
    return NetworkPolicy(mode="list", urls=urls) if urls else NetworkPolicy()


def _tools_of(
    instance: TaskInstance, fixtures: Sequence[Fixture], policy: NetworkPolicy
) -> tuple[str, ...]:
    """Plain names of the tools that the task needs; `write_file` is always among them."""
    needs = {
        "read_file": bool(fixtures),
        "write_file": True,
        "shell": any(act.kind == "ran" for act in instance.acts),
        "fetch": policy.mode != "none",
        "browser": _called(instance, "browser"),
    }
    return tuple(name for name, needed in needs.items() if needed)


def _called(instance: TaskInstance, word: str) -> bool:
    return any(word in tool.lower().replace("_", "") for tool in instance.tools)


# The evidence of a packaged instance, without its files: what was said and what the agent did.

_ANSWER_CHARS = 1_500  # of what the agent said between two messages
_MOST = 100  # paths of a kind


def _evidence_of(
    instance: TaskInstance, given: Sequence[str], released: Callable[[str], str] = str
) -> Evidence:
    """What was said before and in the task, the folders of its inputs, and what the agent did.

    `released` puts the paths of the release into the words of people.
    """
    acts = {kind: [act.path for act in instance.acts if act.kind == kind] for kind in _KINDS}
    acts["wrote"] += instance.made
    read, ran, wrote = (tuple(dict.fromkeys(acts[kind]))[:_MOST] for kind in _KINDS)
    return Evidence(
        said=tuple(_said(instance, released)),
        before=tuple(Said(speaker="person", text=released(text)) for text in instance.said_before),
        tree=tuple(sorted(given)),
        read=read,
        ran=ran,
        wrote=wrote,
        tools=instance.tools,
        last_words=instance.reply,
    )


_KINDS = ("read", "ran", "wrote")


def _said(instance: TaskInstance, released: Callable[[str], str]) -> Iterator[Said]:
    answers = [*instance.answers, *[""] * len(instance.user_turns)]
    for turn, answer in zip(instance.user_turns, answers, strict=False):
        if turn.said.strip():
            speaker = f"person:{turn.sender}" if turn.sender else "person"
            yield Said(speaker=speaker, at=_minute(turn), text=released(turn.said))
        if answer.strip():
            yield Said(speaker="agent", text=_shortened(answer))


def _minute(turn: UserTurn) -> str | None:
    if turn.at is None:
        return None
    return datetime.fromtimestamp(turn.at, UTC).isoformat(timespec="minutes")


def _shortened(text: str) -> str:
    half = _ANSWER_CHARS // 2
    return text if len(text) <= _ANSWER_CHARS else f"{text[:half]} … {text[-half:]}"


STAGE = "package"


@dataclass(frozen=True, slots=True)
class Identity:
    """What the caller knows about a candidate: opaque id, source, disclosure and licence."""

    task_id: str
    source: str
    disclosure: Disclosure
    licence: str | None = None


def _package(
    instance: TaskInstance,
    fixtures: Sequence[Fixture],
    identity: Identity,
    *,
    network: _NetworkMode = "check",
) -> Case:
    """Make the case of an instance whose redactions are restored and whose files are copied.

    Where pages are frozen (`network` is `freeze`) the task may reach no URL, even if its prompt
    names some; unless URLs are checked, it may not reach the open web.
    """
    outputs = _named_outputs(instance, fixtures)
    deliverables = _expected(instance, outputs, fixtures)
    released = partial(with_released_paths, fixtures=fixtures, results=outputs, cwd=instance.cwd)
    turns = _said_in(instance)
    texts = [released(turn.said) for turn in turns]
    language = language_of("\n\n".join(texts)) or UNDETERMINED
    words = words_of(language, "\n\n".join(texts))
    request = _merged(turns, texts, words)
    guidelines = [words.as_one] if len(turns) > 1 else []
    guidelines += [words.gaps] if any(f.role == "observed" for f in fixtures) else []
    policy = _network_policy(instance, request, network)
    candidate = Candidate(
        task_id=identity.task_id,
        lane=Lane.SESSIONS,
        prompt=frame(request, fixtures, deliverables, language, guidelines=guidelines),
        language=language,
        execution_surface=_surface(instance, fixtures, deliverables, policy),
        fixtures=tuple(fixtures),
        tools=_tools_of(instance, fixtures, policy),
        network=policy,
        deliverables=deliverables,
        provenance=_provenance(instance, identity, len(turns), fixtures),
    )
    return Case(
        candidate=candidate,
        request=request,
        evidence=_evidence_of(instance, [fixture.path for fixture in fixtures], released),
    )


def _said_in(instance: TaskInstance) -> list[UserTurn]:
    """The turns with words, in order; a message that was sent again stands once."""
    turns: dict[str, UserTurn] = {}
    for turn in instance.user_turns:
        turns.setdefault(turn.said.strip(), turn)
    return [turn for said, turn in turns.items() if said]


def _merged(turns: Sequence[UserTurn], texts: Sequence[str], words: PromptWords) -> str:
    """The person's words as one text; those of several people with their names."""
    if len({turn.sender for turn in turns if turn.sender}) < 2:
        return "\n\n".join(text.strip() for text in texts)
    named = [
        f"{turn.sender}: {text.strip()}" if turn.sender else text.strip()
        for turn, text in zip(turns, texts, strict=True)
    ]
    return "\n\n".join([words.several_people, *named])


def _provenance(
    instance: TaskInstance, identity: Identity, turns: int, fixtures: Sequence[Fixture]
) -> Provenance:
    given = {tail(fixture.path) for fixture in fixtures}
    read = [mention.path for mention in named_files(instance).read]
    in_part = [p for p in read if tail(p) not in given and is_shown_in_part(instance, p)]
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
            "other_tools": other_tools(instance.tools),
            "redacted": any(holds_mark(turn.text) for turn in instance.user_turns),
            **({"in_part": len(in_part)} if in_part else {}),
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
    is_answer = all(item.name_hints == (ANSWER,) for item in deliverables)
    return "chat" if is_answer and not fixtures else "files"


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


@dataclass(frozen=True, slots=True)
class _PackagedPool:
    """The stage's cases sorted by task id, its ledger rows and lineage."""

    cases: list[Case]
    rows: list[LedgerRow]
    lineage: list[LineageRow]


def package_survivors(
    survivors: Sequence[Survivor],
    identify: Callable[[str], Identity],
    config: SessionsConfig,
) -> _PackagedPool:
    """Package each survivor; `identify` returns the released identity for an instance id."""
    pool = _PackagedPool([], [], [])
    for survivor in survivors:
        name = survivor.instance.instance_id
        mode = config.network.mode
        case = _package(survivor.instance, survivor.fixtures, identify(name), network=mode)
        task_id = case.candidate.task_id
        pool.cases.append(case)
        pool.rows.append(gated_row(STAGE, "instance", name, None, survivor.evidence))
        pool.lineage.append(LineageRow(STAGE, "instance", name, "candidate", task_id, "packaged"))
    pool.cases.sort(key=lambda case: case.candidate.task_id)
    return pool


def with_files(cases: Sequence[Case], files: Mapping[str, Path]) -> list[Case]:
    """The cases with views of their inputs; `files` are the contents by SHA-256.

    Deliverables of an input's type get the rule that they are more than inputs saved anew.
    """
    forms = _forms(cases, files)
    return [_with_files(case, files, forms) for case in cases]


def _with_files(case: Case, files: Mapping[str, Path], forms: Mapping[str, int]) -> Case:
    fixtures = case.candidate.fixtures
    views = look({fixture.path: files[fixture.sha256] for fixture in fixtures})
    evidence = case.evidence.model_copy(
        update={"files": views, "tree": tree_of(fixture.path for fixture in fixtures)}
    )
    candidate = case.candidate.model_copy(update={"rules": tuple(_rules_of_change(case, forms))})
    return case.model_copy(update={"evidence": evidence, "candidate": candidate})


def _rules_of_change(case: Case, forms: Mapping[str, int]) -> Iterator[Rule]:
    """For every type of input, whether it is asked for yet or not: `judge` keeps what it needs."""
    for kind in TYPES.values():
        own = {
            forms[stored]
            for fixture in case.candidate.fixtures
            if extension_of(fixture.path) in kind.extensions
            and (stored := _stored(fixture.sha256, fixture.path)) in forms
        }
        if own:
            yield Rule(
                rule_id=f"changed.{kind.name}",
                kind="changed",
                params={"extensions": list(kind.extensions), "forms": sorted(own)},
                text=f"Some .{kind.name} file is more than an input saved anew.",
            )


def _forms(cases: Sequence[Case], files: Mapping[str, Path]) -> dict[str, int]:
    """The form of each input that is no bare shell, by its stored name."""
    wanted = {
        _stored(fixture.sha256, fixture.path): files[fixture.sha256]
        for case in cases
        for fixture in case.candidate.fixtures
        if type_of(fixture.path) is not None
    }
    names = sorted(wanted)
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(wanted[name].read_bytes())
        seen = look_in_children(Path(folder), names, _LIMITS)
        return {
            name: one.form
            for name, one in zip(names, seen, strict=True)
            if one.form and not one.trouble
        }


def _stored(sha256: str, path: str) -> str:
    return f"{sha256}.{extension_of(path)}"
