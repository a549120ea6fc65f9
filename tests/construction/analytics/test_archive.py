"""Papers in an archive: what a gold rests on is found by searching, and nothing of it is a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from construction.analytics.answers import guideline_faults
from construction.analytics.archive import Archive, Reading, archived_file, needed_for
from construction.analytics.candidates import Bench
from construction.analytics.config import AnalyticsRecipe, Variant
from construction.analytics.contracts import AnalyticsReason, Filing
from construction.analytics.environment.declaration import (
    IGNORABLE,
    Declaration,
    PolicyText,
)
from construction.analytics.environment.papers import names_in
from construction.analytics.environment.planted import FILE, how_to_read, planted_policies
from construction.analytics.environment.profile import with_texts
from construction.analytics.environment.variants import (
    VARIANTS,
    clean_tables,
    raw_declaration,
    read_files,
    write_variant,
)
from construction.analytics.execute_duckdb import Engine
from construction.analytics.make import Minted, mint
from construction.analytics.steps import Policy
from construction.analytics.task_files import (
    DECLARATION,
    candidate_of,
    read_environment,
    write_declaration,
    write_worlds,
)
from construction.analytics.templates import read_templates
from construction.workflows.world_file import ARCHIVE, PAPERS, WORLDS, read_world
from tests.construction.analytics import test_roles as cooperatives
from tests.construction.analytics.test_second_reader import WORLDS as ALL_WORLDS
from tests.construction.analytics.test_second_reader import environment


@lru_cache
def planted(own: str, seed: int) -> tuple[Declaration, Archive, list[PolicyText], list[int]]:
    """A declaration, the archive of the papers planted for it, the policies, and all periods."""
    plain, tables = environment(own)
    texts, drafted, filed = planted_policies(plain, tables, 5, seed)
    policies = [PolicyText.model_validate(each) for each in drafted]
    file = with_texts(cooperatives.corrected(), dict.fromkeys(texts, "a"), FILE, filed)
    files = cooperatives.declaration(**file).files
    role = plain.roles["entities"]
    periods = sorted(tables[role.table][role.period].unique().to_list())
    declared = plain.model_copy(update={"policies": tuple(policies)})
    return declared, Archive(FILE, texts, files[FILE].filed), policies, periods


def step_of(policy: PolicyText, period: int) -> Policy:
    return Policy.model_validate(
        {"source": "rows", "texts": FILE, "clauses": policy.in_force(period)}
    )


@pytest.mark.parametrize(("own", "seed"), ALL_WORLDS)
def test_all_that_a_policy_rests_on_is_found_from_its_name(own: str, seed: int) -> None:
    declared, archive, policies, periods = planted(own, seed)
    laid_aside = 0
    for policy in policies:
        for period in periods:
            step = step_of(policy, period)
            needed = needed_for((step,), declared, periods)
            quoted = {quote.document for clause in step.clauses for quote in clause.quotes}
            laid_aside += len(needed.keys() - quoted)
            reading = archive.read(f"{policy.label['en']}, by the General Rules", needed)
            assert reading.missed == (), (policy.name, period)
            assert reading.papers == len(needed) >= len(quoted)
            assert reading.papers < reading.requests < len(archive.texts) / 2
    assert laid_aside


def test_a_paper_whose_name_nothing_explains_is_missed() -> None:
    says = {
        "rules": "Rules of the Bridgeway programme: sector group S1 is excluded.",
        "codes": "Sector group K4 becomes sector group S1.",
        "letter": "Sector group K4 is no longer excluded.",
        "aside": "The desk for sector group S1 has moved.",
    }
    filed = {name: Filing(folder="sundry", day="2020-05-01") for name in says}
    archive = Archive(FILE, says, filed)
    needed = {name: [text] for name, text in says.items() if name != "aside"}
    question = "How many does the Bridgeway programme cover?"
    assert archive.read(question, needed) == Reading(requests=6, papers=3)
    unsaid = needed | {"codes": ["Sector group S1 has another code than before."]}
    assert archive.read(question, unsaid).missed == ("letter",)
    assert archive.read("How many are covered?", needed) == Reading(0, 0, tuple(sorted(needed)))


def test_the_reading_opens_only_what_a_search_finds() -> None:
    archive = planted("demo", 3)[1]
    (name,) = [n for n, text in archive.texts.items() if text.startswith("General Rules")]
    assert archive.read("the General Rules", {name: []}) == Reading(2, 1)
    assert archive.read("sector group S1", {name: []}).missed == (name,)


def test_a_reader_looks_for_names_in_the_order_of_a_text() -> None:
    text = "Circular 7/2019 on Sector group K4 and area A1; the Keystone levy is not concerned."
    assert list(names_in(text)) == ["Circular 7/2019", "sector group K4", "area A1", "Keystone"]


@pytest.mark.parametrize(
    ("requests", "allowance"), [(15, 20), (16, 25), (75, 100), (76, 105), (1, 5)]
)
def test_the_reference_takes_three_quarters_of_what_agents_get(
    requests: int, allowance: int
) -> None:
    use = Reading(requests, 3).use(["7"])
    assert use.allowance == allowance
    assert use.requests <= 0.75 * use.allowance
    again = Reading(requests, 3).use([str(allowance), str(allowance + 1)])
    assert again.allowance == allowance + 2


@lru_cache(maxsize=1)
def searched() -> tuple[Path, Declaration, Archive, Minted, Bench]:
    """Tasks over the cooperatives, whose papers are in an archive."""
    folder, plain = cooperatives.drafted()[0], cooperatives.declaration()
    texts, policies, filed = planted_policies(plain, cooperatives.tables(plain), 3, 0)
    (folder / "archived").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"archived/{name}.txt").write_text(text)
    paths = {name: f"archived/{name}.txt" for name in texts}
    more = with_texts(cooperatives.corrected(), paths, FILE, filed)
    convention = {"reads": [FILE], "words": how_to_read(plain)}
    declared = cooperatives.declaration(**more, policies=policies, conventions=[convention])
    files = read_files(folder, declared)
    archive = Archive.of(declared, files)
    assert archive is not None
    clean = clean_tables(declared, files)
    tables = {name: folder / f"{name}.searched.parquet" for name in clean}
    for name, frame in clean.items():
        frame.write_parquet(tables[name])
    careless = {noise: clean_tables(declared, files, [noise]) for noise in IGNORABLE}
    bench = Bench(declared, clean, Engine(tables), careless=careless, archive=archive)
    minted = mint(bench, read_templates(), 0, recipe=AnalyticsRecipe(noisy=0.0))
    return folder, declared, archive, minted, bench


def test_tasks_over_papers_have_the_archive_beside_the_shell(tmp_path: Path) -> None:
    _, declared, archive, minted, _ = searched()
    over = [task for task in minted.tasks if task.archive is not None]
    assert over
    assert len(over) < len(minted.tasks)
    write_worlds(tmp_path, minted.tasks, archive, "a-{}".format)
    for task in minted.tasks:
        candidate = candidate_of(task, declared, (), "a-{}".format)
        path = tmp_path / WORLDS / f"{candidate.task_id}.json"
        assert path.exists() == (task.archive is not None)
        allowance = None if task.archive is None else task.archive.allowance
        faults = guideline_faults(
            declared, task.guidelines, task.parts, task.answers, task.program, "en", allowance
        )
        assert faults == []
        if task.archive is None:
            assert candidate.tools == ("shell",)
            assert "archive" not in task.guidelines
            continue
        assert candidate.tools == ("shell", "archive_search_papers", "archive_get_paper")
        assert f"answers {allowance} requests in all" in task.guidelines
        given = read_world(path)
        assert given.allowance == allowance
        papers = given.state[ARCHIVE][PAPERS]
        assert {fields["body"] for fields in papers.values()} == set(archive.texts.values())
        assert _quotes(task.program) <= archive.texts.keys()
        assert candidate.structure is not None
        assert candidate.structure.records == len(papers)
        assert candidate.structure.calls == task.archive.requests <= 0.75 * task.archive.allowance


def _quotes(program: Sequence[object]) -> set[str]:
    steps = (step for step in program if isinstance(step, Policy))
    return {quote.document for s in steps for clause in s.clauses for quote in clause.quotes}


def test_the_same_papers_are_the_same_tasks_and_worlds() -> None:
    _, _, archive, minted, bench = searched()
    again = mint(bench, read_templates(), 0, recipe=AnalyticsRecipe(noisy=0.0))
    assert again.tasks == minted.tasks
    assert archive.world(20) == replace(archive.world(), allowance=20)


def test_a_task_with_a_paper_that_no_search_finds_is_rejected_for_that() -> None:
    _, _, archive, _, bench = searched()
    hidden = {
        name: text if "general rules" not in text.casefold() else "Moved to the store."
        for name, text in archive.texts.items()
    }
    filed = {n: f.model_copy(update={"heading": ""}) for n, f in archive.filed.items()}
    blind = replace(bench, archive=replace(archive, texts=hidden, filed=filed))
    minted = mint(blind, read_templates(), 0, recipe=AnalyticsRecipe(noisy=0.0, per_template=1))
    assert all(task.archive is None for task in minted.tasks)
    assert AnalyticsReason.UNREACHED in {row.reason for row in minted.ledger}


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_variant_has_the_papers_and_the_declaration_gives_them_back(
    variant: Variant, tmp_path: Path
) -> None:
    folder, declared, archive, _, bench = searched()
    write_variant(variant, declared, folder, {}, bench.tables, tmp_path / "files", archive.file)
    paths = [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert paths
    for path in paths:
        content = path.read_bytes().decode("utf-8", "replace")
        assert "sector group" not in content
        assert FILE not in path.relative_to(tmp_path).as_posix()
        assert "doc_id" not in content
    write_declaration(tmp_path, raw_declaration(declared, set()), variant, archive)
    opened = read_environment(tmp_path / DECLARATION, tmp_path / "files")
    assert opened.tables.keys() == bench.tables.keys()
    for name, frame in bench.tables.items():
        assert opened.tables[name].equals(frame), name


def test_few_documents_and_those_that_nobody_filed_stay_files() -> None:
    declared, _, _, _ = planted("demo", 3)
    assert archived_file(declared) is None
    own = searched()[1]
    assert archived_file(own) == FILE
    names = sorted(own.files[FILE].texts)[:60]
    few = {
        "texts": {name: own.files[FILE].texts[name] for name in names},
        "filed": {name: own.files[FILE].filed[name] for name in names},
    }
    files = {**own.files, FILE: own.files[FILE].model_copy(update=few)}
    assert archived_file(own.model_copy(update={"files": files})) is None
    assert Archive.of(declared, {}) is None
