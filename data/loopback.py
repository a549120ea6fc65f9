"""Listening on this machine alone, and answering no page of another server (law 10)."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from data.errors import InputError

LOOPBACK = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A socket that takes connections already; port 0 takes a free one.

    Whoever is told the address may come at once. Raises InputError if the port cannot be taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen()
    except OSError as error:
        listening.close()
        reason = error.strerror or type(error).__name__
        raise InputError(f"port {port}", reason, "a free port", "Choose another port.") from error
    return listening


def own_hosts(port: int) -> tuple[str, ...]:
    """What clients on this machine may call a server on this port."""
    return tuple(f"{name}:{port}" for name in (LOOPBACK, "localhost"))


def own_origins(port: int) -> tuple[str, ...]:
    """Where the pages of a server on this port come from."""
    return tuple(f"http://{host}" for host in own_hosts(port))


def refusal(port: int, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
    """Why a request with these Host and Origin headers is refused; None if it is not."""
    if list(hosts) not in [[host] for host in own_hosts(port)]:
        return "Host is not this server."
    if origins and (len(origins) > 1 or origins[0] not in own_origins(port)):
        return "Origin is not this server."
    return None
