"""The release key (law 4): 256 bits from the operating system, readable by its owner alone."""

from __future__ import annotations

import secrets
from pathlib import Path

from data.atomic import PRIVATE_FILE, write_bytes
from data.errors import ConfigError

_KEY_BYTES = 32


def release_key(path: Path) -> bytes:
    """Read the key, or make one from the operating system's randomness on first use."""
    if not path.exists():
        write_bytes(path, secrets.token_hex(_KEY_BYTES).encode() + b"\n", mode=PRIVATE_FILE)
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
    return key
