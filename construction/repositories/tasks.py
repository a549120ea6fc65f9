"""Repositories and sessions to tasks: base and reference of each, as trees that may be shipped, and
the rubrics of tasks whose tests prove nothing.

A model writes such a rubric, and judges read the change. The rubric comes from the stage `grade` of
sessions, with the same prompt and guards. Its evidence is what the change touches in the shipped
tree and the reference patch, so that quotes of facts are looked up in both. Nothing that runs
decides but whether a change was made at all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.file_look import read_regular
from construction.grading.openers import TooLarge
from construction.judging.contracts import Case, Graded, Judged
from construction.judging.evidence.delivered import changes_of
from construction.judging.evidence.views import Evidence, FileView, Said, look, tree_of
from construction.judging.model.asking import write_model_use
from construction.judging.model.grade import Dimension
from construction.judging.settings import Judges, ModelStage
from construction.judging.stages import graded_candidate, judged_cases
from construction.repositories.candidates import ARCHIVE, PATCH
from construction.repositories.contracts import (
    BaseCommit,
    Edit,
    EvidenceKind,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    Speaker,
)
from construction.repositories.git import (
    LINK,
    GitFailed,
    Store,
    holds_answer,
    is_left_out,
    is_safe,
    members,
    problem_of,
    references,
    strays,
    transcripts,
)
from construction.repositories.recovery import (
    Files,
    Repository,
    Segment,
    base_of,
    edits_of,
    replay,
    segments,
    talk_of,
)
from construction.repositories.requests import Unwritten
from construction.repositories.run_tests import is_test
from construction.repositories.suites import split
from data.canonical import canonical_json, digest, file_digest
from data.contracts import Candidate, Session
from data.releases.tasks import ReleasedTask

_LICENCE_FILES = {
    f"{stem}{end}"
    for stem in ("license", "licence", "copying")
    for end in ("", ".md", ".txt", ".rst")
}
_STATED = re.compile(r"""(?m)^\s*"?license"?\s*[:=]\s*(?:\{\s*text\s*=\s*)?["']([^"']{2,40})["']""")
_LICENCES = {  # a line that only this licence has
    "MIT": "Permission is hereby granted, free of charge, to any person obtaining a copy",
    "Apache-2.0": "Apache License",
    "BSD-3-Clause": "Redistributions of source code must retain the above copyright",
    "AGPL-3.0": "GNU AFFERO GENERAL PUBLIC LICENSE",
    "GPL-3.0": "GNU GENERAL PUBLIC LICENSE",
    "MPL-2.0": "Mozilla Public License",
    "CC-BY-SA-4.0": "Attribution-ShareAlike 4.0 International",
}
_STATEABLE = {*_LICENCES, "ISC", "0BSD", "BSD-2-Clause", "Unlicense", "CC0-1.0", "CC-BY-4.0"}
_DOCUMENTS = (".md", ".mdc", ".rst", ".txt", ".lock", ".svg", ".png", ".yml", ".yaml")
_SHORT = 12


def find_repositories(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """Clones and bundles in or directly below folders, by name: that of the clone's folder."""
    by_name: dict[str, Path] = {}
    for folder in sorted(folders):
        inside = sorted(
            path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()
        )
        for location in (folder, *inside) if folder.is_dir() else ():
            for path in (location, *sorted(location.glob("*.bundle"))):
                if path.suffix == ".bundle" or _is_clone(path):
                    generic = path.stem in ("repo", "repository")
                    name = path.parent.name if generic else path.name.removesuffix(path.suffix)
                    by_name.setdefault(re.sub(r"[^A-Za-z0-9._-]", "-", name) or "repository", path)
    return sorted(by_name.items())


def source_digest(path: Path) -> str:
    """A digest of a bundle, or of the references of a clone: what it holds follows from them."""
    if path.is_file():
        return file_digest(path)
    return digest(canonical_json(references(path)))


def _is_clone(path: Path) -> bool:
    return (path / ".git").is_dir() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def take(name: str, source: Path, folder: Path, licence: str | None = None) -> Repository:
    """Read a repository into a store of its own below `folder`. Raises GitFailed.

    `licence` is what its owner states if it states none.
    """
    store = Store(folder / f"{name}.git")
    store.take(source)
    store.carriers(".md")  # a history that cannot be listed is no repository of any session
    return Repository(name, store, _licence_of(store) or licence, store.commits())


def opened(name: str, folder: Path, scratch: Path | None) -> Store:
    """A store that was read before; what is added to it goes below `scratch`."""
    location = None if scratch is None else scratch / name
    if location is not None:
        location.mkdir(exist_ok=True)
    return Store(folder / f"{name}.git", location)


def _licence_of(store: Store) -> str | None:
    """The licence that the main branch or the newest tree states, as far as it is one known."""
    for commit in store.tips():
        there = [e.path for e in store.entries(commit) if e.is_file]
        texts = [path for path in there if path.lower() in _LICENCE_FILES]
        contents = store.files(commit, {*texts, "package.json", "pyproject.toml"})
        whole = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
        for path in texts:
            text = " ".join(whole.pop(path).split())
            if name := next((n for n, line in _LICENCES.items() if line in text), None):
                return name
        for text in whole.values():
            match = _STATED.search(text)
            if match and match[1] in _STATEABLE:
                return match[1]
    return None


@dataclass(frozen=True, slots=True)
class Turned:
    """A task that is none: its name, and why."""

    task: str
    reason: RepositoryReason


Found = RepositoryTask | Turned


def tasks_of(
    session: Session,
    repository: Repository,
    config: RepositoriesConfig,
    copies: Sequence[str] = (),
    *,
    untested: bool = False,
) -> Iterator[Found]:
    """The tasks of a session in its repository, in order; `untested` without tests, too.

    Raises GitFailed.
    """
    parts = segments(session, repository, copies)
    for number, segment in enumerate(parts, 1):
        ending = segment.ending.name if segment.ending else None
        tail = ending[:_SHORT] if ending else digest(f"{session.uid}-{number}".encode())[:_SHORT]
        name = f"{repository.name}/{tail}"
        before = parts[number - 2] if number > 1 else None
        base = base_of(segment, before, session, repository, config)
        if isinstance(base, RepositoryReason):
            yield Turned(name, base)
            continue
        made = _task(name, session, segment, base, repository, config, untested=untested)
        talk = talk_of(parts[: number - 1], segment)
        yield made if isinstance(made, Turned) else replace(made, talk=talk)


def _task(
    name: str,
    session: Session,
    segment: Segment,
    base: BaseCommit,
    repository: Repository,
    config: RepositoriesConfig,
    *,
    untested: bool,
) -> Found:
    """A task whose trees may be shipped, or why not."""
    store, ending = repository.store, segment.ending
    calls = (call for turn in segment.turns for call in turn.tool_calls)
    edits = [edit for call in calls for edit in edits_of(call, session.cwd)]
    replayed = _replayed(edits, store, base.commit)
    whole = _ended(store, base.commit, ending.name if ending else None, replayed, config)
    if isinstance(whole, RepositoryReason):
        return Turned(name, whole)
    shipped, reference = (_shipped(store, tree, config) for tree in (base.commit, whole))
    changed = store.changed(shipped, reference)
    if segment.kind is EvidenceKind.TRAILER and replayed.keys().isdisjoint(changed):
        return Turned(name, RepositoryReason.NO_TASK)  # another session made that commit
    visible, hidden = split(changed)
    if all(path.endswith(_DOCUMENTS) for path in visible):
        return Turned(name, RepositoryReason.NO_CHANGE)
    if not untested and not any(is_test(path) for path in hidden):
        return Turned(name, RepositoryReason.NO_TESTS)
    if problem := _problem(store, shipped, reference, visible, config):
        return Turned(name, problem)
    edited = {edit.path for edit in edits}
    return RepositoryTask(
        name, repository.name, repository.licence or "", session.uid, session.source_path,
        str(session.source_format), (), base, ending.name if ending else None, shipped, reference,
        _agreement(store, replayed, reference) if ending and replayed else None,
        round(len(edited & {*visible}) / len(visible), 9) if edited else None,
    )  # fmt: skip


_Named = tuple[str, str]  # the path of a file, and its object
Mask = Callable[
    [str, Sequence[str], Mapping[_Named, bytes]],
    tuple[Sequence[str], Mapping[_Named, tuple[str, bytes]]],
]


def masked_task(task: RepositoryTask, store: Store, mask: Mask) -> Found:
    """A task whose words and trees are masked together, so that proofs are of what is shipped.

    `mask` is given the task's name, what was said and its files; links and files that it returns
    nothing for are left out of both trees. Raises GitFailed.
    """
    trees = {tree: store.entries(tree) for tree in (task.base_tree, task.reference_tree)}
    named = {(e.path, e.name) for of in trees.values() for e in of if e.mode != LINK}
    contents = store.blobs(name for _, name in named)
    files = {(path, name): contents[name] for path, name in sorted(named)}
    texts, masked = mask(task.task, [said.text for said in task.talk], files)
    talk = tuple(replace(s, text=text) for s, text in zip(task.talk, texts, strict=True))
    made = []
    for tree, entries in trees.items():
        changes: dict[str, tuple[str, bytes] | None] = dict.fromkeys(e.path for e in entries)
        shown = {e: masked[e.path, e.name] for e in entries if (e.path, e.name) in masked}
        if len({path.casefold() for path, _ in shown.values()}) < len(shown):
            return Turned(task.task, RepositoryReason.UNSAFE_PATH)
        changes |= {path: (entry.mode, content) for entry, (path, content) in shown.items()}
        kept = [e.path for e in shown if changes[e.path] == (e.mode, files[e.path, e.name])]
        made.append(store.tree_with(tree, {p: c for p, c in changes.items() if p not in kept}))
    left_out = {e.path for of in trees.values() for e in of} - {path for path, _ in masked}
    return replace(
        task, talk=talk, base_tree=made[0], reference_tree=made[1],
        left_out=len(left_out),
    )  # fmt: skip


def _ended(
    store: Store, base: str, ending: str | None, replayed: Files, config: RepositoriesConfig
) -> str | RepositoryReason:
    """The commit that ended a task, else the tree that its replay left, or why there is none."""
    if ending is not None:
        paths = [entry.path for entry in store.entries(ending)]
        is_safe_tree = all(is_safe(path) or is_left_out(path, config) for path in paths)
        return ending if is_safe_tree else RepositoryReason.UNSAFE_PATH
    modes = {entry.path: entry.mode for entry in store.entries(base)}
    changes = {
        path: None if text is None else (modes.get(path, "100644"), text.encode())
        for path, text in replayed.items()
        if is_safe(path) and not is_left_out(path, config) and (text is not None or path in modes)
    }
    return store.tree_with(base, changes) if changes else RepositoryReason.NO_TASK


def _problem(
    store: Store, shipped: str, reference: str, visible: Sequence[str], config: RepositoriesConfig
) -> RepositoryReason | None:
    """Why a task with these trees cannot be shipped."""
    problem = problem_of(store, store.entries(shipped), config)
    others = (c for path, c in store.files(shipped).items() if path not in visible)
    if problem is None and holds_answer(store.patch(shipped, reference, visible), others):
        return RepositoryReason.ANSWER_IN_TREE
    return problem


def _shipped(store: Store, tree: str, config: RepositoriesConfig) -> str:
    """A tree without transcripts, credential files, and what no clone could have filled."""
    entries = store.entries(tree)
    left_out = [e.path for e in entries if e.size < 0 or is_left_out(e.path, config)]
    left_out += strays(store, tree)
    return store.tree_with(tree, dict.fromkeys([*left_out, *transcripts(store, tree)]))


def _replayed(edits: Sequence[Edit], store: Store, base: str) -> Files:
    """The files that the edits of the log leave changed, replayed on the base."""
    contents = store.files(base, {edit.path for edit in edits})
    before: Files = {path: text.decode("utf-8", "replace") for path, text in contents.items()}
    files = dict(before)
    replay(edits, files)
    return {path: text for path, text in files.items() if text != before.get(path)}


def _agreement(store: Store, replayed: Files, reference: str) -> float:
    """The share of replayed files that the reference holds just so."""
    there = store.files(reference, replayed.keys())
    same = sum(there.get(p) == (None if t is None else t.encode()) for p, t in replayed.items())
    return round(same / len(replayed), 9)


STAGE = "repository_rubrics"
VERSION = "repository-rubrics/1"  # raised when a case shows something else
MODEL_STAGE = ModelStage.GRADE
REFERENCE = "reference.patch"  # as its name stands in a rubric; no agent sees the file
# What says that tests can prove nothing here. A build that was off or a sandbox that was not there
# says nothing of the task.
UNPROVABLE = frozenset(
    {
        RepositoryReason.NO_TESTS,
        RepositoryReason.NO_ENVIRONMENT,
        RepositoryReason.PRIVATE_DEPENDENCY,
        RepositoryReason.BUILD_FAILED,
        RepositoryReason.NOT_RUN,
        RepositoryReason.TIMED_OUT,
        RepositoryReason.NO_FAIL_TO_PASS,
        RepositoryReason.FLAKY,
        RepositoryReason.UNPROVEN,
        RepositoryReason.ATTACKED,
    }
)
_MOST_FILES = 20
_MOST_PATCH = 4 << 20  # bytes; longer ones are no patch for the check either


def case_of(case: Unwritten, candidate: Candidate, request: str) -> Case:
    """What the writer of a rubric reads: what was said, the files before, the reference."""
    store, task = case.change.store, case.task
    contents = store.files(task.base_tree, {*case.change.parts[0][:_MOST_FILES]})
    files = contents | {REFERENCE: case.change.patch}
    who = {Speaker.PERSON: "person", Speaker.AGENT: "agent"}
    said = [Said(speaker=who[s.speaker], text=s.text) for s in task.talk if s.speaker in who]
    own = [said[n] for n, s in enumerate(s for s in task.talk if s.speaker in who) if not s.before]
    evidence = Evidence(
        said=tuple(own),
        before=tuple(one for one in said if one not in own),
        files=_views(files),
        tree=tree_of(entry.path for entry in store.entries(task.base_tree)),
    )
    return Case(candidate=candidate, request=request, evidence=evidence)


def _views(files: Mapping[str, bytes]) -> tuple[FileView, ...]:
    """The views of files by their path in a tree, each opened as a hostile one."""
    with TemporaryDirectory() as folder:
        paths = {}
        for number, (path, content) in enumerate(sorted(files.items())):
            paths[path] = Path(folder, f"{number}{posixpath.splitext(path)[1][:12]}")
            paths[path].write_bytes(content)
        return look(paths)


def write_rubrics(
    cases: Sequence[Case], judges: Judges, out: Path
) -> tuple[list[Candidate], dict[str, str | None]]:
    """The candidates with the rubric of a model, and by id why there is none.

    Raises UnansweredError.
    """
    with judges.client(masked=True) as client:
        judged: list[Judged[Graded]] = judged_cases(MODEL_STAGE, cases, judges.config, client)
        replies = {f"model-replies-{STAGE}": client.replies_digest()}
    write_model_use(out, judges.costs({str(MODEL_STAGE): judged}), replies)
    judge, candidates = judges.config.model.judge_of(MODEL_STAGE), []
    reasons: dict[str, str | None] = {}
    for case, item in zip(cases, judged, strict=True):
        assert item.value is not None
        criteria = item.value.rubric.criteria
        is_whole = {criterion.dimension for criterion in criteria} == {*Dimension}
        has_facts = any(criterion.evidence for criterion in criteria)
        is_whole = is_whole and has_facts and not item.value.rubric.needs_model
        reasons[item.item_id] = None if is_whole else str(RepositoryReason.NO_RUBRIC)
        if is_whole:
            # The required check says all that rules on files would.
            graded = item.value.model_copy(update={"rules": ()})
            candidates.append(graded_candidate(case, graded, judge))
    return candidates, reasons


def with_changed_files(task: ReleasedTask, outputs: Path, evidence: Evidence) -> Evidence:
    """The evidence of an attempt with the files that its patch changes, before and after.

    A patch that cannot be applied fails the check; then it is all that there is to be seen.
    """
    archive = task.inputs[ARCHIVE]
    with TemporaryDirectory() as folder, suppress(GitFailed, OSError, ValueError, TooLarge):
        patch = read_regular(str(outputs), PATCH, _MOST_PATCH)
        store = Store(Path(folder, "git"))
        empty = store.start()
        base = store.tree_with(empty, members(archive, _named(patch, store)))
        other = store.patched(base, patch)
        paths = [path for path in store.changed(base, other) if is_safe(path)][:_MOST_FILES]
        before, after = (_views(store.files(tree, paths)) for tree in (base, other))
        known = {view.path: view for view in before}
        pairs = [(known[view.path], view) for view in after if view.path in known]
        update = {
            "files": (*evidence.files, *before),
            "outputs": (*evidence.outputs, *after),
            "changes": tuple(change for was, now in pairs for change in changes_of([was], [now])),
        }
        return evidence.model_copy(update=update)
    return evidence


def _named(patch: bytes, store: Store) -> set[str]:
    """The paths that a patch names. Raises GitFailed where it is none."""
    counted = store.run("apply", "--numstat", "-z", stdin=patch).split(b"\0")
    moved = [x for x in patch.split(b"\n") if x.startswith((b"rename from ", b"copy from "))]
    names = [*(x.split(b"\t")[-1] for x in counted), *(x.split(b" ", 2)[2] for x in moved)]
    return {name.decode("utf-8", "surrogateescape") for name in names}
