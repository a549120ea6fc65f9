"""Collects the top of a registry into one file, the capture: an input with a digest.

The capture is JSON in the registry's own form (`items`), one item per line, and is read by
`collect_file`. A rebuild reads the file, so that the registry is queried only once.
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

from construction.signals.collect.fields import BadFieldError, field_key, owner_of, signal_of
from construction.signals.collect.journal import Journal, StoredPage, slug_of
from construction.signals.collect.registry_client import (
    RegistryBusyError,
    RegistryClient,
    RegistryError,
    detail_url,
)
from construction.signals.config import CollectConfig, RegistryConfig, SignalsRecipe
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Popularity
from data.errors import ConfigError, InputError

# The API's names of the measures by which it can sort.
_SORTS = {
    Popularity.DOWNLOADS: "downloads",
    Popularity.STARS: "stars",
    Popularity.INSTALLS_CURRENT: "installsCurrent",
    Popularity.INSTALLS_ALL_TIME: "installsAllTime",
}
_MAX_CAPTURE_BYTES = 64 * 1024 * 1024
_MAX_FAILED_DETAILS = 3  # in a row; more mean that the registry fails, not one skill


class StopReason(StrEnum):
    """Why no further page was requested."""

    END = "end"  # the listing has no further page
    ENOUGH = "enough"  # as many distinct skills as wanted
    CURSOR_LOOP = "cursor_loop"  # the next cursor was followed before
    PAGE_LIMIT = "page_limit"
    SIZE_LIMIT = "size_limit"


@dataclass(frozen=True, slots=True)
class Capture:
    """A collected listing: its file, the file's SHA-256, the request, and the counts.

    `counts`: pages, items, distinct skills, repeated (items of a skill listed before), unusable
    (items that are not a record with a slug), out_of_order (how often the measure rises down the
    listing), details and details_failed. Repeated and out-of-order items show that the listing
    changed while it was read. A skill missed between two pages cannot be detected, so no capture
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
    """Collect the listing by `config.measure` into `out`, unless the file already exists.

    Pages are journaled beside `out` as they arrive; a run continues where an interrupted one
    stopped. Must not be called from a running event loop. Raises ConfigError for a measure by
    which the API cannot sort, RegistryError if the registry does not answer as expected,
    InputError if `out` or its journal belongs to another collection.
    """
    if config.measure not in _SORTS:
        known = ", ".join(_SORTS)
        raise ConfigError(f"measure {config.measure}: a registry can only sort by {known}.")
    request = {
        "source": registry.source,
        "date": date.isoformat(),
        "base_url": registry.base_url,
        "measure": str(config.measure),
        "wanted": config.top,
    }
    path = out.with_name(f"{out.name}.journal")
    if out.exists():
        path.unlink(missing_ok=True)  # else deleting `out` to collect anew would reuse old pages
    else:
        with Journal(path, request) as journal:
            outcome = asyncio.run(_collect(registry, config, journal))
            write_bytes(out, _document(request | outcome, _items(registry, journal)))
            journal.remove()
    capture = read_capture(out)
    captured = (capture.source, capture.date, capture.base_url, capture.measure, capture.wanted)
    if captured != (registry.source, date, registry.base_url, config.measure, config.top):
        todo = "Choose another file, or delete it to collect again."
        raise InputError(str(out), "the capture of another collection", "this one", todo)
    return capture


def capture_registry(base_url: str, recipe: SignalsRecipe, folder: Path, date: dt.date) -> Path:
    """Write `capture-DATE.jsonl`, which a rebuild replays, and print how the capture stopped.

    A capture that was cut off goes on.
    """
    path = folder / f"capture-{date}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    settings = RegistryConfig(base_url=base_url, source=recipe.source)
    capture = collect_registry(settings, recipe.collect, date, path)
    print(f"captured {path}: {capture.stopped}")
    return path


def read_capture(path: Path) -> Capture:
    """The description in a capture's file. Raises InputError if the file is not a capture."""
    try:
        raw = path.read_bytes()
        header = orjson.loads(raw)["capture"]
        return Capture(
            path=path,
            digest=digest(raw),
            source=str(header["source"]),
            date=dt.date.fromisoformat(header["date"]),
            base_url=str(header["base_url"]),
            measure=Popularity(header["measure"]),
            wanted=None if header["wanted"] is None else int(header["wanted"]),
            stopped=StopReason(header["stopped"]),
            counts={str(name): int(count) for name, count in header["counts"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        actual = f"no capture of a registry ({type(error).__name__})"
        raise InputError(
            str(path), actual, "a capture", "Collect again into another file."
        ) from None


async def _collect(
    registry: RegistryConfig, config: CollectConfig, journal: Journal
) -> dict[str, Any]:
    """Fill the journal; returns the stop reason, the counts and the pages."""
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
    """Why the last page in the journal is the last one to request; None if it is not."""
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
    """Those of the first `top` skills whose owner the listing does not name and nobody queried."""
    known = {slug_of(item) for item in _listed(journal) if _owner_in(item)} | journal.owners.keys()
    return [slug for slug in list(journal.slugs)[:top] if slug not in known]


def _owner_in(record: Any) -> str | None:
    """The owner's handle; None if there is no valid one."""
    try:
        return owner_of(record) if isinstance(record, dict) else None
    except BadFieldError:
        return None


async def _ask_owners(client: RegistryClient, slugs: Iterable[str], journal: Journal) -> int:
    """Journal the owner that each skill's own page names; returns the number of failures.

    Failures are not journaled, so that a later run tries again. Raises RegistryError if several
    in a row fail, or if the registry requests a pause that is too long.
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
    """The items as delivered, with owners from the skills' own pages, and with addresses."""
    for item in _listed(journal):
        slug = slug_of(item)
        if slug is None:
            yield item
            continue
        added = {}
        if journal.owners.get(slug) is not None:
            added["owner_handle"] = journal.owners[slug]
        if not {"url", "clawhuburl"} & {field_key(name) for name in item}:
            added["url"] = detail_url(registry, slug)
        yield item | added


def _document(header: Mapping[str, Any], items: Iterable[Any]) -> bytes:
    lines = b",\n".join(map(canonical_json, items))
    return b'{"capture":' + canonical_json(header) + b',\n"items":[\n' + lines + b"\n]}\n"
