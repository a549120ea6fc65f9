"""Collects the top of a registry into one file, the capture: an input with a digest.

The capture is JSON with the items as the registry sent them, one per line, and is read by
`collect_file`. It holds no time: registries that answer the same give the same capture. Answers are
appended to a journal as they arrive. A run continues where the journal of a killed run ends; an
incomplete last line is cut off.

Captures are kept for good, in a folder: each is named by its date and the digest of its content,
and never changed. The log (`captures.jsonl`) has an entry for each run, is only appended to, and is
hash-chained: it says which capture of a day is its last. History is read from both.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import fcntl
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from construction.signals.collect.fields import (
    BadFieldError,
    SourceShape,
    canonical,
    field_key,
    is_slug,
    owner_of,
    shape_of,
    signal_of,
)
from construction.signals.collect.registry_client import (
    RegistryBusyError,
    RegistryClient,
    RegistryError,
    detail_url,
)
from construction.signals.config import CollectConfig, RegistryConfig, SignalsRecipe, check_source
from data.atomic import write_once
from data.canonical import canonical_json, digest
from data.contracts import Popularity
from data.errors import ConfigError, InputError
from data.figures import amount
from data.hash_chain import entries, extend

_MAX_ITEM_BYTES = 64 * 1024


_RUNS = "captures.jsonl"
_DIGITS = 16  # of the digest, in the name of a file
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class _Kept:
    """A capture in the folder, as the log of runs names it; `at` is the time of its run (UTC)."""

    path: Path
    source: str
    date: dt.date
    sha256: str
    at: str


def keep(folder: Path, content: bytes, source: str, date: dt.date, suffix: str = ".json") -> Path:
    """Keep what a run collected, and log the run; the same content is the same file.

    A run that was killed before it was logged leaves a file that no history reads.
    """
    sha256 = digest(content)
    path = folder / f"{check_source(source)}-{date.isoformat()}-{sha256[:_DIGITS]}{suffix}"
    write_once(path, content, mode=_MODE)
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    run = {"at": at, "source": source, "date": date.isoformat(), "file": path.name}
    extend(folder / _RUNS, lambda known: [run | {"sha256": sha256}])
    return path


def _captured(folder: Path, source: str) -> list[_Kept]:
    """The captures of all runs of a source, in the order of the runs.

    Raises BrokenChain if the log was altered, InputError if a capture was.
    """
    kept = [_kept(folder, entry) for entry in entries(folder / _RUNS) if entry["source"] == source]
    for capture in {one.path: one for one in kept}.values():
        actual = digest(capture.path.read_bytes()) if capture.path.is_file() else "no file"
        if actual != capture.sha256:
            raise InputError(
                str(capture.path), actual[:_DIGITS], f"the capture {capture.sha256[:_DIGITS]}",
                "Restore it; captures are never changed.",
            )  # fmt: skip
    return kept


def history(folder: Path, source: str) -> list[_Kept]:
    """The last capture of each day, oldest day first."""
    return sorted({one.date: one for one in _captured(folder, source)}.values(), key=_date)


def superseded(folder: Path, source: str) -> list[_Kept]:
    """Captures of which their day has a later one, of other content."""
    last = {one.path for one in history(folder, source)}
    earlier = {one.path: one for one in _captured(folder, source) if one.path not in last}
    return sorted(earlier.values(), key=_date)


def snapshot_files(given: Sequence[Path], source: str) -> list[Path]:
    """Files as they are; of a folder its files, of captures the last of each day."""
    files: list[Path] = []
    for path in given:
        if (path / _RUNS).is_file():
            files += [kept.path for kept in history(path, source)]
            continue
        inside = sorted(file for file in path.glob("*") if file.is_file())
        files += inside if path.is_dir() else [path]
    return files


def _kept(folder: Path, entry: Mapping[str, Any]) -> _Kept:
    path, date = folder / Path(entry["file"]).name, dt.date.fromisoformat(entry["date"])
    return _Kept(path, entry["source"], date, entry["sha256"], entry["at"])


def _date(kept: _Kept) -> dt.date:
    return kept.date


@dataclass(frozen=True, slots=True)
class _StoredPage:
    """A page in the journal. A refused item is None."""

    cursor: str | None
    next_cursor: str | None
    items: tuple[Any, ...]


class _Journal:
    """Pages and owners of one collection, on disk; `request` identifies it, `shape` its items.

    Use as a context manager. Raises InputError if another process holds the journal, or if it
    belongs to another request.
    """

    def __init__(self, path: Path, request: Mapping[str, Any], shape: SourceShape) -> None:
        self._path = path
        self.shape = shape
        self._request = dict(request)
        self.pages: list[_StoredPage] = []
        self.owners: dict[str, str | None] = {}
        self.slugs: dict[str, None] = {}  # distinct, in the order of the listing
        self.bytes = 0

    def __enter__(self) -> _Journal:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        try:
            self._lock()
            self._load()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add_page(self, page: _StoredPage) -> None:
        """Append a page; items that cannot be stored, or are too large, are refused."""
        kept = tuple(item if _is_storable(item) else None for item in page.items)
        record = {"cursor": page.cursor, "next": page.next_cursor, "items": kept}
        self._append(record)
        self._take(record)

    def add_owner(self, slug: str, owner: str | None) -> None:
        """Append the owner that a skill's own page names; None if it names none."""
        record = {"slug": slug, "owner": owner}
        self._append(record)
        self._take(record)

    def remove(self) -> None:
        """Delete the journal, once its content is in the capture."""
        self._path.unlink(missing_ok=True)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            actual, todo = "a journal in use", "Wait for the other run to end."
            raise InputError(str(self._path), actual, "no other run", todo) from None

    def _load(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        self._file.truncate(whole)
        lines = content[:whole].splitlines()
        if not lines:
            self._append({"request": self._request})
            return
        self.bytes = whole
        for number, line in enumerate(lines, start=1):
            try:
                record = orjson.loads(line)
                if number == 1 and record["request"] != self._request:
                    self._foreign(number)
                if number > 1:
                    self._take(record)
            except (ValueError, KeyError, TypeError):
                self._foreign(number)

    def _foreign(self, number: int) -> None:
        actual = "a line that does not belong to this collection"
        todo = "Delete the journal to collect again, or use the settings of the interrupted run."
        raise InputError(str(self._path), actual, "the journal of this collection", todo, number)

    def _append(self, record: Mapping[str, Any]) -> None:
        line = canonical_json(record) + b"\n"
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.bytes += len(line)

    def _take(self, record: Mapping[str, Any]) -> None:
        if "slug" in record:
            self.owners[record["slug"]] = record["owner"]
            return
        page = _StoredPage(record["cursor"], record["next"], tuple(record["items"]))
        self.pages.append(page)
        self.slugs.update(dict.fromkeys(filter(None, map(self.slug_of, page.items))))

    def slug_of(self, item: Any) -> str | None:
        """The slug of a listed item, None if it has no usable one."""
        record = canonical(item, self.shape)
        slug = record.get("slug") if isinstance(record, dict) else None
        return slug if is_slug(slug) else None


def _is_storable(item: Any) -> bool:
    try:
        # Nested in two lists as in journal and capture, so that too deep nesting fails here.
        return len(canonical_json([[item]])) <= _MAX_ITEM_BYTES
    except TypeError:
        return False


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
    registry: RegistryConfig, config: CollectConfig, date: dt.date, folder: Path
) -> Capture:
    """Collect the listing by `config.measure` into a new capture in `folder`.

    Pages are journaled in the folder as they arrive; a run continues where an interrupted one of
    the same date stopped. Must not be called from a running event loop. Raises ConfigError for a
    measure by which the source cannot sort, RegistryError if it does not answer as expected,
    InputError if the journal belongs to another collection.
    """
    shape = shape_of(config)
    by = Popularity.LISTINGS if shape.listings else config.measure
    if config.measure != by or not (shape.listings or config.measure in shape.sorts):
        known = ", ".join(shape.sorts) or Popularity.LISTINGS
        raise ConfigError(f"measure {config.measure}: {config.kind} can only sort by {known}.")
    request = {
        "source": registry.source,
        "kind": config.kind,
        "date": date.isoformat(),
        "base_url": registry.base_url,
        "measure": str(config.measure),
        "wanted": config.top,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with _Journal(folder / f".{registry.source}-{date}.journal", request, shape) as journal:
        outcome = asyncio.run(_collect(registry, config, journal))
        document = _document(request | outcome, _items(registry, journal))
        path = keep(folder, document, registry.source, date)
        journal.remove()
    return read_capture(path)


def capture_registry(
    base_url: str, limits: RegistryConfig, recipe: SignalsRecipe, folder: Path, date: dt.date
) -> Path:
    """Collect a new capture of the recipe's source, and print how it stopped.

    A capture that was cut off goes on. Raises ConfigError for what is no address.
    """
    given = {"base_url": base_url, "source": recipe.source}
    try:
        settings = RegistryConfig.model_validate(limits.model_dump() | given)
    except ValueError:
        raise ConfigError(
            "--registry: expected http://host or https://host, optionally with a path."
        ) from None
    capture = collect_registry(settings, recipe.collect, date, folder)
    counts = capture.counts
    pages, skills = amount(counts["pages"], "page"), amount(counts["distinct"], "skill")
    print(f"captured {capture.path}: {pages}, {skills}, {capture.stopped}")
    return capture.path


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
        raise InputError(str(path), actual, "a capture", "Collect again to another file.") from None


async def _collect(
    registry: RegistryConfig, config: CollectConfig, journal: _Journal
) -> dict[str, Any]:
    """Fill the journal; returns the stop reason, the counts and the pages."""
    async with RegistryClient(registry, journal.shape) as client:
        stopped = _stop(registry, config, journal)
        while stopped is None:
            cursor = journal.pages[-1].next_cursor if journal.pages else None
            page = await client.page(journal.shape.sorts.get(config.measure, ""), cursor)
            journal.add_page(_StoredPage(cursor, page.next_cursor, page.items))
            stopped = _stop(registry, config, journal)
        failed = 0
        if registry.details and journal.shape.details:
            failed = await _ask_owners(client, _ownerless(journal, config.top), journal)
    counts = _counts(journal, config.measure) | {"details_failed": failed}
    pages = [len(page.items) for page in journal.pages]
    return {"stopped": str(stopped), "counts": counts, "pages": pages}


def _stop(registry: RegistryConfig, config: CollectConfig, journal: _Journal) -> StopReason | None:
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


def _listed(journal: _Journal) -> Iterable[Any]:
    return (item for page in journal.pages for item in page.items)


def _ownerless(journal: _Journal, top: int | None) -> list[str]:
    """Those of the first `top` skills whose owner the listing does not name and nobody queried."""
    known = {
        journal.slug_of(item) for item in _listed(journal) if _owner_in(item)
    } | journal.owners.keys()
    return [slug for slug in list(journal.slugs)[:top] if slug not in known]


def _owner_in(record: Any) -> str | None:
    """The owner's handle; None if there is no valid one."""
    try:
        return owner_of(record) if isinstance(record, dict) else None
    except BadFieldError:
        return None


async def _ask_owners(client: RegistryClient, slugs: Iterable[str], journal: _Journal) -> int:
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


def _counts(journal: _Journal, measure: Popularity) -> dict[str, int]:
    items = list(_listed(journal))
    usable = sum(journal.slug_of(item) is not None for item in items)
    counts = [count for item in items if (count := _count_of(item, journal, measure)) is not None]
    return {
        "pages": len(journal.pages),
        "items": len(items),
        "distinct": len(journal.slugs),
        "repeated": usable - len(journal.slugs),
        "unusable": len(items) - usable,
        "out_of_order": sum(later > earlier for earlier, later in pairwise(counts)),
        "details": len(journal.owners),
    }


def _count_of(item: Any, journal: _Journal, measure: Popularity) -> int | None:
    if journal.slug_of(item) is None:
        return None
    try:
        record = canonical(item, journal.shape)
        return signal_of(record, "", dt.date.min).popularity.get(measure)
    except BadFieldError:
        return None


def _items(registry: RegistryConfig, journal: _Journal) -> Iterable[Any]:
    """The items as delivered, with owners from the skills' own pages, and with addresses."""
    for item in _listed(journal):
        slug = journal.slug_of(item)
        if slug is None or not journal.shape.details:
            yield item
            continue
        added = {}
        if journal.owners.get(slug) is not None:
            added["owner_handle"] = journal.owners[slug]
        if not {"url", "clawhuburl"} & {field_key(name) for name in item}:
            added["url"] = detail_url(registry, journal.shape, slug)
        yield item | added


def _document(header: Mapping[str, Any], items: Iterable[Any]) -> bytes:
    lines = b",\n".join(map(canonical_json, items))
    return b'{"capture":' + canonical_json(header) + b',\n"items":[\n' + lines + b"\n]}\n"
