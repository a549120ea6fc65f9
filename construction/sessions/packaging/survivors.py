"""Instances that passed the local gates: reading, writing, texts to mask, removal of copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from pydantic import TypeAdapter

from construction.sessions.fixtures.store import unpack
from construction.sessions.shard import FIXTURES
from construction.sessions.shard_tables import SURVIVORS, survivor_values
from data.contracts import (
    Attachment,
    Fixture,
    LedgerRow,
    Outcome,
    Scalar,
    TaskInstance,
    UserTurn,
    load_instance,
)
from data.tables import write_rows

_FIXTURES = TypeAdapter(tuple[Fixture, ...])


@dataclass(frozen=True, slots=True)
class Survivor:
    """An instance with restored text, its fixtures, and the store with their contents."""

    instance: TaskInstance
    fixtures: tuple[Fixture, ...]
    store: Path

    @property
    def evidence(self) -> dict[str, Scalar]:
        """The pointer to the source log that ledger rows of this instance carry."""
        return {"path": self.instance.source_path, "line": self.instance.user_turns[0].line}


def read_survivors(shards: Sequence[Path]) -> list[Survivor]:
    """The survivors of all shards, sorted by instance id."""
    survivors = [survivor for shard in shards for survivor in _read(shard)]
    return sorted(survivors, key=lambda survivor: survivor.instance.instance_id)


def write_survivors(out: Path, survivors: Sequence[Survivor]) -> None:
    """Write the survivors of a shard whose fixtures are in `out / FIXTURES`."""
    rows = [
        survivor_values(survivor.instance, survivor.fixtures)
        for survivor in sorted(survivors, key=lambda survivor: survivor.instance.instance_id)
    ]
    write_rows(out / "survivors.parquet", rows, SURVIVORS)


def _read(shard: Path) -> Iterator[Survivor]:
    for row in pl.read_parquet(shard / "survivors.parquet").iter_rows(named=True):
        fixtures = _FIXTURES.validate_json(row["fixtures"])
        yield Survivor(load_instance(row["payload"]), fixtures, shard / FIXTURES)


def unpack_fixtures(survivors: Sequence[Survivor], wanted: set[str], target: Path) -> None:
    """Write each wanted content (by SHA-256) once, as `<target>/<sha256>`."""
    stores: dict[Path, list[str]] = {}
    remaining = set(wanted)
    for survivor in survivors:
        for item in survivor.fixtures:
            if item.sha256 in remaining:
                remaining.discard(item.sha256)
                stores.setdefault(survivor.store, []).append(item.sha256)
    for store, digests in stores.items():
        unpack(store, digests, target)


def drop_copies(survivors: Sequence[Survivor]) -> tuple[list[Survivor], list[LedgerRow]]:
    """Of instances with the same typed text, keep the one whose source path comes first.

    Copies arise because resumed sessions replay their beginning and backups repeat whole files.
    """
    first: dict[str, str] = {}
    rows: dict[str, LedgerRow] = {}
    kept: list[Survivor] = []
    by_path = sorted(survivors, key=lambda s: (s.instance.source_path, s.instance.instance_id))
    for survivor in by_path:
        instance = survivor.instance
        original = first.setdefault(instance.fingerprint, instance.instance_id)
        outcome, reason = Outcome.KEPT, None
        evidence = survivor.evidence
        if original == instance.instance_id:
            kept.append(survivor)
        else:
            outcome, reason = Outcome.REJECTED, "instance.duplicate"
            evidence = evidence | {"copy_of": original}
        rows[instance.instance_id] = LedgerRow(
            "distinct", "instance", instance.instance_id, outcome, reason=reason, evidence=evidence
        )
    kept.sort(key=lambda survivor: survivor.instance.instance_id)
    return kept, [rows[name] for name in sorted(rows)]


def with_texts(instance: TaskInstance, change: Callable[[str], str]) -> TaskInstance:
    """The instance with `change` applied to each text from people, agents or files.

    The order of the texts is fixed. Ids and the log's path stay: they are private and never
    released. Inline media and the URLs of the whole session are removed, because only the gates
    before masking need them.
    """
    return replace(
        instance,
        user_turns=tuple(_turn(turn, change) for turn in instance.user_turns),
        acts=tuple(replace(act, path=change(act.path)) for act in instance.acts),
        session_urls=(),
        reply=change(instance.reply),
        cwd=_maybe(instance.cwd, change),
        said_before=tuple(change(said) for said in instance.said_before),
    )


def texts_of(instance: TaskInstance) -> list[str]:
    """The texts that `with_texts` passes to `change`, in the same order."""
    seen: list[str] = []

    def remember(text: str) -> str:
        seen.append(text)
        return text

    with_texts(instance, remember)
    return seen


def _turn(turn: UserTurn, change: Callable[[str], str]) -> UserTurn:
    return replace(
        turn,
        text=change(turn.text),
        said=change(turn.said),
        sender=_maybe(turn.sender, change),
        attachments=tuple(
            Attachment(_maybe(sent.path, change), sent.mime) for sent in turn.attachments
        ),
    )


def _maybe(text: str | None, change: Callable[[str], str]) -> str | None:
    return None if text is None else change(text)
