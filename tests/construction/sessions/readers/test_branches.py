"""The active branches of a parent graph."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.readers.branches import Tree, nearest_message, trees


def _trees(
    links: Sequence[tuple[str | None, str | None]], relays: dict[str, str | None] | None = None
) -> list[Tree]:
    ids, parents = [link[0] for link in links], [link[1] for link in links]
    return trees(ids, parents, [""] * len(links), relays or {})


def _order(links: Sequence[tuple[str | None, str | None]]) -> list[int]:
    return [place for tree in _trees(links) for place in tree.path]


def test_the_branch_of_the_last_leaf_is_active() -> None:
    links = [("a", None), ("b", "a"), ("c", "b"), ("b2", "a"), ("c2", "b2")]
    assert _trees(links) == [Tree("", (0, 1, 2, 3, 4), (0, 3, 4))]


def test_a_return_to_the_older_branch_leaves_the_newer_one() -> None:
    links = [("a", None), ("b", "a"), ("b2", "a"), ("c", "b")]
    assert _order(links) == [0, 1, 3]


def test_order_is_that_of_the_graph_and_not_of_the_file() -> None:
    assert _order([("c", "b"), ("a", None), ("b", "a")]) == [1, 2, 0]


def test_without_ids_or_parents_the_order_is_that_of_the_file() -> None:
    assert _order([(None, None), (None, None), ("x", None), ("y", None)]) == [0, 1, 2, 3]


def test_a_lost_parent_starts_a_stretch_after_the_ones_before() -> None:
    assert _order([("a", None), ("b", "a"), ("d", "lost"), ("e", "d")]) == [0, 1, 2, 3]


def test_relays_are_passed_through() -> None:
    relays: dict[str, str | None] = {"r1": "a", "r2": "r1"}
    (tree,) = _trees([("a", None), ("b", "r2")], relays)
    assert tree.path == (0, 1)
    assert relays == {"r1": "a", "r2": "a"}


def test_cycles_end() -> None:
    assert sorted(_order([("a", "b"), ("b", "a"), ("c", "b"), ("d", "d")])) == [0, 1, 2, 3]
    assert nearest_message("r1", {}, {"r1": "r2", "r2": "r1"}) is None


def test_labels_are_kept_apart() -> None:
    found = trees(["a", "s", "t", "b"], [None, "a", "s", "t"], ["", "x", "x", ""], {})
    assert found == [Tree("", (0,), (0,)), Tree("x", (1, 2), (1, 2)), Tree("", (3,), (3,))]


@given(st.permutations(range(12)))
def test_a_chain_keeps_its_order_in_any_file_order(places: list[int]) -> None:
    links: list[tuple[str | None, str | None]] = [
        (str(place), str(place - 1) if place else None) for place in places
    ]
    assert [places[at] for at in _order(links)] == list(range(12))


_NODES = st.integers(0, 9).map(str)


@given(
    st.lists(st.tuples(st.none() | _NODES, st.none() | _NODES), max_size=12),
    st.dictionaries(_NODES, st.none() | _NODES, max_size=6),
)
def test_every_message_is_in_one_tree_and_trees_are_in_the_order_of_their_roots(
    links: list[tuple[str | None, str | None]], relays: dict[str, str | None]
) -> None:
    found = _trees(links, relays)
    assert sorted(place for tree in found for place in tree.members) == list(range(len(links)))
    for tree in found:
        assert set(tree.path) <= set(tree.members)
        assert len(set(tree.path)) == len(tree.path)
    roots = [tree.path[0] for tree in found]
    assert roots == sorted(roots)
