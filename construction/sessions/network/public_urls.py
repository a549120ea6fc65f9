"""Which URLs of a session may be restored in a task: public ones that contain no secret.

Only the text of a URL is examined. Whether the probe may connect to its address is decided after
name resolution (`network.transport`).
"""

from __future__ import annotations

import ipaddress
import re

from construction.mentions.urls import parse_url

_SCHEME = re.compile(r"^(?i:https?)://")
# The whole authority: it must end where the path begins, or with the text.
_AUTHORITY = re.compile(
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[^\s/?#:@\[\]]{1,253})(?::\d{1,5})?(?=[/?#]|$)"
)
# Top-level names that resolve only on a private network, or not at all.
_NOT_PUBLIC = frozenset(
    (
        "local", "localhost", "internal", "intranet", "lan", "home", "corp", "private", "test",
        "invalid", "arpa", "onion",
    )
)  # fmt: skip
_SECRET = re.compile(
    r"(?i)[?&#;](?:access_?token|refresh_?token|id_?token|token|api_?key|app_?key|secret|sig|"
    r"signature|password|passwd|pwd|auth|session_?id|x-amz-signature|x-amz-credential)="
)


def without_scheme(url: str) -> str:
    """The URL without `http://` or `https://`."""
    return _SCHEME.sub("", url, count=1)


def host_of(url: str) -> str | None:
    """Host in lower case with port; None without a host or with credentials before it."""
    match = _AUTHORITY.match(without_scheme(url))
    return match.group().lower() if match else None


def is_restorable(url: str) -> bool:
    """True for http(s), no credentials in authority or query, and a host with a public name."""
    parsed = parse_url(url)
    if parsed is None or host_of(url) is None or _SECRET.search(url):
        return False
    try:
        return ipaddress.ip_address(parsed.host).is_global
    except ValueError:
        name, dot, top_level = parsed.host.rstrip(".").rpartition(".")
        return bool(name and dot) and top_level not in _NOT_PUBLIC
