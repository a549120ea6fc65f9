"""Keyed randomness (law 5): hash once per stage and entity, then a counter generator.

Order of input never matters, and dropping one entity changes no other. `seed` is the public
seed for sampling, splits and tie-breaks; for noise, pseudonyms and surrogates pass bytes derived
from the release key instead (law 4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

Key = int | bytes


def keyed_hash(key: Key, stage: str, entity: str) -> bytes:
    """32 bytes that depend on key, stage and entity only."""
    raw = key if isinstance(key, bytes) else str(key).encode()
    keyed = hashlib.blake2b(key=hashlib.blake2b(raw, digest_size=32).digest(), digest_size=32)
    keyed.update(stage.encode() + b"\x00" + entity.encode("utf-8", "surrogatepass"))
    return keyed.digest()


def keyed_generator(key: Key, stage: str, entity: str) -> np.random.Generator:
    """A Philox generator that belongs to one entity in one stage."""
    bits = np.frombuffer(keyed_hash(key, stage, entity)[:16], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=bits))


def keyed_order(key: Key, stage: str, entities: Sequence[str]) -> list[int]:
    """Indices of `entities` sorted by keyed hash: the order in which joint stages visit them."""
    hashes = [keyed_hash(key, stage, entity) for entity in entities]
    return sorted(range(len(entities)), key=lambda i: (hashes[i], entities[i]))
