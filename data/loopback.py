"""Listening on this machine alone."""

from __future__ import annotations

import socket

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
