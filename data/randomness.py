"""Keyed randomness (law 5) and the release key (law 4).

Randomness is hashed once per stage and entity, then drawn from a counter generator: order of input
never matters, and dropping one entity changes no other. `seed` is the public seed for sampling,
splits and tie-breaks; for noise, pseudonyms and surrogates pass bytes derived from the release key
instead: 256 bits from the operating system, readable by its owner alone.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from data.atomic import PRIVATE_FILE, write_once
from data.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

Key = int | bytes


def keyed_hash(key: Key, stage: str, entity: str) -> bytes:
    """32 bytes that depend on key, stage and entity only."""
    return _hashed(_keyed(key), stage, entity)


def _keyed(key: Key) -> hashlib.blake2b:
    raw = key if isinstance(key, bytes) else str(key).encode()
    return hashlib.blake2b(key=hashlib.blake2b(raw, digest_size=32).digest(), digest_size=32)


def _hashed(keyed: hashlib.blake2b, stage: str, entity: str) -> bytes:
    keyed.update(stage.encode() + b"\x00" + entity.encode("utf-8", "surrogatepass"))
    return keyed.digest()


def keyed_generator(key: Key, stage: str, entity: str) -> np.random.Generator:
    """A Philox generator that belongs to one entity in one stage."""

    import numpy as np

    bits = np.frombuffer(keyed_hash(key, stage, entity)[:16], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=bits))


class KeyedNumbers:
    """The first numbers of the generators that belong to entities, from one generator that is set
    anew: six times as fast where each entity needs a single number. Not for several threads."""

    def __init__(self, key: Key) -> None:
        import numpy as np

        self._keyed = _keyed(key)
        self._bits = np.random.Philox(key=0)
        self._draw = np.random.Generator(self._bits).integers
        self._state = self._bits.state
        self._raw = bytearray(16)
        self._state["state"]["key"] = np.frombuffer(self._raw, dtype=np.uint64)

    def below(self, stage: str, entity: str, count: int) -> int:
        """As `keyed_generator(key, stage, entity).integers(count)`."""
        self._raw[:] = _hashed(self._keyed.copy(), stage, entity)[:16]
        self._bits.state = self._state
        return int(self._draw(count))


def keyed_order(key: Key, stage: str, entities: Sequence[str]) -> list[int]:
    """Indices of `entities` sorted by keyed hash: the order in which joint stages visit them."""
    hashes = [keyed_hash(key, stage, entity) for entity in entities]
    return sorted(range(len(entities)), key=lambda i: (hashes[i], entities[i]))


_KEY_BYTES = 32
# The key of the generated demo alone. It is public, so that the demo is masked alike everywhere and
# the replies that were recorded for it fit; whatever else it hid would be open.
DEMO_KEY = hashlib.sha256(b"benchmint demo").digest()


def release_key(path: Path, *, demo: bool = False) -> bytes:
    """Read the key, or make one from the operating system's randomness on first use.

    Processes that use it first at the same time get the same one. For the generated `demo` the
    published key is the one that is made; for anything else that key is refused.
    """
    if not path.exists():
        made = DEMO_KEY.hex() if demo else secrets.token_hex(_KEY_BYTES)
        write_once(path, made.encode() + b"\n", mode=PRIVATE_FILE)
    if path.stat().st_mode & 0o077:
        raise ConfigError(f"{path}: other users can read the release key. Run: chmod 600 {path}")
    text = path.read_text(encoding="ascii", errors="replace").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise ConfigError(
            f"{path}: found {len(text)} characters; expected {2 * _KEY_BYTES} hexadecimal digits."
        )
    if key == DEMO_KEY and not demo:
        raise ConfigError(
            f"{path}: found the demo's published key; expected a key that nobody else has. "
            "Choose another file, or delete this one to have a new key created."
        )
    return key


def drop_demo_key(path: Path) -> None:
    """Delete the key that a build of the demo left, so that other material gets one of its own."""
    if path.is_file() and path.read_bytes().strip() == DEMO_KEY.hex().encode():
        path.unlink()
