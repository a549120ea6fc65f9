"""Tasks whose tests prove nothing: a model writes a rubric, and judges read the change.

The rubric comes from the stage `grade` of sessions, with the same prompt and guards. Its evidence
is what the change touches in the shipped tree and the reference patch, so that quotes of facts are
looked up in both. Nothing that runs decides but whether a change was made at all.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
from construction.repositories.contracts import RepositoryReason, Speaker
from construction.repositories.git import GitFailed, Store
from construction.repositories.requests import Unwritten
from construction.repositories.trees import is_safe, members
from data.contracts import Candidate
from data.releases.tasks import ReleasedTask

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
