"""xBRL-JSON documents (OIM): their files, facts and the labels beside them, read within limits.

A period of OIM ends before midnight: "2021-04-01T00:00:00/2022-04-01T00:00:00" is the year to March
31, 2022. Beside `report.json` may lie `report.labels.json`: labels by concept (and language), or an
object with `labels`, `company`, `filed` and `statements`, as `benchmint convert-xbrl` writes it.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from construction.statements.readers.sec.contracts import CURRENCIES
from data.contracts import Disclosure, StageConfig
from data.errors import InputError

STAGE = "xbrl.read"
_LABELS = ".labels.json"
_CORE = ("concept", "entity", "period", "unit", "language", "xbrl:noteId", "noteId")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)T(00:00:00|24:00:00)(?:\.0+)?(?:Z|[+-]\d\d:\d\d)?")
_MEASURE = re.compile(r"([\w.-]+):([\w.-]+)")
_STANDARD = (
    *("xbrl.ifrs.org", "fasb.org", "xbrl.sec.gov", "frc.org.uk", "esma.europa.eu"),
    *("edinet", "tdnet"),
)
_SUFFIXES = ("Axis", "Dimension", "Member", "Domain")
_PLAIN = re.compile(r"[^\w &.,()'’%/+-]+")
_MONTH, _LEEWAY = 30.4375, 8  # days; 52/53-week years and short months
_LONGEST = 40  # characters of a value
_DECIMALS_DIGITS = 3
_ENGLISH = (None, "AU", "CA", "GB", "IE", "IN", "NZ", "SG", "US", "ZA")


class XbrlConfig(StageConfig):
    """Settings for the xBRL-JSON reader: `max_document_bytes` and `max_facts` limit what is read
    from one document (inflated, if it is in a zip).
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "xbrl"
    disclosure: Disclosure = Disclosure.PUBLIC
    max_document_bytes: Annotated[int, Field(ge=1)] = 512 << 20
    max_facts: Annotated[int, Field(ge=1)] = 2_000_000


class XbrlReason(StrEnum):
    # files
    TOO_LARGE = "xbrl.too_large"
    UNREADABLE = "xbrl.unreadable"
    NOT_XBRL_JSON = "xbrl.not_xbrl_json"
    NEEDS_CONVERSION = "xbrl.needs_conversion"  # an iXBRL package: `benchmint convert-xbrl`
    REPEATED = "xbrl.repeated"  # the same document again

    # facts
    NIL = "xbrl.nil"
    NOT_NUMERIC = "xbrl.not_numeric"
    BAD_FACT = "xbrl.bad_fact"  # not the form of the standard
    BAD_VALUE = "xbrl.bad_value"
    BAD_PERIOD = "xbrl.bad_period"  # no day, or not 3, 6, 9, 12 … months
    DUPLICATE = "xbrl.duplicate"
    ROUNDED = "xbrl.duplicate_rounded"  # consistent with a more precise fact
    INCONSISTENT = "xbrl.inconsistent"  # one document gives several values for one thing

    # as those of the SEC's data sets
    UNIT_UNKNOWN = "xbrl.unit_unknown"
    UNIT_MISMATCH = "xbrl.unit_mismatch"
    CONFLICT = "xbrl.conflict"
    RESTATED = "xbrl.restated"
    FILED_AGAIN = "xbrl.filed_again"


class Fact(NamedTuple):
    """A numeric fact. `concept` has a prefix only if it is the filer's own; `order` is its place in
    the document; `dimensions` are axis=member, sorted, empty for the whole company."""

    entity: str
    concept: str
    start: date | None
    end: date
    months: int
    unit: str
    value: str
    decimals: int | None
    dimensions: str
    order: int


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a statement as the package presents it."""

    statement: str  # role of the presentation
    concept: str
    negated: bool
    label: str | None


@dataclass(slots=True)
class Document:
    """One document of `size` facts: those that can be used, texts (concept, language, text) about
    the filer itself, and how many others there are by reason."""

    label: str
    digest: str
    size: int
    facts: list[Fact] = field(default_factory=list)
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    lost: Counter[tuple[str, XbrlReason]] = field(default_factory=Counter)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    balance: dict[str, str] = field(default_factory=dict)
    rows: list[_Row] = field(default_factory=list)
    company: dict[str, str] = field(default_factory=dict)
    filed: date | None = None
    register: str | None = None  # the country of the register that numbers its entities

    @property
    def language(self) -> str:
        """The language of most texts; without one English, or unknown where other languages are
        spoken."""
        counted = Counter(language[:2] for _, language, _ in self.texts if language)
        if not counted:
            return "en" if self.register in _ENGLISH else "und"
        return max(sorted(counted), key=lambda entry: counted[entry])

    def text(self, *concepts: str) -> str | None:
        """The text of the first of these concepts that has one, in English if possible."""
        for concept in concepts:
            matches = [(not lang.startswith("en"), said) for name, lang, said in self.texts
                     if name.rpartition(":")[2] == concept and said.strip()]  # fmt: skip
            if matches:
                return min(matches, key=lambda pair: pair[0])[1].strip()
        return None


class UnusableError(Exception):
    """A file that holds no document: the reason, the actual and the expected content."""

    def __init__(self, reason: XbrlReason, actual: str, expected: str) -> None:
        super().__init__(f"{reason}: found {actual}; expected {expected}")
        self.reason, self.actual, self.expected = reason, actual, expected


def find_documents(paths: Sequence[Path]) -> list[Path]:
    """The JSON documents and zips among `paths` and in the folders among them, sorted.

    Raises InputError for a path that does not exist, and if there is none.
    """
    matches: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError(str(path), "nothing", "xBRL-JSON documents", "Check the path.")
        files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
        matches |= {
            file.resolve()
            for file in files
            if not file.is_symlink() and file.suffix in (".json", ".zip")
            and not file.name.endswith(_LABELS)
        }  # fmt: skip
    if not matches:
        given = ", ".join(map(str, paths))
        todo = "Name .json files, or convert iXBRL packages with `benchmint convert-xbrl`."
        raise InputError(given, "no document", "xBRL-JSON documents", todo)
    return sorted(matches)


def contents(path: Path, config: XbrlConfig) -> Iterator[tuple[str, bytes, bytes]]:
    """(name, document, sidecar) of a file, or of each JSON document in a zip."""
    limit = config.max_document_bytes
    if path.suffix == ".json":
        sidecar = path.with_name(path.stem + _LABELS)
        yield path.name, _limited(path, limit), _limited(sidecar, limit, missing=b"")
        return
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(n for n in archive.namelist() if n.endswith(".json"))
            inside = {n for n in names if not n.endswith(_LABELS) and "/META-INF/" not in f"/{n}"}
            for name in sorted(inside):
                beside = name.removesuffix(".json") + _LABELS
                sidecar_bytes = _member(archive, beside, limit) if beside in names else b""
                yield f"{path.name}/{name}", _member(archive, name, limit), sidecar_bytes
            if not inside and any(n.endswith((".xhtml", ".html")) for n in archive.namelist()):
                actual, expected = "an iXBRL package", "xBRL-JSON: see `benchmint convert-xbrl`"
                raise UnusableError(XbrlReason.NEEDS_CONVERSION, actual, expected)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        actual = type(error).__name__
        raise UnusableError(XbrlReason.UNREADABLE, actual, "a zip archive") from None


def _limited(path: Path, limit: int, missing: bytes | None = None) -> bytes:
    if missing is not None and not path.is_file():
        return missing
    with path.open("rb") as handle:
        content = handle.read(limit + 1)
    return _checked(content, limit)


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    with archive.open(name) as handle:
        return _checked(handle.read(limit + 1), limit)


def _checked(content: bytes, limit: int) -> bytes:
    if len(content) > limit:
        actual = f"more than {limit:,} bytes"
        raise UnusableError(XbrlReason.TOO_LARGE, actual, "a smaller document")
    return content


def _parsed(content: bytes) -> Any:
    """The JSON with its numbers as text: they never pass through a float."""
    try:
        return json.loads(content, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        actual = type(error).__name__
        raise UnusableError(XbrlReason.UNREADABLE, actual, "JSON in UTF-8") from None


def read_document(name: str, content: bytes, sidecar: bytes, config: XbrlConfig) -> Document:
    """The document with its usable facts. Raises UnusableError if it is none."""
    record = _parsed(content)
    info = record.get("documentInfo") if isinstance(record, dict) else None
    facts = record.get("facts") if isinstance(record, dict) else None
    kind = str(info.get("documentType", "")) if isinstance(info, dict) else ""
    if not isinstance(info, dict) or "xbrl-json" not in kind:
        expected = "documentInfo with a documentType of xbrl-json"
        raise UnusableError(XbrlReason.NOT_XBRL_JSON, "another JSON", expected)
    listed = list(facts.values()) if isinstance(facts, dict) else facts
    if not isinstance(listed, list) or len(listed) > config.max_facts:
        actual = f"{len(listed):,} facts" if isinstance(listed, list) else "no facts"
        raise UnusableError(XbrlReason.TOO_LARGE, actual, f"1 to {config.max_facts:,} facts")
    document = Document(name, sha256(content).hexdigest(), len(listed))
    namespaces = info.get("namespaces")
    names = {k: str(v) for k, v in namespaces.items()} if isinstance(namespaces, dict) else {}
    schemes = (names.get(entity.partition(":")[0], "") for entity in _entities(listed))
    document.register = next((code for scheme in schemes if (code := _country(scheme))), None)
    read = [_fact(fact, order, names, document) for order, fact in enumerate(listed)]
    document.facts = _single([fact for fact in read if fact is not None], document)
    _with_sidecar(document, _parsed(sidecar) if sidecar.strip() else {}, names)
    return document


def _entities(facts: Sequence[Any]) -> Iterator[str]:
    for fact in facts:
        about = fact.get("dimensions") if isinstance(fact, dict) else None
        if isinstance(about, dict):
            yield str(about.get("entity", ""))


def _country(scheme: str) -> str | None:
    """The country of a register by the domain of its scheme: http://www.dcca.dk/cvr is DK."""
    host = urlsplit(scheme).hostname or ""
    code = host.rpartition(".")[2].upper()
    return {"UK": "GB"}.get(code, code) if len(code) == 2 and code != "EU" else None


def _concept_name(qname: str, namespaces: Mapping[str, str]) -> str:
    """The local name of a standard concept; a filer's own keeps its prefix."""
    prefix, _, local = qname.rpartition(":")
    namespace = namespaces.get(prefix, prefix)
    is_standard = any(name in namespace for name in _STANDARD) or prefix == "ifrs-full"
    return local if is_standard or not prefix else f"{prefix}:{local}"


def _fact(raw: Any, order: int, names: Mapping[str, str], document: Document) -> Fact | None:
    """The numeric fact; None, counted or kept as a text, if it is none."""
    about = raw.get("dimensions") if isinstance(raw, dict) else None
    if not isinstance(about, dict) or not all(isinstance(about.get(k), str) for k in _CORE[:1]):
        document.lost["", XbrlReason.BAD_FACT] += 1
        return None
    named = str(about.get("entity", "")).rpartition(":")[2]
    entity = named.lstrip("0") if named.isdigit() else named  # a CIK; codes keep their noughts
    value, concept = raw.get("value"), _concept_name(about["concept"], names)
    is_number = "unit" in about or "decimals" in raw
    reason = XbrlReason.NIL if value is None else None
    if reason is None and not is_number:
        parts = _dimensions(about, names).split(";")
        if all(part.endswith("Consolidated") for part in parts if part):  # of no subsidiary
            document.texts.append((concept, str(about.get("language", "")), str(value)))
        reason = XbrlReason.NOT_NUMERIC
    days = _days(str(about.get("period", "")))
    plain = None if reason else _plain_decimal(str(value))
    if reason is None and plain is None:
        reason = XbrlReason.BAD_VALUE
    if reason is None and days is None:
        reason = XbrlReason.BAD_PERIOD
    if reason is not None or days is None or plain is None:
        document.lost[entity, reason or XbrlReason.BAD_PERIOD] += 1
        return None
    decimals = raw.get("decimals")
    digits = str(decimals).removeprefix("-")
    exact = int(decimals) if digits.isdecimal() and len(digits) <= _DECIMALS_DIGITS else None
    unit = _unit(str(about.get("unit", "xbrli:pure")), names)
    return Fact(entity, concept, *days, unit, plain, exact, _dimensions(about, names), order)


def _plain_decimal(text: str) -> str | None:
    """The number without exponent, plus sign and redundant zeros; None if it is none."""
    try:
        number = Decimal(text.strip()) if len(text) <= _LONGEST else None
    except InvalidOperation:
        return None
    if number is None or not number.is_finite() or abs(number.adjusted()) > _LONGEST:
        return None
    written = f"{number:f}"
    short = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if short in ("-0", "") else short


def _days(period: str) -> tuple[date | None, date, int] | None:
    """First and last day and the months of a period; no first day for an instant."""
    start, _, end = period.rpartition("/")
    last = _midnight(end)
    if last is None:
        return None
    if not start:
        return None, last - timedelta(days=1), 0
    first = _midnight(start)
    if first is None or first >= last:
        return None
    days = (last - first).days
    months = round(days / _MONTH)
    fits = months % 3 == 0 and months > 0 and abs(days - months * _MONTH) <= _LEEWAY
    return (first, last - timedelta(days=1), months) if fits else None


def _midnight(text: str) -> date | None:
    """The day that begins at a midnight; other times of day are no limit of a period."""
    match = _DAY.fullmatch(text)
    try:
        day = date.fromisoformat(match[1]) if match else None
        return day + timedelta(days=match[2] == "24:00:00") if day and match else None
    except (ValueError, OverflowError):
        return None


def _unit(unit: str, names: Mapping[str, str]) -> str:
    """`iso4217:EUR/xbrli:shares` as EUR/shares; a code of another namespace keeps its prefix."""

    def local(match: re.Match[str]) -> str:
        is_iso = "4217" in names.get(match[1], match[1])
        return match[2] if is_iso or match[2].upper() not in CURRENCIES else match[0]

    return _MEASURE.sub(local, unit)


def _dimensions(about: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The taxonomy's dimensions as axis=member; a typed member is its text. The group as a whole,
    which Japanese filers name, is no dimension."""
    parts = []
    for axis, member in about.items():
        if axis in _CORE:
            continue
        text = "nil" if member is None else str(member)
        prefix, _, local = text.rpartition(":")
        named = _bare(local) if prefix in names else text
        plain = _PLAIN.sub(" ", named).replace("=", " ").strip()
        kind = _bare(axis.rpartition(":")[2])
        if plain != "Consolidated" or not kind.startswith("Consolidated"):
            parts.append(f"{kind}={plain}")
    return ";".join(sorted(parts))


def _bare(name: str) -> str:
    """The name of an axis or a member without what says so."""
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


def _single(facts: Sequence[Fact], document: Document) -> list[Fact]:
    """One fact for each thing: of consistent ones the most precise, of inconsistent ones none."""
    groups: dict[tuple[Any, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        key = (fact.entity, fact.concept, fact.start, fact.end, fact.unit, fact.dimensions)
        groups[key].append(fact)
    kept = []
    for group in groups.values():
        entity = group[0].entity
        if len({fact.value for fact in group}) > 1 and not _consistent(group):
            document.lost[entity, XbrlReason.INCONSISTENT] += len(group)
            continue
        best = min(group, key=lambda f: (-(99 if f.decimals is None else f.decimals), f.order))
        for fact in group:
            if fact is not best:
                is_same = fact.value == best.value
                reason = XbrlReason.DUPLICATE if is_same else XbrlReason.ROUNDED
                document.lost[entity, reason] += 1
        first = min(fact.order for fact in group)
        kept.append(best._replace(order=first))
    return sorted(kept, key=lambda fact: fact.order)


def _consistent(facts: Sequence[Fact]) -> bool:
    """Whether the values agree within what their decimals leave open (OIM, consistent facts)."""
    low, high = Decimal("-Infinity"), Decimal("Infinity")
    for fact in facts:
        slack = Decimal(0) if fact.decimals is None else Decimal(5).scaleb(-fact.decimals - 1)
        low, high = max(low, Decimal(fact.value) - slack), min(high, Decimal(fact.value) + slack)
    return low <= high


def _with_sidecar(document: Document, record: Any, names: Mapping[str, str]) -> None:
    """Add what the file beside the document says; what has another form is left out."""
    if not isinstance(record, dict):
        return
    given = record.get("labels")
    labels: dict[str, Any] = given if isinstance(given, dict) else record
    for qname, label in labels.items():
        by_language = {"en": label} if isinstance(label, str) else label
        if isinstance(by_language, dict) and ":" in qname:
            texts = {str(lang): text for lang, text in by_language.items() if isinstance(text, str)}
            document.labels[_concept_name(qname, names)] = texts
    for name in ("company", "balance"):
        given = record.get(name)
        if isinstance(given, dict):
            plain = {k: v for k, v in given.items() if isinstance(v, str)}
            keyed = {_concept_name(k, names): v for k, v in plain.items()}
            setattr(document, name, plain if name == "company" else keyed)
    try:
        document.filed = date.fromisoformat(str(record.get("filed")))
    except ValueError:
        document.filed = None
    for shown in record.get("statements") or ():
        for row in shown.get("rows") or () if isinstance(shown, dict) else ():
            if isinstance(row, dict) and isinstance(row.get("concept"), str):
                text = row.get("label") if isinstance(row.get("label"), str) else None
                concept = _concept_name(row["concept"], names)
                role = str(shown.get("role", ""))
                document.rows.append(_Row(role, concept, row.get("negated") is True, text))
