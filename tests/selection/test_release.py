"""The choice of a release: lane shares, pilot scores, the last release, the lite subset."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.canonical import canonical_json
from data.contracts import Candidate, Disclosure, Fixture, Label, Lane, Provenance
from data.errors import ConfigError, InputError, ReleaseError
from selection.config import SelectionRecipe
from selection.release import (
    MISSING,
    NOT_IN_SUBSET,
    NOT_PILOTED,
    SAME_TASK,
    Known,
    _choose_lite,
    _LiteItem,
    choose,
    last_release,
)
from selection.scores import ScoreMatrix


def pool(n_items: int) -> list[_LiteItem]:
    return [
        _LiteItem(
            f"t{n:04d}",
            family=f"f{n % 6}",
            role=None if n % 5 == 0 else f"r{n % 7 % 3}",
            deliverable_type=("docx", "xlsx", "html")[n % 11 % 3],
        )
        for n in range(n_items)
    ]


def test_the_size_of_the_paper_looks_like_the_whole() -> None:
    lite = _choose_lite(pool(852), 120, seed=7)
    assert len(set(lite.chosen)) == 120
    distances = {margin.name: margin.distance for margin in lite.margins}
    assert distances["family"] == 0  # 142 each of six families, 20 each
    assert distances["role"] < 0.03
    assert distances["deliverable_type"] < 0.03
    role = next(margin for margin in lite.margins if margin.name == "role")
    assert role.pool[MISSING] == 171
    assert sum(role.subset.values()) == 120


items = st.lists(
    st.builds(
        _LiteItem,
        st.uuids().map(str),
        st.none() | st.sampled_from("ab"),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.sampled_from(["pdf", "csv"]),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda item: item.item_id,
)


@given(items, st.data())
def test_any_pool_any_order(held: list[_LiteItem], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(held)))
    lite = _choose_lite(held, size, seed=3)
    assert len(lite.chosen) == size
    assert set(lite.chosen) <= {item.item_id for item in held}
    assert _choose_lite(data.draw(st.permutations(held)), size, seed=3) == lite
    crossed = Counter(item.stratum for item in held)
    for stratum, count in crossed.items():
        taken = sum(i.item_id in lite.chosen for i in held if i.stratum == stratum)
        assert taken <= count
    # Each family within one seat of its proportional share.
    for family, count in lite.margins[0].pool.items():
        assert abs(lite.margins[0].subset[family] - size * count / len(held)) < 1 + 1e-9


def test_a_published_subset_is_drawn_again_to_the_letter() -> None:
    """The draw of a seed is part of a release: a change here changes what people audit."""
    seven = [
        "t0000",
        "t0014",
        "t0016",
        "t0019",
        "t0023",
        "t0034",
        "t0039",
        "t0044",
        "t0045",
        "t0048",
        "t0049",
        "t0059",
    ]
    zero = [
        "t0014",
        "t0017",
        "t0018",
        "t0022",
        "t0029",
        "t0037",
        "t0040",
        "t0042",
        "t0044",
        "t0045",
        "t0049",
        "t0057",
    ]
    assert list(_choose_lite(pool(60), 12, seed=7).chosen) == seven
    assert list(_choose_lite(pool(60), 12).chosen) == zero
    assert list(_choose_lite(pool(60), 12, seed=0).chosen) == zero


def test_seats_go_to_families_first_and_then_along_the_sorted_strata() -> None:
    """Of six items in three families each gets its share; inside, no stratum more than one off."""
    held = [_LiteItem(f"t{n}", f"f{n % 3}", f"r{n % 2}", "pdf") for n in range(24)]
    for seed in range(20):
        lite = _choose_lite(held, 6, seed)
        margins = {margin.name: margin for margin in lite.margins}
        assert dict(margins["family"].subset) == {"f0": 2, "f1": 2, "f2": 2}
        assert set(margins["crossed"].subset.values()) <= {0, 1, 2}
        assert dict(margins["role"].subset) == {"r0": 3, "r1": 3}


def test_margins_count_what_the_subset_lacks_as_none() -> None:
    held = [_LiteItem("a", "f", "r"), _LiteItem("b", "f", "r"), _LiteItem("c", "g", "r")]
    family, role, kind, crossed = _choose_lite(held, 1, seed=1).margins
    assert dict(family.pool) == {"f": 2, "g": 1}
    assert dict(family.subset) == {"f": 1, "g": 0}
    assert family.distance == 0.333333333  # rounded to 1e-9
    assert (dict(role.subset), role.distance) == ({"r": 1}, 0)
    assert dict(kind.subset) == {MISSING: 1}
    assert dict(crossed.subset) == {f"f / r / {MISSING}": 1, f"g / r / {MISSING}": 0}


def test_another_seed_draws_other_items() -> None:
    held = pool(200)
    assert _choose_lite(held, 30, seed=1).chosen != _choose_lite(held, 30, seed=2).chosen


def test_impossible_sizes_and_repeated_ids_are_refused() -> None:
    with pytest.raises(ConfigError, match="size 5 from a pool of 3"):
        _choose_lite(pool(3), 5)
    with pytest.raises(ConfigError, match="size 0"):
        _choose_lite(pool(3), 0)
    with pytest.raises(ConfigError, match="1 items are listed twice, first t0000"):
        _choose_lite([*pool(3), _LiteItem("t0000")], 2)


def test_the_margins_are_reported() -> None:
    lite = _choose_lite(pool(60), 12)
    assert len(lite.chosen) == lite.size == 12
    assert [margin.name for margin in lite.margins] == [
        "family",
        "role",
        "deliverable_type",
        "crossed",
    ]


def candidate(number: int, lane: Lane = Lane.SESSIONS) -> Candidate:
    return Candidate(
        task_id=f"{lane}-{number:02d}",
        lane=lane,
        prompt=f"Draft the weekly report of team {number} from its {lane}.",
        language="en",
        task_family=Label(value=f"family-{number % 3}", confidence=1, reason="test"),
        provenance=Provenance(
            source="test",
            source_format="chat",
            item_id=f"item-{number}_i0",
            disclosure=Disclosure.PUBLIC,
        ),
    )


def recipe(**selection: object) -> SelectionRecipe:
    return SelectionRecipe.model_validate(selection)


def known(**more: object) -> Known:
    return Known(opaque=lambda item: f"x-{item}", **more)  # type: ignore[arg-type]


SEED = 20260115
SESSIONS = [candidate(number) for number in range(14)]
QUESTIONS = [candidate(number, Lane.QUESTIONS) for number in range(40)]


def test_questions_are_at_most_thirty_percent() -> None:
    choice = choose([*SESSIONS, *QUESTIONS], {}, recipe(), SEED, known())
    questions = [name for name in choice.chosen if name.startswith("questions")]
    assert (len(choice.chosen), len(questions)) == (20, 6)
    assert set(choice.reasons.values()) == {NOT_IN_SUBSET}
    assert len(choice.reasons) == 34


def test_a_lane_alone_fills_the_release() -> None:
    assert len(choose(QUESTIONS, {}, recipe(), SEED, known()).chosen) == 40
    assert len(choose(QUESTIONS, {}, recipe(max_tasks=5), SEED, known()).chosen) == 5


def scores(spread: dict[str, float]) -> ScoreMatrix:
    """Two pilots whose scores differ by `spread`."""
    names = tuple(sorted(spread))
    cells = np.array([[0.5 + spread[name] / 2, 0.5 - spread[name] / 2] for name in names])
    families = tuple(f"family-{int(name[-2:]) % 3}" for name in names)
    return ScoreMatrix(names, families, ("strong", "weak"), cells)


def test_pilots_decide_among_those_they_ran_on() -> None:
    spread = {one.task_id: 0.4 if at < 6 else 0.0 for at, one in enumerate(SESSIONS[:12])}
    choice = choose(SESSIONS, {}, recipe(max_tasks=6), SEED, known(pilots=scores(spread)))
    assert choice.chosen == {one.task_id for one in SESSIONS[:6]}
    assert {name for name, why in choice.reasons.items() if why == NOT_PILOTED} == {
        "sessions-12",
        "sessions-13",
    }
    assert choice.report["config"]["objective"] == "by_pilots"
    assert choice.report["decided_by"] == "covariance"
    assert choice.report["warning"].startswith("few pilots (")


def test_the_threshold_of_the_recipe_says_what_tells_pilots_apart() -> None:
    """The strong pilot scores 0.5 and half the spread; it passes at exactly the threshold."""
    spread = {one.task_id: 0.1 * at for at, one in enumerate(SESSIONS[:8])}
    pilots = known(pilots=scores(spread))
    for threshold, first in ((0.65, 3), (0.6500001, 4), (None, 1)):
        wanted = recipe(selection_threshold=threshold)
        chosen = choose(SESSIONS[:8], {}, wanted, SEED, pilots).chosen
        assert chosen == {one.task_id for one in SESSIONS[first:8]}


def test_too_few_piloted_candidates_are_named() -> None:
    few = scores({one.task_id: 0.4 for one in SESSIONS[:3]} | {"other-01": 0.2})
    with pytest.raises(InputError, match="found 3 of 14 candidates with scores"):
        choose(SESSIONS, {}, recipe(max_tasks=6), SEED, known(pilots=few))


def test_changes_against_the_last_release_are_bounded(tmp_path: Path) -> None:
    before = [one.task_id for one in SESSIONS[8:]]
    (tmp_path / "public").mkdir()
    lines = [canonical_json({"task_id": name}) + b"\n" for name in before]
    (tmp_path / "public" / "tasks.jsonl").write_bytes(b"".join(lines))
    released = last_release(tmp_path)
    assert released == last_release(tmp_path / "public") == frozenset(before)
    wanted = recipe(max_tasks=6, max_changed=0.34)
    choice = choose(SESSIONS, {}, wanted, SEED, known(released=released))
    assert len(choice.chosen & released) >= 4
    with pytest.raises(ReleaseError, match="no selection of 12 tasks"):
        choose(SESSIONS, {}, recipe(max_tasks=12, max_changed=0.0), SEED, known(released=released))
    with pytest.raises(InputError, match=r"no tasks\.jsonl"):
        last_release(tmp_path / "nowhere")


def test_all_are_released_within_the_other_limits() -> None:
    """Without a size, and with more asked for than there are."""
    before = frozenset(one.task_id for one in SESSIONS[8:])
    for size in (None, 14, 99):
        wanted = recipe(max_tasks=size, max_changed=0.34)
        assert len(choose(SESSIONS, {}, wanted, SEED, known()).chosen) == 14, (
            "there is no last release"
        )
        choice = choose(SESSIONS, {}, wanted, SEED, known(released=before))
        assert len(choice.chosen) == 9  # 6 held and 3 new: of 10, 3.4 might be new
        assert len(choice.chosen - before) == 3
        assert set(choice.reasons.values()) == {NOT_IN_SUBSET}
    with pytest.raises(ReleaseError, match="none of 14 candidates can be released"):
        choose(SESSIONS, {}, recipe(max_changed=0.0), SEED, known(released=frozenset({"other"})))


def test_what_tells_no_pilots_apart_is_left_out_of_all() -> None:
    spread = {one.task_id: 0.4 if at < 6 else 0.0 for at, one in enumerate(SESSIONS[:12])}
    choice = choose(SESSIONS, {}, recipe(), SEED, known(pilots=scores(spread)))
    assert choice.chosen == {one.task_id for one in SESSIONS[:6]}
    assert choice.reasons["sessions-12"] == NOT_PILOTED
    assert choice.reasons["sessions-06"] == NOT_IN_SUBSET
    alike = known(pilots=scores(dict.fromkeys(spread, 0.0)))
    with pytest.raises(ReleaseError, match="0 distinguish the pilots"):
        choose(SESSIONS, {}, recipe(), SEED, alike)


def test_the_same_words_and_inputs_are_released_once() -> None:
    words = "Draft  the Weekly report\n"
    same = [SESSIONS[0].model_copy(update={"prompt": words.swapcase()})]
    same += [one.model_copy(update={"prompt": words}) for one in SESSIONS[1:3]]
    fixture = Fixture(path="a.csv", sha256="ab" * 32, bytes=1, media_type="text/csv")
    other = SESSIONS[3].model_copy(update={"prompt": words, "fixtures": (fixture,)})
    pool = [*same, other, *SESSIONS[4:]]
    names = {one.task_id for one in same}
    for size in (None, 13):
        choice = choose(pool, {}, recipe(max_tasks=size), SEED, known())
        assert len(choice.chosen) == 12
        assert choice.reasons == dict.fromkeys(names - choice.chosen, SAME_TASK)
        assert len(choice.reasons) == 2
    held = frozenset({"sessions-02"} | {one.task_id for one in pool[3:]})
    kept = choose(pool, {}, recipe(max_changed=0.0), SEED, known(released=held))
    assert kept.chosen == held


def test_a_low_share_binds_all_of_the_pool() -> None:
    shares = {"questions": {"low": 0.5}}
    with pytest.raises(ReleaseError, match="lane questions needs at least 8 items, but only 1"):
        choose([*SESSIONS, QUESTIONS[0]], {}, recipe(lane_shares=shares), SEED, known())
    both = [*SESSIONS[:2], *QUESTIONS[:2]]
    assert len(choose(both, {}, recipe(lane_shares=shares), SEED, known()).chosen) == 4


def test_shares_that_leave_no_room_are_named() -> None:
    shares = {"sessions": {"high": 0.1}, "questions": {"high": 0.3}}
    for size in (None, 5):
        with pytest.raises(ReleaseError, match="lane_shares"):
            choose(
                [*SESSIONS, *QUESTIONS],
                {},
                recipe(lane_shares=shares, max_tasks=size),
                SEED,
                known(),
            )


def test_a_lite_subset_is_drawn() -> None:
    weights = {"family-0": 0.7, "family-1": 0.2, "family-2": 0.1}
    choice = choose(SESSIONS, weights, recipe(lite_size=6, max_tasks=13), SEED, known())
    assert (choice.size, choice.report["lite"]["size"], choice.report["gap"]) == (13, 6, 0)
    assert "lite" not in choose(SESSIONS, {}, recipe(), SEED, known()).report


def made(generator: str, rule: str, number: int) -> Candidate:
    """A workflow task of a generator."""
    task = candidate(number, Lane.WORKFLOWS)
    detail = {"generator": generator, "rule": rule}
    return task.model_copy(
        update={"provenance": task.provenance.model_copy(update={"detail": detail})}
    )


def test_a_generator_has_at_most_so_many_tasks_and_one_of_each_rule() -> None:
    many = [made("git_history", f"rule-{number % 5}", number) for number in range(15)]
    other = [made("site_modes", "secrets", number) for number in range(15, 18)]
    chosen = choose([*many, *other], {}, recipe(), SEED, known()).chosen
    rules = {task.task_id: task.provenance.detail["rule"] for task in [*many, *other]}
    generators = {task.task_id: task.provenance.detail["generator"] for task in [*many, *other]}
    taken = sorted(generators[name] for name in chosen)
    assert taken == ["git_history"] * 3 + ["site_modes"]
    assert len({(generators[name], rules[name]) for name in chosen}) == 4
    more = choose([*many, *other], {}, recipe(max_per_generator=None), SEED, known()).chosen
    assert len(more) == 6  # five rules of the one, one of the other


def test_quotas_reach_no_further_than_the_generators() -> None:
    many = [made("git_history", f"rule-{number}", number) for number in range(0, 30, 3)]
    other = [made(f"maker-{number}", "only", number) for number in range(1, 30, 3)]
    weights = {"family-0": 0.9, "family-1": 0.1}
    choice = choose([*many, *other], weights, recipe(max_tasks=10), SEED, known())
    families = [name for name in choice.chosen if int(name[-2:]) % 3 == 0]
    assert (len(choice.chosen), len(families)) == (10, 3)


def test_no_template_of_analytic_tasks_makes_more_than_three_of_a_release() -> None:
    detail = [{"template": f"t{number % 4}"} for number in range(24)]
    detail += [{"template": "proposal"} for _ in range(6)]
    pool = [
        each.model_copy(update={"provenance": each.provenance.model_copy(update={"detail": made})})
        for number, made in enumerate(detail)
        for each in [candidate(number, Lane.ANALYTICS)]
    ]
    chosen = choose(pool, {}, recipe(max_tasks=18), SEED, known()).chosen
    made = Counter(detail[int(name.rpartition("-")[2])]["template"] for name in chosen)
    assert made == {"t0": 3, "t1": 3, "t2": 3, "t3": 3, "proposal": 6}
