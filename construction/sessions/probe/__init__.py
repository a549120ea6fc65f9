"""The network probe: real HTTP behind an address check, captured and replayed."""

from construction.sessions.probe.capture import Captures
from construction.sessions.probe.client import NetworkRuntime
from construction.sessions.probe.freeze import frozen_fixture, frozen_path
from construction.sessions.probe.run import probe_urls
from construction.sessions.probe.transport import Wire

__all__ = [
    "Captures",
    "NetworkRuntime",
    "Wire",
    "frozen_fixture",
    "frozen_path",
    "probe_urls",
]
