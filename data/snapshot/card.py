"""The texts around the tasks: README card, change log, licence notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from data.contracts import Lane, TurnedAway
from data.snapshot import layout
from data.snapshot.audit_pages import has_tables
from data.snapshot.manifest import Manifest, tried_in_sandbox
from data.snapshot.pages import render
from data.snapshot.release import CardConfig, PrivacyStamp, Release

# What each stamp means, for people who decide whether they may use the data.
_STAMPS: Mapping[PrivacyStamp, str] = {
    PrivacyStamp.GENERATED: "The input comes from the project's demo generator and names no real "
    "people or companies.",
    PrivacyStamp.PUBLIC: "All sources are declared public in the recipe; nothing was masked.",
    PrivacyStamp.MASKED: "Private text was masked before packaging, and the release passed the "
    "leak scan; see audit/privacy.json for the report.",
}
_WITH_TABLES = (
    "Private text was masked before packaging, private tables were anonymized, and the "
    "release passed the leak scan; see audit/privacy.json for the report."
)
_MADE: Mapping[Lane, tuple[str, str]] = {  # for one task, and for several
    Lane.SESSIONS: ("from a recorded work session", "from recorded work sessions"),
    Lane.SIGNALS: ("from popularity data", "from popularity data"),
    Lane.QUESTIONS: ("question about filed statements", "questions about filed statements"),
    Lane.ANALYTICS: ("analysis of data files", "analyses of data files"),
    Lane.REPOSITORIES: ("change to a repository", "changes to repositories"),
    Lane.WORKFLOWS: ("piece of work in services or files", "pieces of work in services and files"),
}
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)


def stamp(release: Release) -> str:
    """What the stamp of the release means; private tables are named only where it has some."""
    with_tables = release.privacy is PrivacyStamp.MASKED and has_tables(release.privacy_report)
    meaning = _WITH_TABLES if with_tables else _STAMPS[release.privacy]
    return f"{meaning}{_of_recogniser(release.privacy_report)}"


def _of_recogniser(report: Mapping[str, Any] | None) -> str:
    """Which model read for what is private, and whether anybody looked at its proposals."""
    read = ((report or {}).get("masking") or {}).get("recogniser")
    if not read:
        return ""
    unseen = " Words that it proposed to keep were accepted unseen." * read["accepts_proposals"]
    return f" A model ({read['model']}) recognised what is private beside the rules.{unseen}"


def summarised(release: Release) -> Release:
    """The release with a summary on its card: the recipe's, or one that counts tasks by lane."""
    if release.card.summary is not None:
        return release
    lanes = Counter(candidate.lane for candidate in release.candidates)
    by_rubric = sum(c.lane is Lane.REPOSITORIES and bool(c.rubric) for c in release.candidates)
    said = {Lane.REPOSITORIES: f" ({by_rubric} graded by rubric)"} if by_rubric else {}
    parts = [
        f"{lanes[lane]} {_MADE[lane][lanes[lane] > 1]}{said.get(lane, '')}"
        for lane in Lane
        if lanes[lane]
    ]
    summary = f"Self-contained tasks for agents: {', '.join(parts)}. Every rejection is recorded."
    return replace(release, card=release.card.model_copy(update={"summary": summary}))


def readme(
    release: Release,
    manifest: Manifest,
    funnel: Sequence[Mapping[str, Any]],
    undecided: Mapping[str, Sequence[str]],
    turned_away: TurnedAway,
    statistics: Mapping[str, Any],
) -> str:
    """The dataset card: YAML front matter for the Hugging Face hub, then the datasheet."""
    return render(
        "README.md.j2",
        front_matter=_front_matter(release, manifest, statistics),
        card=release.card,
        manifest=manifest,
        stamp=stamp(release),
        funnel=funnel,
        undecided=undecided,
        turned_away=turned_away,
        statistics=statistics,
        canary=_sentence(manifest),
        tried=tried_in_sandbox(manifest),
        tables=release.tables,
        has_privacy_report=release.privacy_report is not None,
        has_selection=release.selection is not None,
        keeps_languages=_keeps_languages(manifest.recipe),
        coverage=((release.selection or {}).get("questions") or {}).get("coverage", ()),
    )


def _keeps_languages(recipe: Mapping[str, Any]) -> bool:
    """Were texts in languages without detection of names released as unverified?"""
    language = recipe.get("masking", {}).get("language", {})
    return bool(language.get("unsupported") == "keep")


def size_category(tasks: int) -> str:
    """The hub's word for a number of tasks."""
    return next((name for top, name in _SIZES if tasks < top), "n>1M")


def changelog(release: Release, manifest: Manifest) -> str:
    """What changed since the release before; the first one says that it is the first."""
    changes = release.changes or ("First release in this snapshot series.",)
    return render("CHANGELOG.md.j2", manifest=manifest, changes=changes, canary=_sentence(manifest))


def licence_notice(card: CardConfig, manifest: Manifest) -> str:
    """The licence by name and address, and how to give credit."""
    return render("LICENSE.j2", card=card, manifest=manifest, canary=_sentence(manifest))


def _front_matter(release: Release, manifest: Manifest, statistics: Mapping[str, Any]) -> str:
    card = release.card
    files = {"tasks": layout.TASK_TABLE}
    files |= {name: layout.table_path(name) for name in sorted(release.tables)}
    document = {
        "pretty_name": card.title,
        "license": card.licence.lower() if card.licence else "unknown",
        "language": sorted(row["value"] for row in statistics["languages"]),
        "tags": ["agents", "benchmark", "benchmint", f"privacy-{manifest.privacy}"],
        "task_categories": ["other"],
        "size_categories": [size_category(statistics["tasks"])],
        "source_datasets": ["original"],
        "annotations_creators": ["machine-generated"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]}
            for name, path in files.items()
        ],
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _sentence(manifest: Manifest) -> str:
    return layout.canary_sentence(manifest.snapshot, manifest.canary)
