"""The cipher behind the noise, against the published vector, and its independence of order."""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymization.tables.keystream import RowNoise, _permute, normals, stage_key
from tests.anonymization.tables.build import KEY


def test_chacha_block_of_rfc_8439() -> None:
    """RFC 8439 §2.3.2: key 00..1f, counter 1, nonce 000000090000004a00000000, twenty rounds."""
    start = np.zeros((16, 1), dtype=np.uint32)
    start[:4, 0] = np.frombuffer(b"expand 32-byte k", "<u4")
    start[4:12, 0] = np.frombuffer(bytes(range(32)), "<u4")
    start[12:, 0] = [1, 0x09000000, 0x4A000000, 0]
    state = start.copy()
    _permute(state, 20)
    block = (state + start)[:, 0].astype("<u4").tobytes()
    assert block[:16].hex() == "10f1e7e4d13b5915500fdd1fa32071c4"
    assert block[48:].hex() == "b5129cd1de164eb9cbd083e8a2503c4e"


def _words(entities: list[str], periods: list[str] | None) -> np.ndarray:
    noise = RowNoise(
        KEY, "s", pl.Series(entities), None if periods is None else pl.Series(periods), 3
    )
    return noise.words(slice(0, len(entities)))


def test_words_belong_to_entity_and_period() -> None:
    entities, periods = ["a", "a rather long entity name, 40 bytes or so", "日本"], ["1", "2", "3"]
    forward = _words(entities, periods)
    backward = _words(entities[::-1], periods[::-1])
    assert np.array_equal(forward, backward[:, ::-1])
    assert np.array_equal(forward[:, 1:2], _words(entities[1:2], periods[1:2]))


def test_the_same_letters_parted_elsewhere_are_another_text() -> None:
    assert not np.array_equal(_words(["ab"], ["c"]), _words(["a"], ["bc"]))
    assert not np.array_equal(_words(["abc"], None), _words(["abc"], [""]))
    assert not np.array_equal(_words(["a"], None), _words(["a\x00"], None))


def test_stages_and_keys_differ() -> None:
    assert not np.array_equal(stage_key(KEY, "a"), stage_key(KEY, "b"))
    assert not np.array_equal(stage_key(KEY, "a"), stage_key(bytes(32), "a"))


def test_normals_are_standard() -> None:
    drawn = normals(_words([str(i) for i in range(20_000)], None)[0])
    assert abs(drawn.mean()) < 0.03
    assert abs(drawn.std() - 1) < 0.02
