"""Collects signals from files and registries into dated snapshots."""

from construction.signals.collect.fields import SignalReason
from construction.signals.collect.registry import (
    Capture,
    StopReason,
    capture_registry,
    collect_registry,
    read_capture,
)
from construction.signals.collect.registry_client import RegistryError
from construction.signals.collect.snapshot import Collected, collect_file
from construction.signals.collect.store import (
    SnapshotHeader,
    list_snapshots,
    load_snapshot,
    save_snapshot,
)
from construction.signals.config import CollectConfig, RegistryConfig

__all__ = [
    "Capture",
    "CollectConfig",
    "Collected",
    "RegistryConfig",
    "RegistryError",
    "SignalReason",
    "SnapshotHeader",
    "StopReason",
    "capture_registry",
    "collect_file",
    "collect_registry",
    "list_snapshots",
    "load_snapshot",
    "read_capture",
    "save_snapshot",
]
