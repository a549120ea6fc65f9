"""Turns a record of a registry or table into a signal; every field is checked, none is guessed."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from construction.sessions.readers.source import epoch_seconds
from construction.signals.config import CollectConfig, Fields, SourceKind
from data.contracts import Popularity, Signal, SignalProvenance, StageConfig

# The kinds of sources: where a registry lists its skills, how it pages, and what fields mean.
#
# `sources.toml` declares them; a table or list of another shape is declared in the recipe
# (`[signals.collect.fields]`).

_TABLE = Path(__file__).with_name("sources.toml")


class SourceShape(StageConfig):
    """A kind of source; `sources.toml` explains the fields."""

    meaning: str
    path: str
    items: str
    paging: Literal["cursor", "page", "none"]
    first: int = 0
    position: str = ""
    size: str = ""
    next: str = ""
    details: bool = False
    listings: bool = False
    parameters: Mapping[str, str] = Field(default_factory=dict)
    sorts: Mapping[Popularity, str] = Field(default_factory=dict)
    fields: Fields = Field(default_factory=dict)

    def following(self, document: Mapping[str, Any], position: str | None) -> Any:
        """The position of the next page, None behind the last; not yet checked."""
        value = value_at(document, self.next) if self.next else None
        if self.paging != "page":
            return None if value == "" else value
        page = self.first if position is None else int(position)
        last = value if isinstance(value, int) and not isinstance(value, bool) else None
        return str(page + 1) if (value is True or (last is not None and page < last)) else None


@cache
def _source_shapes() -> Mapping[SourceKind, SourceShape]:
    """The known kinds."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {SourceKind(name): SourceShape.model_validate(row) for name, row in table.items()}


def shape_of(config: CollectConfig) -> SourceShape:
    """The declared kind, with the fields that the recipe declares in the place of its own."""
    shape = _source_shapes()[config.kind]
    return shape.model_copy(update={"fields": config.fields}) if config.fields else shape


def value_at(record: Any, name: str) -> Any:
    """The value of a field; a name with dots leads into objects, unless the record has it whole."""
    if not isinstance(record, Mapping) or name in record:
        return record.get(name) if isinstance(record, Mapping) else None
    head, _, rest = name.partition(".")
    return value_at(record.get(head), rest) if rest else None


def canonical(record: Any, shape: SourceShape) -> Any:
    """The record with the project's own names: only declared fields are read, none is guessed."""
    if not isinstance(record, Mapping) or not shape.fields:
        return record
    known = {name: _joined(record, names) for name, names in shape.fields.items()}
    return known | ({str(Popularity.LISTINGS): 1} if shape.listings else {})


def _joined(record: Mapping[str, Any], names: str | tuple[str, ...]) -> Any:
    if isinstance(names, str):
        return value_at(record, names)
    parts = [value_at(record, name) for name in names]
    texts = [part for part in parts if isinstance(part, str) and part]
    return "/".join(texts) if len(texts) == len(parts) else None


class SignalReason(StrEnum):
    """Why a row of a source is not in the snapshot."""

    BAD_CSV = "signal.bad_csv"  # unbalanced quotation marks, or a wrong number of columns
    NOT_TEXT = "signal.not_text"  # bytes that are not UTF-8
    NOT_A_RECORD = "signal.not_a_record"
    BAD_FIELD = "signal.bad_field"
    NO_MEASURE = "signal.no_measure"  # the source does not give the chosen measure
    DUPLICATE = "signal.duplicate"  # another row of the same slug was kept
    BELOW_TOP = "signal.below_top"


# Names are compared without case, '_', '-' and blanks: `installsAllTime` is `installs_all_time`.
_SEPARATORS = str.maketrans("", "", "_- ")
# One name, or names below owner and repository; npm's scopes begin with @.
_NAME = r"\w(?:[\w-]|\.(?!\.)){0,127}"
_SLUG = re.compile(rf"@?{_NAME}(?:/{_NAME}){{0,3}}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_COUNT = re.compile(r"([0-9]{1,15})(?:\.0+)?")
_EPOCH = range(10, 14)  # digits
_MAX_COUNT = 10**15
_MAX_NAME, _MAX_SUMMARY, _MAX_URL = 300, 20_000, 2_000
_MAX_TAG, _MAX_TAGS = 100, 200
_POPULARITY = {measure.translate(_SEPARATORS).lower(): measure for measure in Popularity}


class BadFieldError(ValueError):
    """A field that cannot be used: its actual type and length, and the expected form."""

    def __init__(self, field: str, actual: str, expected: str) -> None:
        super().__init__(f"{field}: found {actual}; expected {expected}")
        self.actual, self.expected = f"{field}: {actual}", expected


def field_key(name: str) -> str:
    """A field name in the form in which it is compared: lower case, without separators."""
    return name.strip().translate(_SEPARATORS).lower()


def is_slug(value: object) -> bool:
    """True for up to four names of letters, digits, '_', '-' and single dots, with '/' between."""
    return isinstance(value, str) and _SLUG.fullmatch(value) is not None


def last_name(slug: str) -> str:
    """The skill's own name, without those of owner and repository."""
    return slug.rpartition("/")[2]


def is_measure(name: str) -> bool:
    """True if a column of this name holds a popularity measure."""
    return field_key(name) in _POPULARITY


def signal_of(record: Mapping[str, Any], source: str, date: dt.date) -> Signal:
    """The signal that `record` describes; values are JSON values, or the texts of table cells.

    Field names: slug; name or display_name; summary or description; owner, owner_handle or
    owner.handle; the popularity measures, at the top level or in `stats`; tags (list, map of
    versions, or text with separators); created_at or created_date; url or clawhub_url; rank.
    Raises BadFieldError.
    """
    fields = {field_key(name): value for name, value in record.items()}
    slug = fields.get("slug")
    if not is_slug(slug):
        expected = "a slug: up to four names of letters, digits, '-', '_' and single dots"
        raise BadFieldError("slug", describe(slug), expected)
    provenance = SignalProvenance(source, date, _url(fields), _rank(fields.get("rank")))
    return Signal(
        slug=str(slug),
        name=_text("name", _first(fields, "displayname", "name"), _MAX_NAME)
        or last_name(str(slug)),
        summary=_text("summary", _first(fields, "summary", "description"), _MAX_SUMMARY),
        owner=owner_of(record),
        popularity=_popularity(fields),
        tags=_tags(fields.get("tags")),
        provenance=provenance,
        created_at=_created(_first(fields, "createdat", "createddate")),
    )


def owner_of(record: Mapping[str, Any]) -> str | None:
    """The owner's handle, None where the record names none. Raises BadFieldError."""
    fields = {field_key(name): value for name, value in record.items()}
    owner = _first(fields, "ownerhandle", "owner")
    if isinstance(owner, dict):
        owner = owner.get("handle")
    return _text("owner", owner, _MAX_NAME) or None


def describe(value: object) -> str:
    """Type and length of a value for messages, never the value itself."""
    if value is None:
        return "nothing"
    if isinstance(value, str | list | dict):
        kind = {str: "text", list: "a list", dict: "an object"}[type(value)]
        return f"{kind} of length {len(value)}"
    return f"a value of type {type(value).__name__}"


def _first(fields: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of `names` that is present and not empty."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def _text(field: str, value: object, longest: int) -> str:
    """Text without control characters except tab and newline; "" for None."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest:
        raise BadFieldError(field, describe(value), f"text of at most {longest} characters")
    return _CONTROL.sub(" ", value.replace("\r\n", "\n")).strip()


def _popularity(fields: Mapping[str, Any]) -> dict[Popularity, int]:
    stats = fields.get("stats")
    if stats is not None and not isinstance(stats, dict):
        raise BadFieldError("stats", describe(stats), "an object of counts")
    given = {**fields, **{field_key(name): value for name, value in (stats or {}).items()}}
    counts = {
        measure: _count(measure, given[name])
        for name, measure in _POPULARITY.items()
        if given.get(name) not in (None, "")
    }
    if not counts:
        raise BadFieldError("popularity", "no count", f"one of {', '.join(Popularity)}")
    return counts


def _count(field: str, value: object) -> int:
    """A whole number from 0 to 10^15, from a JSON number or digits; 12.0 is 12."""
    if isinstance(value, str):
        match = _COUNT.fullmatch(value.strip())
        value = int(match[1]) if match else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        raise BadFieldError(field, describe(value), "a whole number from 0 to 10^15")
    return value


def _rank(value: object) -> int | None:
    if value is None or value == "":
        return None
    rank = _count("rank", value)
    if rank == 0:
        raise BadFieldError("rank", "0", "a whole number from 1")
    return rank


def _tags(value: object) -> tuple[str, ...]:
    """Distinct tags, sorted; a registry maps tags to versions, a table separates them by ; , |."""
    if value is None:
        return ()
    tags = value
    if isinstance(value, str):
        tags = value.replace(";", ",").replace("|", ",").split(",")
    if not isinstance(tags, list | dict) or len(tags) > _MAX_TAGS:
        raise BadFieldError("tags", describe(value), f"at most {_MAX_TAGS} tags")
    return tuple(sorted({_text("tag", tag, _MAX_TAG) for tag in tags} - {""}))


def _created(value: object) -> float | None:
    if value is None:
        return None
    known: object = value
    if isinstance(value, str):
        text = value.strip()
        is_epoch = text.isascii() and text.isdecimal() and len(text) in _EPOCH
        known = int(text) if is_epoch else text.replace(" UTC", "+00:00")
    seconds = epoch_seconds(known)
    if seconds is None:
        raise BadFieldError("created_at", describe(value), "an ISO date and time, or epoch numbers")
    return seconds


def _url(fields: Mapping[str, Any]) -> str | None:
    """The skill's address, http(s) only, so that it can become a link."""
    value = _first(fields, "url", "clawhuburl")
    if value is None:
        return None
    url = _text("url", value, _MAX_URL)
    try:
        sound = urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname)
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        raise BadFieldError("url", describe(value), "an http or https address")
    return url
