from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from data.randomness import (
    KeyedNumbers,
    keyed_generator,
    keyed_hash,
    keyed_order,
    release_key,
)


@given(st.lists(st.text(), unique=True), st.randoms(use_true_random=False))
def test_the_order_of_entities_does_not_depend_on_their_order_given(
    names: list[str], shuffler: object
) -> None:
    shuffled = list(names)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    first = [names[i] for i in keyed_order(7, "draw", names)]
    second = [shuffled[i] for i in keyed_order(7, "draw", shuffled)]
    assert first == second


def test_dropping_an_entity_changes_no_other() -> None:
    names = [f"e{i}" for i in range(50)]
    whole = [names[i] for i in keyed_order(1, "s", names)]
    fewer = [name for i, name in enumerate(names) if i != 13]
    assert [fewer[i] for i in keyed_order(1, "s", fewer)] == [n for n in whole if n != "e13"]


def test_streams_differ_by_key_stage_and_entity_and_repeat_exactly() -> None:
    draws = {
        (key, stage, entity): tuple(keyed_generator(key, stage, entity).integers(0, 1 << 62, 4))
        for key in (1, b"1", 2)
        for stage in ("a", "b")
        for entity in ("x", "y")
    }
    # An int seed and its digits as bytes are the same key by design; all else differs.
    assert len(set(draws.values())) == 8
    again = keyed_generator(2, "b", "y").integers(0, 1 << 62, 4)
    assert draws[(2, "b", "y")] == tuple(again)


def test_stage_and_entity_do_not_run_together() -> None:
    assert keyed_hash(1, "ab", "c") != keyed_hash(1, "a", "bc")


def test_uniform_enough_to_sample_with() -> None:
    values = [keyed_generator(3, "u", str(i)).random() for i in range(2000)]
    assert abs(float(np.mean(values)) - 0.5) < 0.03


def test_processes_that_make_a_key_at_the_same_time_get_the_same(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"
    start = threading.Barrier(16)

    def first_use(number: int) -> bytes:
        start.wait()
        return release_key(path)

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(first_use, range(16)))
    assert keys == {release_key(path)}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [item.name for item in path.parent.iterdir()] == ["key"]


@given(st.binary(min_size=1, max_size=32), st.text(), st.integers(1, 1 << 40))
def test_a_first_number_is_that_of_its_generator(key: bytes, entity: str, count: int) -> None:
    numbers = KeyedNumbers(key)
    numbers.below("stage", "another", 3)  # leaves nothing behind
    expected = int(keyed_generator(key, "stage", entity).integers(count))
    assert numbers.below("stage", entity, count) == expected
