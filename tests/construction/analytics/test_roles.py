"""A second world from its files to tasks: the roles that a profile proposes, and corrections."""

from __future__ import annotations

import copy
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.analytics.ablation import Touched, idle_readings, outcome, untouched_readings
from construction.analytics.candidates import Bench
from construction.analytics.config import AnalyticsRecipe
from construction.analytics.contracts import Category
from construction.analytics.environment.agency import PAPERS, fillers
from construction.analytics.environment.declaration import IGNORABLE, Declaration
from construction.analytics.environment.declaration import Clause as PolicyClause
from construction.analytics.environment.papers import names_in
from construction.analytics.environment.planted import READINGS, planted_policies
from construction.analytics.environment.profile import (
    _kind_of,
    draft,
    read_sheets,
    role_faults,
    with_texts,
)
from construction.analytics.environment.variants import clean_tables, read_files
from construction.analytics.execute_duckdb import Engine
from construction.analytics.execute_polars import run
from construction.analytics.make import Minted, Source, mint
from construction.analytics.steps import Policy, tables_of
from construction.analytics.templates import World, families_of, read_templates
from data.configuration import validated
from data.demo.generate import COOPERATIVES, copy_frozen
from data.errors import ConfigError, InputError

_FOLDER = tempfile.TemporaryDirectory(prefix="benchmint-cooperatives-")  # until the tests end
LABELS = {
    "sales_kfl": ("sales", "money"),
    "surplus_kfl": ("surplus", "money"),
    "harvest_t": ("harvest in tonnes", "count"),
    "hands": ("number of hands", "count"),
    "hectares": ("land in hectares", "count"),
    "inhabitants": ("number of inhabitants", "count"),
    "farmland_ha": ("farmland in hectares", "count"),
    "roads_km": ("length of roads in kilometres", "count"),
    "apprentices": ("the number of apprentices", "count"),
    "jobs": ("number of jobs", "count"),
    "sales_target_2022": ("target for sales in 2022", "money"),
    "value": ("farm sales in marks", "money"),
}


@lru_cache(maxsize=1)
def drafted() -> tuple[Path, dict[str, Any], list[str]]:
    folder = Path(_FOLDER.name)
    copy_frozen(COOPERATIVES, folder)
    sheets, texts = read_sheets(folder)
    assert texts == {}
    declared, lines = draft("Cooperatives", sheets, texts)
    return folder, declared, lines


def corrected() -> dict[str, Any]:
    """The draft with the words and metrics that a person gives it."""
    declared = copy.deepcopy(drafted()[1])
    declared["money_scale"] = 1_000
    declared["words"] |= {
        "entity": {"en": "cooperative"},
        "entities": {"en": "cooperatives"},
        "places": {"en": "counties"},
        "money": {"en": "thousand florins"},
        "period": {"en": "the {year} season"},
        "plan": {"en": "the sales plan"},
        "abroad": {"en": "the neighbouring lands"},
        "per_foreign": {"en": "florins per mark"},
        "partnership": {"en": "exchange visits"},
    }
    metrics = [m for m in declared["metrics"] if m["column"] in LABELS]
    for metric in metrics:
        column = metric["name"] = metric["column"]
        label, metric["kind"] = LABELS[column]
        metric["label"] = {"en": label}
        if column == "surplus_kfl":
            metric |= {"of": "sales_kfl", "families": ["result"]}
        if column == "sales_target_2022":
            metric |= {"year": 2022, "of": "sales_kfl"}
    declared["metrics"] = metrics
    declared["slots"] |= {"rate": {"values": [8]}, "term": {"values": ["Inspection", "Order"]}}
    declared["limits"] = {"tries": 3, "max_per_template": 2}
    declared["quotas"] = {str(category): {"medium": 1, "hard": 1} for category in Category}
    return declared


def declaration(**changed: Any) -> Declaration:
    return validated(Declaration, corrected() | changed, Path("environment.toml"))


def tables(declared: Declaration) -> dict[str, pl.DataFrame]:
    return clean_tables(declared, read_files(drafted()[0], declared))


@lru_cache(maxsize=1)
def planted_world() -> tuple[Declaration, dict[str, pl.DataFrame]]:
    """The corrected declaration with planted policies, and its clean tables."""
    folder, plain = drafted()[0], declaration()
    texts, policies, _ = planted_policies(plain, tables(plain), 4, 0)
    (folder / "rules").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"rules/{name}.txt").write_text(text)
    more = with_texts(corrected(), {name: f"rules/{name}.txt" for name in texts}, "rules", {})
    own = declaration(**more, policies=policies)
    return own, clean_tables(own, read_files(folder, own))


@lru_cache(maxsize=1)
def minted() -> Minted:
    folder, (own, clean) = drafted()[0], planted_world()
    files = read_files(folder, own)
    assert list(role_faults(own, clean)) == []
    paths = {name: folder / f"{name}.clean.parquet" for name in clean}
    for name, frame in clean.items():
        frame.write_parquet(paths[name])
    careless = {noise: clean_tables(own, files, [noise]) for noise in IGNORABLE}
    world = Bench(own, clean, Engine(paths), careless=careless)
    return mint(world, read_templates(), 0, recipe=AnalyticsRecipe(noisy=0.0))  # clean files


def test_a_profile_proposes_roles_of_files_of_four_types() -> None:
    _, declared, lines = drafted()
    assert {name: role["table"] for name, role in declared["roles"].items()} == {
        "entities": "members",
        "register": "register",
        "places": "counties",
        "series": "county_seasons",
        "counts": "farm_jobs",
        "notices": "notices",
        "plans": "targets",
        "abroad": "farm_sales_abroad",
    }
    assert declared["roles"]["entities"] == {
        "table": "members",
        "key": "coop_no",
        "period": "season",
        "place": "county",
        "name": "title",
        "kind": "farming",
        "branch": "farming",
    }
    assert any("members.xlsx: 560 rows by coop_no, season: entities" in line for line in lines)


def test_a_profile_names_a_file_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_bytes(b"a,b\r1\x00,2\n")
    with pytest.raises(InputError, match=r"noise\.csv: found "):
        read_sheets(tmp_path)


def test_a_second_world_has_tasks_of_all_categories_over_several_sources() -> None:
    made = minted()
    assert {task.category for task in made.tasks} == set(Category)
    several = [task for task in made.tasks if len(tables_of(task.program)) >= 3]
    assert len(several) > len(made.tasks) / 2
    assert {task.language for task in made.tasks} == {"en"}
    read = [task for task in made.tasks if "rules" in tables_of(task.program)]
    assert read


def test_each_category_has_four_templates() -> None:
    counts = Counter(template.category for template in read_templates())
    assert {category: n >= 4 for category, n in counts.items()} == dict.fromkeys(Category, True)


def test_no_template_names_a_table_or_a_column_of_an_environment() -> None:
    for template in read_templates():
        for step in template.steps:
            for name in (step.get("source"), step.get("other")):
                assert name is None or name[0] in "{$", (template.name, name)


@pytest.mark.parametrize(
    ("role", "change", "expected"),
    [
        ("places", {"place": "cuonty"}, "roles.places.place: no column cuonty in counties"),
        ("places", {"table": "shires"}, "roles.places: no table shires"),
        ("cities", {"table": "counties"}, "roles: found cities; expected one of entities"),
        ("series", {"period": ""}, "roles.series: no period; expected a column of county_seasons"),
    ],
)
def test_a_wrong_role_gives_one_clear_line(role: str, change: Any, expected: str) -> None:
    roles = corrected()["roles"]
    with pytest.raises(ConfigError, match=expected):
        declaration(roles={**roles, role: {**roles.get(role, {}), **change}})


@pytest.mark.parametrize(
    ("role", "change", "expected"),
    [
        ("plans", {"table": "farm_jobs"}, "several rows per place in farm_jobs"),
        ("places", {"table": "farm_sales_abroad", "place": "land"}, "found no values of members"),
        (
            "register",
            {"table": "farm_jobs", "key": "farming"},
            "found no values of members.coop_no",
        ),
    ],
)
def test_roles_that_the_data_do_not_bear_out(role: str, change: Any, expected: str) -> None:
    roles = corrected()["roles"]
    own = declaration(roles={**roles, role: {**roles[role], **change}})
    assert expected in next(role_faults(own, tables(own)))


def test_no_name_of_a_scheme_or_a_code_finds_what_is_said_about_it() -> None:
    plain = declaration()
    texts, policies, _ = planted_policies(plain, tables(plain), 4, 0)
    assert 150 <= len(texts) <= PAPERS
    about: list[str] = []
    for policy in policies:
        scheme = policy["name"].partition("_")[0].capitalize()
        quoted = {q["document"]: q["says"] for c in policy["clauses"] for q in c["quotes"]}
        naming = {name for name, text in texts.items() if scheme in text}
        assert len(quoted.keys() - naming) > 10, scheme
        about += [says for says in quoted.values() if re.search("exclude|Circular", says)]
    today = [says for says in about if "sector group S" in says]
    assert 0 < len(today) < len(about) * 0.75


def test_no_heading_lists_what_a_paper_is_about() -> None:
    plain = declaration()
    texts, policies, filed = planted_policies(plain, tables(plain), 4, 0)
    quoted = {q["document"] for p in policies for c in p["clauses"] for q in c["quotes"]}
    assert filed.keys() == texts.keys() > quoted
    for name in quoted:
        named = [each for each in names_in(filed[name]["heading"]) if "/" not in each]
        assert len(named) <= 1, filed[name]["heading"]


def test_a_number_names_one_paper_and_later_papers_have_higher_ones() -> None:
    plain = declaration()
    for seed in range(3):
        texts, _, filed = planted_policies(plain, tables(plain), 4, seed)
        days: dict[tuple[str, int], list[tuple[int, str]]] = {}
        for name, text in texts.items():
            if numbered := re.match(r"(Circular|Resolution) (\d+)/(\d{4})\n", text):
                kind, number, year = numbered.groups()
                assert filed[name]["day"].startswith(year)
                days.setdefault((kind, int(year)), []).append((int(number), filed[name]["day"]))
        assert sum(map(len, days.values())) > 50
        for own in days.values():
            numbers, dated = zip(*sorted(own), strict=True)
            assert len(set(numbers)) == len(numbers)
            assert list(dated) == sorted(dated)


def test_papers_about_other_matters_name_nothing_that_decides_and_are_used_once() -> None:
    plain = declaration()
    texts, _, filed = planted_policies(plain, tables(plain), 4, 0)
    headings = Counter(each["heading"] for each in filed.values())
    bodies = Counter(texts.values())
    assert len(fillers()) > 60
    assert sum(each["heading"] in headings for each in fillers()) > 60
    for each in fillers():
        body = "\n\n".join(each["paragraphs"])
        assert list(names_in(f"{each['heading']} {body}")) == []
        assert bodies[body] <= 1


def test_each_careless_reading_is_another_rule_and_its_words_are_in_the_papers() -> None:
    plain = declaration()
    texts, policies, _ = planted_policies(plain, tables(plain), 4, 0)
    more = with_texts(corrected(), {name: f"{name}.txt" for name in texts}, "rules", {})
    own = declaration(**more, policies=policies)
    period = max(tables(plain)["members"]["season"].to_list())
    assert {reading for policy in own.policies for reading in policy.careless} == set(READINGS)
    for policy in own.policies:
        right = policy.in_force(period)
        assert right == policy.in_force(period, "none of them")
        assert {"corrections", "codes", "exceptions"} <= set(policy.careless)
        assert policy.in_force(period, "exceptions") != right
        for clause in policy.clauses:
            for quote in clause.quotes:
                assert texts[quote.document].count(quote.says) == 1


def test_a_task_is_refused_if_a_careless_reading_comes_to_its_answer() -> None:
    own, clean = planted_world()
    ruled = [task for task in minted().tasks if "rules" in tables_of(task.program)]
    task = ruled[0]
    results = run(task.program, clean)
    gold = outcome(task.program, task.parts, clean)
    assert gold is not None

    def idle_by(world: Declaration) -> list[list[str]]:
        """By the answer, then by the rows alone, twice: what is remembered is the same."""
        touched: Touched = {}
        rows = (task.program, task.parts, clean, results, world, touched)
        answer = (task.program, task.parts, clean, gold or (), results, world)
        again = [list(untouched_readings(*rows)) for _ in range(2)]
        assert touched
        return [list(idle_readings(*answer)), *again]

    assert idle_by(own) == [[], [], []]
    step = next(step for step in task.program if isinstance(step, Policy))
    written = [clause.model_dump(mode="json") for clause in step.clauses]
    policy = next(
        each
        for each in own.policies
        if written in [each.in_force(period) for period in range(2000, 2030)]
    )
    plain = [{**clause, "overlooked": (), "only": ()} for clause in written]

    def with_clauses(*clauses: Mapping[str, Any]) -> Declaration:
        made = tuple(PolicyClause(**each) for each in clauses)
        other = policy.model_copy(update={"clauses": made})
        others = tuple(other if each == policy else each for each in own.policies)
        return own.model_copy(update={"policies": others})

    twice = with_clauses(*plain, {**plain[-1], "only": ("twice",)})
    assert idle_by(twice) == [["overlooking twice changes nothing"]] * 3
    # The same rule by more words is no other rule.
    more = [*plain[0]["quotes"], *plain[-1]["quotes"]]
    first = {**plain[0], "quotes": more, "only": ("words",)}
    words = with_clauses({**plain[0], "overlooked": ("words",)}, first, *plain[1:])
    given = (task.program, task.parts, clean)
    none = ["0 careless readings of the policies differ"]
    assert list(idle_readings(*given, gold, results, words)) == none
    assert list(untouched_readings(*given, results, words, {})) == none


def test_of_policies_those_come_first_that_fewest_tasks_apply() -> None:
    own, clean = planted_world()
    template = next(each for each in read_templates() if each.name == "how_many_are_covered")
    names = [policy.name for policy in own.policies if policy.use == "cover"]
    assert len(names) > 1
    for last in names:
        source = Source(template, families_of(template, own), 0, 60)
        drawn = source.values(World(own, clean), Counter({last: 2}))
        assert [next(drawn)[0]["rule"].name for _ in names][-1] == last


def test_a_policy_states_only_what_its_sentences_say() -> None:
    plain = declaration()
    texts, policies, _ = planted_policies(plain, tables(plain), 2, 0)
    more = with_texts(corrected(), {name: f"{name}.txt" for name in texts}, "rules", {})
    assert len(texts) >= 20
    for number, clause in enumerate(policies[0]["clauses"]):
        for quote in clause["quotes"]:
            assert texts[quote["document"]].count(quote["says"]) == 1, number
    kinds = policies[0]["clauses"][0]["where"][0]["value"]
    other = copy.deepcopy(policies)
    other[0]["clauses"][0]["where"][0]["value"] = [*kinds, "bees"]
    with pytest.raises(ConfigError, match="found no 'bees' in the words quoted"):
        declaration(**more, policies=other)
    other = copy.deepcopy(policies)
    other[0]["clauses"][0]["rate"] = 77.0
    with pytest.raises(ConfigError, match="found no 77 in the words that are quoted"):
        declaration(**more, policies=other)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("when", ["2020-01-31", "2021-02-28"], "year"),
        ("period", ["2020", "2021"], "year"),
        ("revenue", ["2020", "1999"], "number"),
        ("cik", ["1234", "5678"], "text"),
        ("sales", ["1,200", "-", "3.5"], "number"),
        ("note", ["none", "2"], "text"),
    ],
)
def test_types_follow_from_cells_and_names_are_hints(
    name: str, cells: list[str], kind: str
) -> None:
    assert _kind_of(name, pl.Series(cells)) == kind


def test_who_owes_is_counted_by_what_is_owed() -> None:
    """Someone without the figure that a levy goes by owes no known amount, and is not counted."""
    for template in read_templates():
        steps = template.steps
        levies = {
            f"${number}"
            for number, step in enumerate(steps, 1)
            if any(other["op"] == "convert" and other.get("column") == "due"
                   and other.get("source") == f"${number}" for other in steps)
        }  # fmt: skip
        counted = [
            step
            for step in steps
            if step.get("source") in levies and "count" in str(step) and step["op"] != "convert"
        ]
        assert counted == [], template.name
