"""The engine under requests that nobody should send: always an answer, never a changed input."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.workflows.contracts import Handled, Refused, Request, World
from construction.workflows.declaration import operations, service_names
from construction.workflows.engine import MAX_REQUEST_BYTES, OK, handle, state_digest
from construction.workflows.world_file import world_faults
from data.canonical import canonical_json
from tests.construction.workflows.worlds import (
    empty_world,
    filled_world,
    fitting_requests,
    hostile_requests,
)

_STATUSES = {OK, *(refused.value for refused in Refused)}
_MAX_MESSAGE = 1500


def answered(handled: Handled) -> str:
    """The status of an answer that is whole: one row, JSON, a short message where refused."""
    (row,) = handled.audit
    response = handled.response
    assert row.status in _STATUSES
    assert (row.status == OK) == (response.refused is None)
    assert orjson.loads(canonical_json(response.body)) == response.body
    assert len(canonical_json(row.arguments)) <= MAX_REQUEST_BYTES
    if response.refused is not None:
        assert set(response.body) == {"error", "message"}
        assert response.body["error"] == row.status
        assert 0 < len(response.body["message"]) <= _MAX_MESSAGE
        assert "\n" not in response.body["message"]
        assert row.records == ()
    return row.status


@pytest.mark.parametrize("seed", range(5))
def test_a_thousand_hostile_requests_are_answered_with_declared_errors(seed: int) -> None:
    world = filled_world(seed, 4)
    statuses: Counter[str] = Counter()
    for request in hostile_requests(seed, 1000, world):
        handled = handle(world, request)
        status = answered(handled)
        if status != OK:
            assert handled.world.state is world.state
        statuses[status] += 1
        world = handled.world
    assert world_faults(world) == []
    wanted = {OK, "invalid_argument", "not_found", "unknown_service", "unknown_operation"}
    assert wanted <= statuses.keys()
    assert sum(world.calls.values()) == 1000


def test_fitting_requests_reach_every_operation_and_leave_a_world_that_fits() -> None:
    done = set()
    for seed in range(120):
        world = filled_world(seed, 4)
        for request in fitting_requests(seed, 200, world):
            handled = handle(world, request)
            if answered(handled) == OK:
                done.add((request.service, request.operation))
            world = handled.world
        assert world_faults(world) == []
    everything = {(name, title) for name in service_names() for title in operations(name)}
    assert everything - done == set()


def test_a_world_is_never_changed_by_a_request() -> None:
    world = filled_world(3, 3)
    before = copy.deepcopy(world)
    for request in [*fitting_requests(3, 400, world), *hostile_requests(3, 100, world)]:
        handle(world, request)
    assert world == before


def test_the_same_requests_leave_the_same_bytes() -> None:
    digests = set()
    for _ in range(2):
        world = filled_world(11, 3)
        for request in fitting_requests(11, 500, world):
            world = handle(world, request).world
        digests.add(state_digest(world.state))
    assert len(digests) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
_NAMES = st.sampled_from([(name, title) for name in service_names() for title in operations(name)])


@given(_NAMES, st.data())
def test_any_json_for_any_argument_is_answered(name: tuple[str, str], data: Any) -> None:
    known = st.sampled_from(sorted(operations(name[0])[name[1]].arguments))
    arguments = data.draw(st.dictionaries(known | st.text(), _JSON, max_size=5))
    world = _WORLD
    handled = handle(world, Request(*name, arguments))
    answered(handled)
    assert world_faults(handled.world) == []


_WORLD: World = filled_world(5, 2)


def test_an_argument_may_not_be_a_mapping_in_disguise() -> None:
    world = empty_world("mail")
    disguises: tuple[Any, ...] = (
        None,
        [],
        "x",
        5,
        {1: 2},
        {"id": float("nan")},
        {"id": {"a": object()}},
    )
    for arguments in disguises:
        request = Request("mail", "get_message", arguments)
        assert answered(handle(world, request)) in ("invalid_argument", "not_found")
