from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from data.canonical import canonical_json, digest, file_digest, keyed_digest, pretty_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    turned = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(turned)
    assert digest(value) == digest(turned)


def test_known_digest() -> None:
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'.encode()
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_pretty_json_ends_with_a_newline() -> None:
    assert pretty_json({"a": 1}) == b'{\n  "a": 1\n}\n'


def test_file_digest_is_the_digest_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert file_digest(tmp_path / "f") == digest(b"abc")


def test_a_keyed_digest_depends_on_key_and_value() -> None:
    seen = {keyed_digest(key, value) for key in (b"1", b"2") for value in ("x", "y", "\ud800")}
    assert len(seen) == 6
