"""Writes the content of both halves of a snapshot into a temporary directory."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import orjson

from data.canonical import canonical_json, digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate
from data.errors import ReleaseError
from data.figures import amount, number, percent
from data.neutralise import storable_tree
from data.snapshot import card, layout, pages, report_page, task_pages, tasks
from data.snapshot.ledger import Frames, LedgerCounts, Rows, gate_order, turned_away
from data.snapshot.manifest import Manifest
from data.snapshot.release import Release
from data.snapshot.report_page import rejection_rows
from data.snapshot.tasks import statistics
from data.tables import write_frame

_State = Literal["shown", "in part", "not shown", "not applicable"]
_ValidityRows = Sequence[Mapping[str, Any]]
_WITHOUT_WORK = ("null", "talk", "empty calls")
_FORMS = ("plain number", "with separators", "as JSON", "in a sentence", "in bold", "full width")
NOT_SHOWN: _State = "not shown"
_NO_USE: _State = "not applicable"
_MATCHING = (
    ("O.a.1", "Equivalent expressions are accepted", _FORMS, "other forms of the correct answer"),
    ("O.a.2", "Redundant words are tolerated", ("in a sentence",), "the answer in a sentence"),
    (
        "O.b.1",
        "Negations are recognised",
        ("refusal with the value",),
        "a refusal that contains the value",
    ),
    ("O.b.2", "Listing all answers does not pass", ("right among others",), "several answers"),
    ("O.b.3", "Guesses do not pass", ("another value", "no value", "times 1000"), "other values"),
)


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of the checklist: what it asks for, and what this release shows of it."""

    item: str
    asks: str
    state: _State
    evidence: str


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the release says about itself."""

    manifest: Manifest
    statistics: Mapping[str, Any]
    gates: Mapping[str, Mapping[str, int]]  # gate -> number of items by status

    @property
    def tasks(self) -> int:
        return self.manifest.counts.tasks

    def n(self, statistic: str, value: str) -> int:
        """How many tasks have a value of a statistic."""
        return sum(row["n"] for row in self.statistics[statistic] if row["value"] == value)

    def audited(self, kinds: Iterable[str]) -> tuple[int, int, list[str]]:
        """Submissions of these kinds, those that came out as they must, and the kinds tried."""
        wanted = set(kinds)
        audit = self.manifest.grading.audit if self.manifest.grading else ()
        rows = [row for row in audit if row.kind in wanted]
        return sum(r.tasks for r in rows), sum(r.held for r in rows), [r.kind for r in rows]


def report(manifest: Manifest, statistics: Mapping[str, Any], gates: _ValidityRows) -> list[_Item]:
    """All items in the order of the checklist."""
    facts = _Facts(manifest, statistics, {row["gate"]: row["statuses"] for row in gates})
    return [item for part in _PARTS for item in part(facts)]


def _counts(items: Iterable[_Item]) -> dict[str, int]:
    """How many items have each state."""
    total: dict[str, int] = dict.fromkeys(("shown", "in part", NOT_SHOWN, "not applicable"), 0)
    for item in items:
        total[item.state] += 1
    return total


def _of(held: int, tried: int) -> _State:
    if not tried:
        return NOT_SHOWN
    return "shown" if held == tried else "in part"


def _tried(facts: _Facts, kinds: Sequence[str], what: str) -> tuple[_State, str]:
    tried, held, names = facts.audited(kinds)
    if not tried:
        return NOT_SHOWN, f"no released tasks were tried with {what}"
    named = ", ".join(names)
    return _of(held, tried), f"{number(held)} of {number(tried)} gave the expected result ({named})"


def _part(state: _State) -> _State:
    """Of what was tried on some tasks, or shows a part of what an item asks for."""
    return "in part" if state == "shown" else state


def _tools_and_environment(facts: _Facts) -> Iterator[_Item]:
    manifest, tasks = facts.manifest, facts.tasks
    cut_off = facts.n("network", "none")
    frozen: _State = "shown" if cut_off == tasks else "in part"
    versions = f"code {manifest.code_version[:12]}, lock file {manifest.lock_digest[:12]}"
    yield _Item("T.1", "Tool versions are stated", "shown", versions)
    reach = (
        f"{cut_off} of {tasks} tasks need no network access; the runner provides tools and services"
    )
    yield _Item("T.2", "Services that tasks need are reachable", frozen, reach)
    what = (
        "the runner counts attempts that the machine aborted separately; none was provoked "
        "in this build"
    )
    yield _Item("T.3", "Outages are handled", NOT_SHOWN, what)
    what = (
        "each attempt starts with its own copy of inputs and services; no run in this build "
        "shows it"
    )
    yield _Item("T.4", "State is cleared between runs", "in part", what)
    scanned = sum(facts.gates.get("leaks", {}).values())
    halves = (
        "answers, rules and graders are only in the private half, and verify looks for them in the "
        f"public one; the leak scan examined {amount(scanned, 'candidate')}"
    )
    yield _Item("T.5", "Agents are cut off from the ground truth", "shown", halves)
    fixed = (
        f"{amount(manifest.counts.fixtures, 'input file')} with SHA-256, "
        f"{amount(len(manifest.inputs), 'input')} to the build recorded by digest; {reach}"
    )
    yield _Item("T.6", "The environment is frozen", frozen, fixed)


def _solvable(facts: _Facts) -> Iterator[_Item]:
    tasks, grading = facts.tasks, facts.manifest.grading
    kinds = ("computed answer",)
    state, evidence = _tried(facts, kinds, "the answer computed by the reference steps")
    if facts.audited(kinds)[0] < tasks:
        state, evidence = _part(state), f"{evidence}; {amount(tasks, 'task')} in all"
    yield _Item("T.7", "The ground truth is verified", state, evidence)
    verified = grading.verified if grading else 0
    tried = f"{verified} of {tasks} were run in a sandbox before release; {evidence}"
    yield _Item(
        "T.8", "Each task can be solved", _of(verified, tasks) if verified else state, tried
    )
    yield _Item("T.9", "There is an oracle solver", state, f"{evidence}; agent oracle")
    state, evidence = _tried(facts, _WITHOUT_WORK, "submissions with no work in them")
    yield _Item("T.10", "There are no shortcuts", _part(state), evidence)


def _matched(facts: _Facts) -> Iterator[_Item]:
    answers = facts.n("evidence", "accuracy")
    for item, asks, kinds, what in _MATCHING:
        if answers:
            yield _Item(item, asks, *_tried(facts, kinds, what))
        else:
            yield _Item(item, asks, _NO_USE, "no tasks are graded by an answer")


def _judged(facts: _Facts) -> Iterator[_Item]:
    semantic = facts.n("evidence", "semantic")
    what = f"{semantic} of {facts.tasks} tasks are partly judged; no judge ran in this build"
    for item, asks in (
        ("O.c.1", "A judge's accuracy and consistency are documented"),
        ("O.c.2", "A judge withstands adversarial submissions"),
    ):
        if semantic:
            yield _Item(item, asks, NOT_SHOWN, what)
        else:
            yield _Item(item, asks, _NO_USE, "no tasks are graded by a judge")


def _programs_and_states(facts: _Facts) -> Iterator[_Item]:
    screened = facts.gates.get("screen", {})
    drafts, passed = sum(screened.values()), screened.get("passed", 0)
    screening = f"{passed} of {drafts} drafts passed screening"
    state: _State = "in part" if drafts else NOT_SHOWN
    code, actions = facts.n("surfaces", "workspace"), facts.n("evidence", "action")
    for item, asks, what in (
        ("O.d.1", "Tests are verified", f"{screening} (reference, recipes for sibling tasks)"),
        ("O.d.2", "Test quality is measured", f"{screening}: a mutant for each check fails"),
    ):
        applies = f"{code} of {facts.tasks} tasks are checked on their deliverables; {what}"
        yield _Item(item, asks, state if code else _NO_USE, applies)
    yield _Item("O.e", "Fuzzed inputs are comprehensive", _NO_USE, "no tasks are graded by fuzzing")
    twice = "graders are pure functions; they were not run twice in this build"
    yield _Item("O.f", "Graders give the same result every time", NOT_SHOWN, twice)
    for item, asks, shown in (
        ("O.g.1", "All successful states are accepted", NOT_SHOWN),
        ("O.g.2", "Side effects are detected, and irrelevant state is ignored", state),
        ("O.g.3", "The state is too complex to be reached by chance", state),
    ):
        applies = f"{actions} of {facts.tasks} tasks are graded by state; {screening}"
        yield _Item(item, asks, shown if actions else _NO_USE, applies)


def _forms_and_measures(facts: _Facts) -> Iterator[_Item]:
    grading = facts.manifest.grading
    share = percent(grading.deterministic_share) if grading else "an unknown share"
    form = f"guidelines state unit, decimals and type; {share} of the weight needs no judge"
    answers = facts.n("evidence", "accuracy")
    yield _Item("O.h.1", "The answer format is stated", "shown" if answers else _NO_USE, form)
    steps = "milestones are reported alongside the score and do not affect it"
    yield _Item("O.h.2", "Multi-step work does not pass on its last step alone", "in part", steps)
    yield _Item("O.i", "Quality metrics reflect skill", _NO_USE, "no tasks are graded by a metric")


def _open_and_dated(facts: _Facts) -> Iterator[_Item]:
    manifest = facts.manifest
    licence = f"licence: {manifest.licence or 'none declared'}"
    yield _Item("R.1", "The data is open", "shown" if manifest.licence else NOT_SHOWN, licence)
    yield _Item(
        "R.2", "The harness is open", "shown", "the runner and the exports for other runners"
    )
    canary = f"canary {manifest.canary} in every text file; the answers are not published"
    yield _Item("R.3", "Contamination is prevented", "in part", canary)
    dated = f"dated releases: {manifest.snapshot}, version {manifest.version}"
    yield _Item("R.4", "There is an update plan", "shown", dated)
    yield _Item(
        "R.5", "The report states what is measured", "shown", "README.md, Motivation and Uses"
    )
    yield _Item(
        "R.6", "The report states who is evaluated", NOT_SHOWN, "a release contains no attempts"
    )


def _flaws_and_results(facts: _Facts) -> Iterator[_Item]:
    gates = f"{amount(len(facts.gates), 'gate')}, each with its limit, in {layout.REPORT}"
    yield _Item("R.7", "Flaws are looked for and fixed", "shown", gates)
    said = "each task states what was not verified (`preflight` in tasks.jsonl)"
    yield _Item("R.8", "Remaining flaws are described", "in part", said)
    judged = facts.manifest.grading.judge_only if facts.manifest.grading else 0
    counted = f"{judged} of {facts.tasks} tasks can only be scored by a judge"
    yield _Item("R.9", "Remaining flaws are quantified", "in part", counted)
    for item, asks in (
        ("R.10", "Statistics with intervals"),
        ("R.11", "Guidance on interpreting results"),
        ("R.12", "Non-agent baselines"),
    ):
        yield _Item(
            item, asks, NOT_SHOWN, "a release contains no scores; `leaderboard` reports them"
        )
    state, evidence = _tried(facts, _WITHOUT_WORK, "submissions with no work in them")
    yield _Item("R.13", "Trivial agents are reported", state, evidence)


_PARTS = (
    *(_tools_and_environment, _solvable),
    *(_matched, _judged, _programs_and_states, _forms_and_measures),
    *(_open_and_dated, _flaws_and_results),
)


class OpaqueIds:
    """The release's `opaque`, cached and checked: ids are unique and usable as file names."""

    def __init__(self, release: Release) -> None:
        self._make = release.opaque
        self._known: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    def __call__(self, item_id: str) -> str:
        """The opaque id of `item_id`. Raises ReleaseError for one that cannot be used."""
        if item_id in self._known:
            return self._known[item_id]
        made = self._make(item_id)
        if not layout.is_id(made) or made.lower().startswith("index"):
            raise ReleaseError(
                f"an opaque ID of {len(made)} characters cannot be used as a page name; use "
                "letters, digits, '.', '_' and '-'."
            )
        if self._owners.setdefault(made.lower(), item_id) != item_id:
            raise ReleaseError("two private IDs have the same opaque ID; use a longer digest.")
        self._known[item_id] = made
        return made


@dataclass
class Contents:
    """A release with its manifest and cleaned ledger tables; `_counts` are over those on disk."""

    release: Release
    manifest: Manifest
    frames: Frames
    counts: LedgerCounts
    ids: OpaqueIds

    @cached_property
    def rows(self) -> list[tasks.Row]:
        """The rows of `tasks.jsonl`, by task id."""
        chosen = sorted(self.release.candidates, key=lambda task: task.task_id)
        return [tasks.public_row(task, self.ids, self.manifest.canary) for task in chosen]

    @cached_property
    def gates(self) -> list[str]:
        return gate_order(self.release.ledger_tables)

    @cached_property
    def funnel(self) -> Rows:
        return self.counts.funnel(self.release.ledger_tables.tallies)

    @cached_property
    def ledger(self) -> dict[str, Rows]:
        return self.counts.summary(self.gates)

    @cached_property
    def undecided(self) -> dict[str, list[str]]:
        words = self.release.ledger_tables.words
        return words.undecided(self.ledger["gates"])

    @cached_property
    def public_tasks(self) -> list[Candidate]:
        """The candidates as the public half shows them, by task id."""
        return [tasks.candidate_of(row) for row in self.rows]

    @cached_property
    def statistics(self) -> dict[str, Any]:
        return statistics(self.public_tasks)


def write_public(root: Path, contents: Contents) -> bytes:
    """Write the public half into `root`; returns the content of its SHA256SUMS."""
    release, manifest = contents.release, contents.manifest
    for task in contents.public_tasks:
        _write_task(root, contents, task)
    _write_inputs(root, contents)
    _write(root / layout.TASK_LIST, b"".join(map(tasks.row_line, contents.rows)))
    write_frame(root / layout.TASK_TABLE, tasks.task_table(contents.rows))
    _write_audit(root, contents)
    _write_tables(root, release)
    _write(root / layout.MANIFEST, pretty_json(manifest))
    _write(root / "croissant.json", _croissant(root, contents))
    _write_text(
        root / "README.md",
        card.readme(
            release,
            manifest,
            contents.funnel,
            contents.undecided,
            turned_away(contents.ledger["rejections"]),
            contents.statistics,
        ),
    )
    _write_text(root / layout.CHANGELOG, card.changelog(release, manifest))
    _write_text(root / "LICENSE", card.licence_notice(release.card, manifest))
    return _write_sums(root)


def write_private(root: Path, contents: Contents, public_sums: bytes) -> bytes:
    """Write the private half beside its tables into `root`; returns its SHA256SUMS."""
    guid = contents.manifest.canary
    for task in contents.release.candidates:
        for name, content in tasks.private_parts(task, guid).items():
            _write(root / task.task_id / name, content)
        if task.task_id in contents.release.worlds:
            world = orjson.loads(contents.release.worlds[task.task_id].read_bytes())
            content = canonical_json({"canary": guid, **world}) + b"\n"
            _write(root / task.task_id / layout.WORLD, content)
    if contents.release.answers is not None:
        shutil.copyfile(contents.release.answers, root / layout.ANSWERS_TABLE)
    for name, source in sorted(contents.release.private_files.items()):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, root / name)
    instances = card.write_pages(
        contents.frames,
        contents.manifest,
        contents.funnel,
        contents.gates,
        contents.ids,
        contents.release.ledger_tables.words,
    )
    for name, html in instances:
        _write_text(root / layout.AUDIT / name, html)
    chosen = sorted(contents.release.candidates, key=lambda task: task.task_id)
    views = [_private_view(contents, task) for task in chosen]
    _write_task_pages(root, contents, views, back=("../index.html", "Instances"))
    link = {
        "canary": guid,
        "snapshot": contents.manifest.snapshot,
        "public_sums_sha256": digest(public_sums),
    }
    _write(root / layout.HALF_LINK, pretty_json(link))
    return _write_sums(root)


def _private_view(contents: Contents, task: Candidate) -> task_pages.TaskView:
    grading = storable_tree(task.model_dump(mode="json", include=set(PRIVATE_FIELDS)))
    checked = task_pages.checked_words(task, grading)
    world = contents.release.worlds.get(task.task_id)
    return task_pages.TaskView(
        task,
        _previews(contents, task),
        grading,
        checked,
        known=contents.release.labels,
        services=task_pages.services_of(orjson.loads(world.read_bytes())) if world else (),
        world=f"../../{task.task_id}/{layout.WORLD}" if world else "",
    )


def _public_view(
    contents: Contents, task: Candidate, whole: Mapping[str, Candidate]
) -> task_pages.TaskView:
    graded = whole[task.task_id].model_dump(mode="json", include=set(PRIVATE_FIELDS))
    checked = task_pages.checked_words(task, graded)
    return task_pages.TaskView(
        task, _previews(contents, task), checked=checked, known=contents.release.labels
    )


def _previews(contents: Contents, task: Candidate) -> list[task_pages.Preview]:
    return [
        task_pages.preview(
            fixture.path, contents.release.fixture_file(fixture.sha256), fixture.media_type
        )
        for fixture in task.fixtures
    ]


def _write_task_pages(
    root: Path,
    contents: Contents,
    views: Sequence[task_pages.TaskView],
    *,
    back: tuple[str, str],
) -> None:
    manifest = contents.manifest
    made = task_pages.task_pages(views, manifest.snapshot, manifest.canary, back=back)
    for name, html in made:
        _write_text(root / layout.TASK_PAGES / name, html)


def _write_task(root: Path, contents: Contents, task: Candidate) -> None:
    folder = root / layout.TASKS / task.task_id
    manifest = contents.manifest
    text = tasks.instruction(task, manifest.snapshot, manifest.canary)
    described = tasks.task_yaml(task, manifest.snapshot, manifest.version, manifest.canary)
    _write_text(folder / layout.INSTRUCTION, text)
    _write_text(folder / layout.TASK_YAML, described)


def _write_inputs(root: Path, contents: Contents) -> None:
    """The input files of all tasks; those of an environment once for all its tasks."""
    written: set[str] = set()
    for task in contents.public_tasks:
        for fixture in task.fixtures:
            path = layout.input_path(task.task_id, fixture)
            if path not in written:
                source = contents.release.fixture_file(fixture.sha256)
                tasks.copy_fixture(task.task_id, fixture, source, root / path)
                written.add(path)


def _write_tables(root: Path, release: Release) -> None:
    for name, table in sorted(release.tables.items()):
        target = root / layout.table_path(name)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(table.path, target)


def _report(contents: Contents) -> str:
    """`audit/report.html`."""
    release = contents.release
    words = release.ledger_tables.words
    return report_page.report(
        release.card,
        contents.manifest,
        contents.funnel,
        contents.ledger,
        contents.statistics,
        rejection_rows(contents.frames.ledger, contents.ids, words),
        [release.pictures[name] for name in sorted(release.pictures)],
        stamp=card.stamp(release),
        words=words,
        labels=release.labels,
        limits=contents.counts.limits(),
        has_privacy_page=card.has_tables(release.privacy_report),
    )


def _write_audit(root: Path, contents: Contents) -> None:
    release, manifest = contents.release, contents.manifest
    title = report_page.funnel_title(manifest, contents.funnel)
    steps = report_page.steps(
        contents.funnel, contents.ledger["rejections"], contents.gates, contents.undecided
    )
    comment = f"<!-- {layout.canary_sentence(manifest.snapshot, manifest.canary)} -->\n"
    picture = report_page.draw(steps, report_page.WIDE, title, standalone=True)
    _write_text(root / layout.AUDIT / "funnel.svg", f"{comment}{picture}\n")
    for name, chart in sorted(release.pictures.items()):
        _write_text(root / layout.AUDIT / f"{name}.svg", f"{comment}{chart.standalone}\n")
    items = report(manifest, contents.statistics, contents.ledger["gates"])
    totals = _counts(items)
    documents: dict[str, Mapping[str, Any] | None] = {
        layout.FUNNEL: {"stages": contents.funnel},
        layout.LEDGER: contents.ledger,
        layout.STATISTICS: contents.statistics,
        f"{layout.AUDIT}/selection.json": release.selection,
        layout.PRIVACY: release.privacy_report,
        layout.VALIDITY: {"items": [asdict(item) for item in items], "totals": totals},
    }
    for name, document in documents.items():
        if document is not None:
            content = storable_tree(dict(document)) | {"canary": manifest.canary}
            _write(root / name, pretty_json(content))
    _write_text(root / layout.REPORT, _report(contents))
    whole = {task.task_id: task for task in release.candidates}
    views = [_public_view(contents, task, whole) for task in contents.public_tasks]
    _write_task_pages(root, contents, views, back=("../report.html", "Audit report"))
    style = pages.asset("report.css")
    page = pages.page("validity.html.j2", style, manifest=manifest, items=items, totals=totals)
    _write_text(root / layout.VALIDITY_PAGE, page)
    if release.privacy_report is not None and card.has_tables(release.privacy_report):
        privacy_html = card.privacy_page(
            release.card, manifest, release.privacy_report, release.pictures
        )
        _write_text(root / layout.PRIVACY_PAGE, privacy_html)


def _croissant(root: Path, contents: Contents) -> bytes:
    document = card.metadata(
        contents.release.card,
        contents.manifest,
        root,
        contents.statistics,
        card.stamp(contents.release),
        contents.release.tables,
    )
    missing = card.problems(document)
    if missing:
        raise ReleaseError(f"croissant.json lacks {', '.join(missing)}. Set them in the recipe.")
    return pretty_json(document)


def _write_sums(root: Path) -> bytes:
    content = layout.render(layout.compute(root))
    _write(root / layout.SUMS, content)
    return content


def _write_text(path: Path, text: str) -> None:
    _write(path, text.encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
