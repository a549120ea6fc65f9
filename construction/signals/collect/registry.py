"""Collecting the top of a registry into one file: an input like any other, with a digest.

The capture is JSON in the registry's own shape (`items`), one item a line, which `collect_file`
reads. A rebuild reads the file; the registry is asked once.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from construction.signals.collect.fields import BadFieldError, fold, owner_of, signal_of
from construction.signals.collect.journal import Journal, StoredPage, slug_of
from construction.signals.collect.registry_client import (
    RegistryBusyError,
    RegistryClient,
    RegistryError,
    detail_url,
)
from construction.signals.config import CollectConfig, RegistryConfig
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Popularity
from data.errors import ConfigError, InputError

# The names that the API sorts by.
_SORTS = {
    Popularity.DOWNLOADS: "downloads",
    Popularity.STARS: "stars",
    Popularity.INSTALLS_CURRENT: "installsCurrent",
    Popularity.INSTALLS_ALL_TIME: "installsAllTime",
}
_MAX_CAPTURE_BYTES = 64 * 1024 * 1024
_MAX_FAILED_DETAILS = 3  # in a row; after that it is the registry, not one skill


class StopReason(StrEnum):
    """Why no further page was asked for."""

    END = "end"  # the listing said so
    ENOUGH = "enough"  # as many distinct skills as wanted
    CURSOR_LOOP = "cursor_loop"  # the next cursor had been followed before
    PAGE_LIMIT = "page_limit"
    SIZE_LIMIT = "size_limit"


@dataclass(frozen=True, slots=True)
class Capture:
    """A collected listing: its file, the file's SHA-256, what was asked, and what came.

    `counts`: pages, items, distinct skills, repeated (items of a skill listed before), unusable
    (items that are no record with a slug), out_of_order (places where the measure rises down the
    listing), details and details_failed. Repeated items and breaks of order show that the listing
    changed while it was read; what fell between two pages cannot be seen, so that no capture
    claims to be complete.
    """

    path: Path
    digest: str
    source: str
    date: dt.date
    base_url: str
    measure: Popularity
    wanted: int | None
    stopped: StopReason
    counts: Mapping[str, int]


def collect_registry(
    registry: RegistryConfig, config: CollectConfig, date: dt.date, out: Path
) -> Capture:
    """Collect the listing by `config.measure` into `out`, unless it is there already.

    Pages are journaled beside `out` as they arrive; a run that was killed or refused goes on
    there. Not to be called from a running event loop. Raises ConfigError for a measure that the
    API cannot sort by, RegistryError if the registry does not answer as it should, InputError if
    `out` or its journal belongs to another collection.
    """
    if config.measure not in _SORTS:
        known = ", ".join(_SORTS)
        raise ConfigError(f"measure {config.measure}: a registry sorts by {known}.")
    request = {
        "source": registry.source,
        "date": date.isoformat(),
        "base_url": registry.base_url,
        "measure": str(config.measure),
        "wanted": config.top,
    }
    path = out.with_name(f"{out.name}.journal")
    if out.exists():
        path.unlink(missing_ok=True)  # or deleting `out` to collect anew would bring back old pages
    else:
        with Journal(path, request) as journal:
            told = asyncio.run(_collect(registry, config, journal))
            write_bytes(out, _document(request | told, _items(registry, journal)))
            journal.remove()
    capture = read_capture(out)
    found = (capture.source, capture.date, capture.base_url, capture.measure, capture.wanted)
    if found != (registry.source, date, registry.base_url, config.measure, config.top):
        todo = "Choose another file, or delete it to collect anew."
        raise InputError(str(out), "the capture of another collection", "this one", todo)
    return capture


def read_capture(path: Path) -> Capture:
    """What a capture says of itself. Raises InputError if the file is none."""
    try:
        raw = path.read_bytes()
        told = orjson.loads(raw)["capture"]
        return Capture(
            path=path,
            digest=digest(raw),
            source=str(told["source"]),
            date=dt.date.fromisoformat(told["date"]),
            base_url=str(told["base_url"]),
            measure=Popularity(told["measure"]),
            wanted=None if told["wanted"] is None else int(told["wanted"]),
            stopped=StopReason(told["stopped"]),
            counts={str(name): int(count) for name, count in told["counts"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        found = f"no capture of a registry ({type(error).__name__})"
        raise InputError(str(path), found, "a capture", "Collect anew into another file.") from None


async def _collect(
    registry: RegistryConfig, config: CollectConfig, journal: Journal
) -> dict[str, Any]:
    """Fill the journal; returns why it stopped and the counts."""
    async with RegistryClient(registry) as client:
        stopped = _stop(registry, config, journal)
        while stopped is None:
            cursor = journal.pages[-1].next_cursor if journal.pages else None
            page = await client.page(_SORTS[config.measure], cursor)
            at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            journal.add_page(StoredPage(cursor, page.next_cursor, at, page.items))
            stopped = _stop(registry, config, journal)
        failed = 0
        if registry.details:
            failed = await _ask_owners(client, _ownerless(journal, config.top), journal)
    counts = _counts(journal, config.measure) | {"details_failed": failed}
    pages = [{"at": page.at, "items": len(page.items)} for page in journal.pages]
    return {"stopped": str(stopped), "counts": counts, "pages": pages}


def _stop(registry: RegistryConfig, config: CollectConfig, journal: Journal) -> StopReason | None:
    """Whether, and why, the last journaled page is the last one to ask for."""
    if not journal.pages:
        return None
    following = journal.pages[-1].next_cursor
    if config.top is not None and len(journal.slugs) >= config.top:
        return StopReason.ENOUGH
    if following is None:
        return StopReason.END
    if following in {page.cursor for page in journal.pages}:
        return StopReason.CURSOR_LOOP
    if len(journal.pages) >= registry.max_pages:
        return StopReason.PAGE_LIMIT
    return StopReason.SIZE_LIMIT if journal.bytes >= _MAX_CAPTURE_BYTES else None


def _listed(journal: Journal) -> Iterable[Any]:
    return (item for page in journal.pages for item in page.items)


def _ownerless(journal: Journal, top: int | None) -> list[str]:
    """The first `top` skills of the listing that name no owner, and were not asked for yet."""
    known = {slug_of(item) for item in _listed(journal) if _owner_in(item)} | journal.owners.keys()
    return [slug for slug in list(journal.slugs)[:top] if slug not in known]


def _owner_in(record: Any) -> str | None:
    """The owner's handle; None where there is none, or nothing that could be one."""
    try:
        return owner_of(record) if isinstance(record, dict) else None
    except BadFieldError:
        return None


async def _ask_owners(client: RegistryClient, slugs: Iterable[str], journal: Journal) -> int:
    """Journal the owner that each skill's own page names; returns how many could not be had.

    These are not journaled, so that a later run asks again. Raises RegistryError when several
    in a row fail, or when the registry asks for a pause.
    """
    failed = in_a_row = 0
    for slug in slugs:
        try:
            detail = await client.detail(slug)
        except RegistryBusyError:
            raise
        except RegistryError:
            failed, in_a_row = failed + 1, in_a_row + 1
            if in_a_row >= _MAX_FAILED_DETAILS:
                raise
            continue
        in_a_row = 0
        journal.add_owner(slug, _owner_in(detail))  # None also for a skill that is gone
    return failed


def _counts(journal: Journal, measure: Popularity) -> dict[str, int]:
    items = list(_listed(journal))
    usable = sum(slug_of(item) is not None for item in items)
    counts = [count for item in items if (count := _count_of(item, measure)) is not None]
    return {
        "pages": len(journal.pages),
        "items": len(items),
        "distinct": len(journal.slugs),
        "repeated": usable - len(journal.slugs),
        "unusable": len(items) - usable,
        "out_of_order": sum(later > earlier for earlier, later in pairwise(counts)),
        "details": len(journal.owners),
    }


def _count_of(item: Any, measure: Popularity) -> int | None:
    try:
        return signal_of(item, "", dt.date.min).popularity.get(measure) if slug_of(item) else None
    except BadFieldError:
        return None


def _items(registry: RegistryConfig, journal: Journal) -> Iterable[Any]:
    """The items as delivered, with the owner that a detail named and the address they have."""
    for item in _listed(journal):
        slug = slug_of(item)
        if slug is None:
            yield item
            continue
        added = {}
        if journal.owners.get(slug) is not None:
            added["owner_handle"] = journal.owners[slug]
        if not {"url", "clawhuburl"} & {fold(name) for name in item}:
            added["url"] = detail_url(registry, slug)
        yield item | added


def _document(told: Mapping[str, Any], items: Iterable[Any]) -> bytes:
    lines = b",\n".join(map(canonical_json, items))
    return b'{"capture":' + canonical_json(told) + b',\n"items":[\n' + lines + b"\n]}\n"
