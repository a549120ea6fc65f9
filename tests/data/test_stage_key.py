"""Keys of stages: what they depend on, and what is told when they change."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from data.contracts import StageConfig
from data.run_store import KEY_FILE as FILE
from data.run_store import RunStore, StageKey, _Change, _changes, _stage_key


class Inner(StageConfig):
    least: int = 10
    words: tuple[str, ...] = ("a", "b")


class Outer(StageConfig):
    inner: Inner = Inner()
    name: str = "x"


def kept(root: Path, *parts: Any, code: str = "v1", **named: Any) -> None:
    store = RunStore(root, code)
    store.run("read", store.key("read", *parts, **named), lambda part: None)


def changed(root: Path, *parts: Any, code: str = "v1", **named: Any) -> list[_Change] | None:
    return _changes(root, "read", _stage_key("read", code, parts, named))


def test_what_was_never_made_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    assert changed(tmp_path, 1) is None


def test_the_same_key_has_no_changes(tmp_path: Path) -> None:
    kept(tmp_path, Outer(), ["a"], 5, files={"a": "1"})
    assert changed(tmp_path, Outer(), ["a"], 5, files={"a": "1"}) == []


@pytest.mark.parametrize(
    ("parts", "named", "result"),
    [
        ((Outer(inner=Inner(least=9)), ["a", "b"], 5), {}, [_Change("Outer.inner.least")]),
        (
            (Outer(inner=Inner(words=("a", "c"))), ["a", "b"], 5),
            {},
            [_Change("Outer.inner.words", 1, 2)],
        ),
        ((Outer(), ["a", "c"], 5), {}, [_Change("input 2", 1, 2)]),
        ((Outer(), ["a", "b", "c"], 5), {}, [_Change("input 2", 1, 3)]),
        ((Outer(), ["a"], 5), {}, [_Change("input 2", 1, 2)]),
        ((Outer(), ["b", "a"], 5), {}, [_Change("input 2", 0, 2)]),
        ((Outer(), ["a", "b"], 6), {}, [_Change("input 3")]),
        ((Outer(), ["a", "b"], 5), {"files": {"f": 1}}, [_Change("files.f")]),
        ((Outer(), ["a", "b"]), {}, [_Change("input 3")]),
    ],
)
def test_a_change_is_told_by_the_name_of_the_part(
    tmp_path: Path, parts: tuple[Any, ...], named: dict[str, Any], result: list[_Change]
) -> None:
    kept(tmp_path, Outer(), ["a", "b"], 5)
    assert changed(tmp_path, *parts, **named) == result


def test_configurations_within_a_list_are_parts_of_their_own(tmp_path: Path) -> None:
    kept(tmp_path, ["key", Inner(), ["a"]])
    assert changed(tmp_path, ["key", Inner(least=1), ["a"]]) == [_Change("Inner.least")]


def test_the_most_similar_output_is_compared_with(tmp_path: Path) -> None:
    kept(tmp_path, "a", "b", code="v1")
    kept(tmp_path, "a", "c", code="v2")
    assert changed(tmp_path, "a", "c", code="v3") == [_Change("code")]


def test_what_does_not_tell_its_parts_is_passed_over(tmp_path: Path) -> None:
    for name, content in (("old", None), ("half", b"{"), ("list", b"[]")):
        (tmp_path / "read" / name).mkdir(parents=True)
        if content is not None:
            (tmp_path / "read" / name / FILE).write_bytes(content)
    assert changed(tmp_path, "a") is None


def test_a_named_part_is_another_than_one_without_a_name() -> None:
    keys = {_stage_key("s", "v", (1,), {}), _stage_key("s", "v", (), {"n": 1})}
    keys |= {_stage_key("s", "v", (), {"m": 1}), _stage_key("s", "v", ({"n": 1},), {"n": 2})}
    assert len(keys) == 4


def test_a_key_goes_to_other_processes_whole() -> None:
    key = _stage_key("s", "v", (1, [2]), {})
    again = pickle.loads(pickle.dumps(key))
    assert (again, type(again), again.parts) == (key, StageKey, key.parts)


def test_no_value_stands_in_what_is_kept(tmp_path: Path) -> None:
    kept(tmp_path, ["Ms Example's salary"], Outer(name="secret"), note="also")
    result = b"".join(path.read_bytes() for path in tmp_path.rglob(FILE))
    assert b"input 1" in result
    assert not any(text in result for text in (b"salary", b"secret", b"also"))
