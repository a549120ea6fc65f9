"""Writes the content of both halves of a snapshot into a temporary directory."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from data.canonical import canonical_json, digest, pretty_json
from data.contracts import PRIVATE_FIELDS, Candidate
from data.errors import ReleaseError
from data.neutralise import storable_tree
from data.snapshot import (
    audit_pages,
    card,
    croissant,
    layout,
    pages,
    report_page,
    task_pages,
    tasks,
    validity,
)
from data.snapshot.ledger import Frames, LedgerCounts, Rows, gate_order, turned_away
from data.snapshot.manifest import Manifest
from data.snapshot.release import Release
from data.snapshot.report_page import rejection_rows
from data.snapshot.statistics import statistics
from data.tables import write_frame


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
    """A release with its manifest and cleaned ledger tables; `counts` are over those on disk."""

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
    instances = audit_pages.write_pages(
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
        has_privacy_page=audit_pages.has_tables(release.privacy_report),
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
    items = validity.report(manifest, contents.statistics, contents.ledger["gates"])
    totals = validity.counts(items)
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
    if release.privacy_report is not None and audit_pages.has_tables(release.privacy_report):
        privacy_html = audit_pages.privacy_page(
            release.card, manifest, release.privacy_report, release.pictures
        )
        _write_text(root / layout.PRIVACY_PAGE, privacy_html)


def _croissant(root: Path, contents: Contents) -> bytes:
    document = croissant.metadata(
        contents.release.card,
        contents.manifest,
        root,
        contents.statistics,
        card.stamp(contents.release),
        contents.release.tables,
    )
    missing = croissant.problems(document)
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
