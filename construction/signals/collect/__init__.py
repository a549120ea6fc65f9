"""Collects signals from files and registries into dated snapshots."""

from construction.signals.collect.fields import SignalReason
from construction.signals.collect.registry import (
    Capture,
    StopReason,
    capture_registry,
    collect_registry,
    history,
    keep,
    read_capture,
    snapshot_files,
    superseded,
)
from construction.signals.collect.registry_client import RegistryError
from construction.signals.collect.snapshot import Collected, collect_file
from construction.signals.config import CollectConfig, RegistryConfig

__all__ = [
    "Capture",
    "CollectConfig",
    "Collected",
    "RegistryConfig",
    "RegistryError",
    "SignalReason",
    "StopReason",
    "capture_registry",
    "collect_file",
    "collect_registry",
    "history",
    "keep",
    "read_capture",
    "snapshot_files",
    "superseded",
]
