"""Errata of a published release: which tasks are withdrawn, which are graded by other answers.

A release never changes. Beside it, `<snapshot>.errata.json` is a signed notice for everybody: an
in-toto statement about the public half, in a DSSE envelope, with a reason for each task. What
grades a corrected task is in `<snapshot>.errata.private.json` (mode 0600); the notice holds only
its salted digest, so that nobody can try answers against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import TypeAdapter, ValidationError

from data.atomic import PRIVATE_FILE, remove_leftovers, write_bytes
from data.canonical import digest, is_hex, pretty_json
from data.contracts import PRIVATE_FIELDS
from data.errors import InputError, ReleaseError
from data.neutralise import one_line
from data.snapshot import layout
from data.snapshot.signature import (
    LARGEST,
    STATEMENT,
    envelope_of,
    key_id,
    public_line,
    read_envelope,
    signed_bytes,
    verified_signer,
)
from data.text.dates import is_iso_day

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope

_NOTICE, CORRECTIONS = ".errata.json", ".errata.private.json"
LONGEST_REASON = 500  # characters
_PREDICATE = "urn:benchmint:errata:1"
_SUBJECT = f"{layout.PUBLIC}/{layout.SUMS}"
_DIGEST_CHARS = 64
_EXPECTED = "a notice written for this release by `benchmint release errata`"


class Action(StrEnum):
    WITHDRAWN = "withdrawn"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Erratum:
    """What happened to one task, on which day (ISO), and why; `correction` is a salted digest."""

    task_id: str
    action: Action
    reason: str
    published: str
    correction: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """The errata of a release by task id, the key that signed them, and the digest of it all.

    `digest` changes with every erratum: scores name it, so that older ones are recognised.
    `earlier` are the digests of the notices that it replaced, the first one first.
    """

    path: Path
    errata: Mapping[str, Erratum]
    signer: str
    digest: str
    earlier: tuple[str, ...] = ()

    def of(self, action: Action) -> list[Erratum]:
        """The errata of one kind, by task id."""
        return [entry for _, entry in sorted(self.errata.items()) if entry.action is action]

    def grading(self, task_id: str) -> dict[str, Any]:
        """The fields that replace those of the release, for a corrected task.

        Raises InputError if the private file is missing, open to others, or another one.
        """
        entry = self.errata.get(task_id)
        if entry is None or entry.correction is None:
            return {}
        path = corrections_path(self.path)
        stored = _stored(path).get(entry.correction)
        if stored is None or digest(stored) != entry.correction or stored["task_id"] != task_id:
            raise InputError(
                str(path), f"no correction of {task_id} with the digest of the notice",
                "the file written together with the notice", "Restore it.",
            )  # fmt: skip
        return dict(stored["fields"])


def errata_lines(notice: Notice | None) -> tuple[str, ...]:
    """One sentence for each erratum, withdrawn tasks first; for pages and cards."""
    if notice is None:
        return ()
    words = {
        Action.WITHDRAWN: "is withdrawn and not counted",
        Action.CORRECTED: "is graded with corrected answers",
    }
    return tuple(
        f"{entry.task_id} {words[action]} ({entry.published}): {entry.reason}"
        for action in Action
        for entry in notice.of(action)
    )


@dataclass(frozen=True, slots=True)
class About:
    """What a notice is checked against: the snapshot, the digest of its public half, its tasks."""

    snapshot: str
    digest: str
    tasks: frozenset[str]
    signers: frozenset[str]


def notice_path(snapshot: Path, name: str) -> Path:
    """Where the notice of a release is: beside its folder, or beside a public half alone."""
    root = snapshot.resolve()
    is_half = root.name == layout.PUBLIC and (root.parent / layout.RUN).is_file()
    return (root.parent if is_half else root).with_name(f"{name}{_NOTICE}")


def corrections_path(notice: Path) -> Path:
    """The private file beside a notice."""
    return notice.with_name(f"{notice.name.removesuffix(_NOTICE)}{CORRECTIONS}")


def read_notice(path: Path, about: About) -> Notice | None:
    """The notice at a path; None if there is none.

    Raises InputError for another signature, another release, a task that it does not have, and
    two errata about one task.
    """
    if not path.exists() and not path.is_symlink():
        return None
    try:
        return _notice(path, read_envelope(path), about)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _wrong(path, f"an unreadable errata notice ({type(error).__name__})") from error


def notice_in(content: bytes, path: Path, about: About) -> Notice:
    """A notice in a document that was read from elsewhere; `path` names it. As `read_notice`."""
    try:
        return _notice(path, envelope_of(content), about)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _wrong(path, f"an unreadable errata notice ({type(error).__name__})") from error


def _notice(path: Path, envelope: Envelope, about: About) -> Notice:
    """What an envelope says. Raises InputError, and ValueError and its kin for no notice."""
    statement = orjson.loads(envelope.payload)
    subject = {item["name"]: item["digest"]["sha256"] for item in statement["subject"]}
    predicate = statement["predicate"]
    errata = _ERRATA.validate_python(predicate["errata"])
    earlier = _EARLIER.validate_python(predicate.get("earlier", ()))
    signer = verified_signer(envelope, predicate["key"])
    if signer is None or statement["predicateType"] != _PREDICATE:
        raise _wrong(path, "a signature that does not match its key")
    if about.signers and signer not in about.signers:
        expected = " or ".join(sorted(about.signers))
        raise _wrong(path, f"a signature by {signer}, while the release is signed by {expected}")
    if subject != {_SUBJECT: about.digest} or predicate.get("snapshot") != about.snapshot:
        raise _wrong(path, "errata for another release")
    if problem := _problem(errata, about.tasks):
        raise _wrong(path, problem)
    entries = {entry.task_id: entry for entry in errata}
    return Notice(path, entries, signer, digest(envelope.payload), earlier)


def _problem(errata: Sequence[Erratum], tasks: frozenset[str]) -> str | None:
    seen: set[str] = set()
    for entry in errata:
        if entry.task_id not in tasks:
            return f"an erratum about {one_line(entry.task_id)[:100]!r}, not a task in the release"
        if entry.task_id in seen:
            return f"two errata about task {entry.task_id}"
        seen.add(entry.task_id)
        is_bound = entry.correction is not None and is_hex(entry.correction, _DIGEST_CHARS)
        if bool(is_bound) != (entry.action is Action.CORRECTED):
            return f"an erratum about task {entry.task_id} without the required digest"
        if not is_reason(entry.reason) or not is_iso_day(entry.published):
            return f"an erratum about task {entry.task_id} without a reason or date"
    return None


def is_reason(text: str) -> bool:
    """One line of printable text that says something, and is not too long to print."""
    return bool(text.strip()) and text == one_line(text) and len(text) <= LONGEST_REASON


def write_notice(
    path: Path,
    about: About,
    errata: Sequence[Erratum],
    corrections: Mapping[str, Mapping[str, Any]],
    key: Ed25519PrivateKey,
) -> Notice:
    """Sign and write the whole notice; `corrections` are new ones by digest.

    The private file comes first and keeps what the notice before needed: a kill between the two
    leaves the old notice, valid. A notice that says the same already stays, so that writing again
    after a kill changes nothing. Raises ReleaseError for a key of somebody else.
    """
    name = key_id(key.public_key())
    if about.signers and name not in about.signers:
        raise ReleaseError(
            f"{about.snapshot}: signed by {' or '.join(sorted(about.signers))}, and the key is "
            f"{name}. Sign the errata with the release's key."
        )
    if problem := _problem(errata, about.tasks):
        raise InputError(str(path), problem, _EXPECTED, "Provide one erratum per task.")
    before, by_task = read_notice(path, about), {entry.task_id: entry for entry in errata}
    private = corrections_path(path)
    for written in (path, private):
        remove_leftovers(path.parent, written.name)
    is_same = before is not None and before.signer == name and before.errata == by_task
    if before and is_same and corrections.keys() <= _stored_at(private).keys():
        return before
    if corrections:
        kept = _stored_at(private) | dict(corrections)
        write_bytes(private, pretty_json({"corrections": kept}), mode=PRIVATE_FILE)
    statement = _statement(about, errata, before, key)
    write_bytes(path, signed_bytes(statement, key))
    notice = read_notice(path, about)
    assert notice is not None
    return notice


def _statement(
    about: About, errata: Sequence[Erratum], before: Notice | None, key: Ed25519PrivateKey
) -> dict[str, Any]:
    """The in-toto statement of a notice that replaces `before`."""
    predicate = {
        "snapshot": about.snapshot,
        "key": public_line(key.public_key()),
        "errata": [asdict(entry) for entry in errata],
        "earlier": [*before.earlier, before.digest] if before else [],
    }
    subject = {"name": _SUBJECT, "digest": {"sha256": about.digest}}
    kind = {"_type": STATEMENT, "predicateType": _PREDICATE}
    return {**kind, "subject": [subject], "predicate": predicate}


def correction(task_id: str, fields: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """What is kept of a correction; its digest stands in the notice. `fields` as in private/."""
    strange = sorted(fields.keys() - PRIVATE_FIELDS)
    if strange or not fields:
        raise InputError(
            f"correction of {task_id}", one_line(", ".join(strange))[:100] or "nothing",
            f"some of {', '.join(sorted(PRIVATE_FIELDS))}", f"Copy private/{task_id}/ and edit it.",
        )  # fmt: skip
    return {"task_id": task_id, "salt": salt, "fields": dict(fields)}


def _stored_at(path: Path) -> dict[str, dict[str, Any]]:
    """As `_stored`; nothing if no correction was ever written."""
    return _stored(path) if path.exists() else {}


def _stored(path: Path) -> dict[str, dict[str, Any]]:
    """The corrections in a private file by digest. Raises InputError."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            raise ValueError("no regular file")
        if path.stat().st_mode & 0o077:
            raise InputError(
                str(path), "a file that other users can read", "mode 0600", f"chmod 600 {path}"
            )
        return _STORED.validate_python(orjson.loads(path.read_bytes())["corrections"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise InputError(
            str(path), f"unreadable corrections ({type(error).__name__})",
            "the private file written together with the notice", "Restore it.",
        ) from error  # fmt: skip


def _wrong(path: Path, actual: str) -> InputError:
    return InputError(
        str(path), actual, _EXPECTED, "Remove it, or ask the publisher for the right one."
    )


_ERRATA: TypeAdapter[list[Erratum]] = TypeAdapter(list[Erratum])
_EARLIER: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])
_STORED: TypeAdapter[dict[str, dict[str, Any]]] = TypeAdapter(dict[str, dict[str, Any]])
