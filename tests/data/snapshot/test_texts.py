"""The texts around the tasks: card, metadata, dataset file, task files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from data.contracts import Candidate, Disclosure, Lane, Provenance
from data.errors import ReleaseError
from data.neutralise import visible
from data.snapshot import layout
from data.snapshot.card import _size_category, problems, stamp
from data.snapshot.release import DEMO_LICENCE, CardConfig, GradingFacts, PrivacyStamp
from data.snapshot.tasks import candidate_of, instruction, public_row, row_line, task_yaml
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import Store, candidate, opaque, release

GUID = "00000000-0000-5000-8000-000000000000"
HOSTILE = "Total:\x1b[2J <script>alert(1)</script>\u202e --> | `x`\r\n---\n- [a](b)"
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


def with_prompt(prompt: str, guidelines: str = "") -> Candidate:
    return Candidate(
        task_id="t-1",
        lane=Lane.SESSIONS,
        prompt=prompt,
        guidelines=guidelines,
        language="en",
        provenance=Provenance(
            source="s",
            source_format="chat",
            item_id="private-id-1",
            disclosure=Disclosure.PRIVATE,
        ),
    )


def front_matter(readme: str) -> dict[str, Any]:
    _, head, _ = readme.split("---\n", 2)
    parsed = yaml.safe_load(head)
    assert isinstance(parsed, dict)
    return parsed


def test_the_card_opens_with_what_the_hub_reads(pristine: Path) -> None:
    readme = (pristine / "public/README.md").read_text()
    assert front_matter(readme) == {
        "pretty_name": "Benchmint snapshot",
        "license": "unknown",
        "language": ["en", "zh"],
        "tags": ["agents", "benchmark", "benchmint", "privacy-generated"],
        "task_categories": ["other"],
        "size_categories": ["n<1K"],
        "source_datasets": ["original"],
        "annotations_creators": ["machine-generated"],
        "configs": [
            {"config_name": "tasks", "data_files": [{"split": "test", "path": "tasks.parquet"}]}
        ],
    }


@pytest.mark.parametrize(
    ("card", "licence", "row", "url"),
    [
        ({}, "No licence is declared", "| Licence | none declared |", "rightsstatements.org"),
        ({"licence": "MIT"}, "licensed under MIT.", "| Licence | MIT |", "MIT"),
        (DEMO_LICENCE, DEMO_LICENCE["licence_url"], "| Licence | [CC-BY-4.0](", "/by/4.0/"),
    ],
)
def test_a_licence_is_claimed_only_where_one_is_declared(
    tmp_path: Path, card: dict[str, str], licence: str, row: str, url: str
) -> None:
    given = replace(release(tmp_path), card=CardConfig.model_validate(card))
    public = write_snapshot(given, tmp_path / "out").path / "public"
    assert licence in (public / "LICENSE").read_text()
    assert row in (public / "README.md").read_text()
    assert url in orjson.loads((public / "croissant.json").read_bytes())["license"]
    assert orjson.loads((public / "manifest.json").read_bytes())["licence"] == card.get("licence")


def test_the_card_has_the_datasheet_funnel_and_stamp(pristine: Path) -> None:
    readme = (pristine / "public/README.md").read_text()
    for heading in (
        "Motivation",
        "Composition",
        "Collection",
        "Anonymization",
        "Uses",
        "Maintenance",
    ):
        assert f"\n## {heading}\n" in readme
    assert "> **privacy: generated.**" in readme
    assert "| gates | instance | 24 | 18 | 6 | 0 | 0 |  |" in readme
    assert "| recover | session | 8 | 8 | 0 | 0 | 0 | 24 instances |" in readme


def test_a_masked_release_says_so_everywhere(tmp_path: Path) -> None:
    given_release = replace(
        release(tmp_path), privacy=PrivacyStamp.MASKED, privacy_report={"masking": {}}
    )
    public = write_snapshot(given_release, tmp_path / "out").path / "public"
    assert orjson.loads((public / "manifest.json").read_bytes())["privacy"] == "masked"
    assert "> **privacy: masked.** Private text was masked" in (public / "README.md").read_text()
    assert "privacy: masked" in (public / "audit/report.html").read_text()
    for name in ("README.md", "audit/report.html", "croissant.json"):
        text = (public / name).read_text()
        assert "masked before packaging" in text
        assert "private tables" not in text
        assert "were not changed" not in text


def test_private_tables_are_named_where_a_masked_release_has_some(tmp_path: Path) -> None:
    given = replace(release(tmp_path), privacy=PrivacyStamp.MASKED)
    assert "private tables" not in stamp(given)
    tables: dict[str, Any] = {"tables": {"companies": {}}}
    assert "private tables were anonymized" in stamp(replace(given, privacy_report=tables))


def test_the_stamp_names_the_model_that_read_and_what_nobody_looked_at(tmp_path: Path) -> None:
    given = replace(release(tmp_path), privacy=PrivacyStamp.MASKED)
    for accepts in (False, True):
        read = {"model": "reader", "accepts_proposals": accepts, "counts": {}}
        meaning = stamp(replace(given, privacy_report={"masking": {"recogniser": read}}))
        assert "A model (reader) recognised what is private" in meaning
        assert ("accepted unseen" in meaning) is accepts


@pytest.mark.parametrize("policy", ["keep", "reject"])
def test_the_card_says_if_texts_in_unsupported_languages_were_kept(
    tmp_path: Path, policy: str
) -> None:
    made = release(tmp_path, 3)
    recipe = {**made.build.recipe, "masking": {"language": {"unsupported": policy}}}
    made = replace(made, build=replace(made.build, recipe=recipe))
    card = (write_snapshot(made, tmp_path / "out").path / "public/README.md").read_text()
    assert ("were kept as unverified" in card) == (policy == "keep")


def test_the_card_says_what_the_questions_could_not_fill(tmp_path: Path, pristine: Path) -> None:
    row = {
        "category": "guidance",
        "region": "non-US",
        "available": 7,
        "askable": 3,
        "drawn": 2,
        "asked": 1,
        "why_not": "value.zero",
        "filled_by": "a forecast",
    }
    filled = replace(release(tmp_path), selection={"questions": {"coverage": [row]}})
    text = (write_snapshot(filled, tmp_path / "out").path / "public/README.md").read_text()
    assert "| guidance | non-US | 7 | 3 | 2 | 1 | value.zero |" in text
    assert "Few questions about guidance: a forecast." in text
    assert "Most common reason not" not in (pristine / "public/README.md").read_text()


def test_the_card_points_to_the_privacy_report_where_there_is_one(tmp_path: Path) -> None:
    line = "The report is in `audit/privacy.json`."
    with_report = replace(release(tmp_path), privacy_report={"risk": 0.25})
    for given_release, is_named in ((with_report, True), (release(tmp_path), False)):
        ref = write_snapshot(given_release, tmp_path / f"out-{is_named}")
        assert (line in (ref.path / "public/README.md").read_text()) is is_named


def test_a_task_has_the_name_of_its_business_task_or_its_own() -> None:
    unnamed = with_prompt("Make a table.")
    named = unnamed.model_copy(update={"business_task": "monthly-report"})
    for task, name in ((unnamed, "t-1"), (named, "monthly-report")):
        assert yaml.safe_load(task_yaml(task, "demo", "1.0.0", GUID))["task_name"] == name


def test_a_manifest_of_an_earlier_version_says_nothing_of_sandboxes() -> None:
    grading = GradingFacts(
        formula="f", pass_threshold=0.8, null_limit=0.2, deterministic_share=1.0, judge_only=0
    )
    assert grading.verified == 0


@pytest.mark.parametrize(
    ("tasks", "category"),
    [
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (9_999, "1K<n<10K"),
        (10_000, "10K<n<100K"),
        (100_000, "100K<n<1M"),
        (1_000_000, "n>1M"),
    ],
)
def test_the_card_has_the_hubs_category_of_sizes(tasks: int, category: str) -> None:
    assert _size_category(tasks) == category


def test_hostile_settings_stay_text(tmp_path: Path) -> None:
    card = CardConfig(title=HOSTILE, summary=HOSTILE, creator=HOSTILE)
    public = write_snapshot(replace(release(tmp_path), card=card), tmp_path / "out").path / "public"
    readme = (public / "README.md").read_text()
    assert front_matter(readme)["pretty_name"] == HOSTILE
    body = readme.split("---\n", 2)[2]
    assert r"\<script\>" in body
    for name in ("README.md", "CHANGELOG.md", "LICENSE"):
        text = (public / name).read_text().split("---\n")[-1]
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert" not in (public / "audit/report.html").read_text()


def test_croissant_names_everything_loaders_forget_to_check(pristine: Path) -> None:
    document = orjson.loads((pristine / "public/croissant.json").read_bytes())
    file = document["distribution"][0]
    content = (pristine / "public/tasks.jsonl").read_bytes()
    assert problems(document) == []
    assert document["conformsTo"] == [
        "http://mlcommons.org/croissant/1.1",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    assert file["encodingFormat"] == "application/jsonlines"
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert file["contentSize"] == f"{len(content)} B"
    fields = {field["source"]["extract"]["column"] for field in document["recordSet"][0]["field"]}
    assert fields <= orjson.loads(content.splitlines()[0]).keys()


@pytest.mark.parametrize("key", ["name", "description", "url", "license", "creator", "version"])
def test_croissant_without_a_required_property(pristine: Path, key: str) -> None:
    document = orjson.loads((pristine / "public/croissant.json").read_bytes())
    assert problems(document | {key: ""}) == [key]


def test_the_card_config_refuses_what_the_metadata_needs() -> None:
    for field in (
        {"creator": ""},
        {"url": "not a url"},
        {"licence_url": "https://example.org"},
        {"tilte": "x"},
    ):
        with pytest.raises(ValidationError):
            CardConfig.model_validate(field)


def test_manifest_fields_that_do_not_fit_are_named(tmp_path: Path) -> None:
    given_release = release(tmp_path)
    broken = replace(given_release, build=replace(given_release.build, lock_digest="none"))
    with pytest.raises(ReleaseError, match="lock_digest: String should match"):
        write_snapshot(broken, tmp_path / "out")


def test_a_public_row_keeps_the_task_and_drops_the_rest(tmp_path: Path) -> None:
    task = candidate(1, Store(tmp_path))
    row = public_row(task, opaque, GUID)
    public = candidate_of(row)
    assert next(iter(row)) == "task_id"
    assert not {"answers", "steps", "milestones", "rules", "rubric"} & row.keys()
    assert row["canary"] == GUID
    assert public.prompt == task.prompt
    assert public.fixtures == task.fixtures
    assert public.provenance.item_id == opaque(task.provenance.item_id)
    assert public.provenance.detail == {}


def test_the_three_copies_of_a_prompt_agree() -> None:
    task = candidate_of(public_row(with_prompt(HOSTILE, "Keep\x07 it short."), opaque, GUID))
    text = instruction(task, "demo", GUID)
    body = yaml.safe_load(task_yaml(task, "demo", "1.0.0", GUID))
    assert "\x1b" not in text
    assert text.startswith("Total:⟨U+001B⟩[2J <script>alert(1)</script>⟨U+202E⟩ --> | `x`\n---")
    assert "## Guidelines\n\nKeep⟨U+0007⟩ it short." in text
    assert text.endswith(f"<!-- {layout.canary_sentence('demo', GUID)} -->\n")
    assert body["prompt"]["text"] == task.prompt == visible(HOSTILE)


@given(ANY_TEXT)
def test_any_prompt_survives_yaml_and_json(prompt: str) -> None:
    row = public_row(with_prompt(prompt), opaque, GUID)
    task = candidate_of(orjson.loads(row_line(row)))
    text = task_yaml(task, "demo", "1.0.0", GUID)
    loaded = yaml.load(text, Loader=yaml.CBaseLoader)
    assert task.prompt == loaded["prompt"]["text"] == visible(prompt)
    assert text.splitlines()[0] == f"# {layout.canary_sentence('demo', GUID)}"


def test_the_canary_follows_from_snapshot_and_recipe() -> None:
    guid = layout.canary("demo-2026.07.01", "a" * 64)
    assert guid == layout.canary("demo-2026.07.01", "a" * 64)
    assert guid != layout.canary("demo-2026.07.02", "a" * 64)
    assert guid != layout.canary("demo-2026.07.01", "b" * 64)
    assert guid[14] == "5"  # a UUID of version 5


def test_private_parts_hold_the_gold_and_the_source(pristine: Path, tmp_path: Path) -> None:
    task = candidate(1, Store(tmp_path))
    folder = pristine / "private" / task.task_id
    answers = orjson.loads((folder / "answers.json").read_bytes())
    provenance = orjson.loads((folder / "provenance.json").read_bytes())["provenance"]
    assert answers["answers"][0]["value"] == "1"
    assert provenance["item_id"] == task.provenance.item_id
    assert provenance["detail"] == {"source_path": "secret-folder/session.jsonl"}
