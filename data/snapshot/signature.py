"""Signatures of snapshots: an in-toto statement about the digests, in a DSSE envelope.

`public/attestation.json` names the digest of the whole snapshot, of both SHA256SUMS files and of
`run.json`, and is signed with an Ed25519 key in OpenSSH's format. No sums list it, so that signing
changes no digest. A key is named as `ssh-keygen -l` names it. Formats: in-toto Statement v1 and
DSSE v1.0.2 (https://github.com/in-toto/attestation, https://github.com/secure-systems-lab/dsse).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

from data.atomic import remove_leftovers, write_bytes
from data.canonical import canonical_json, file_digest, pretty_json
from data.errors import InputError, ReleaseError
from data.snapshot import layout
from data.snapshot.verification_files import Check, Finding, VerifyReport

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import Key

_PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "urn:benchmint:release:1"
LARGEST = 1024 * 1024  # bytes of a key, an attestation or a notice
_NEW_KEY = "Create one: ssh-keygen -t ed25519 -f FILE"
_PUBLIC_KEY = "Pass the signer's .pub file, which the release's publisher has."
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class _SignatureReport:
    """Who signed a snapshot, in words, and what is wrong with it.

    `signer` is the key's name if its signature was checked with a public key that was given.
    """

    state: str
    signer: str | None = None
    findings: tuple[Finding, ...] = ()


def key_id(key: Ed25519PublicKey) -> str:
    """The name of a key: `SHA256:` and its digest, as `ssh-keygen -l` prints it."""
    wire = base64.b64decode(key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).split()[1])
    return "SHA256:" + base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")


def read_private_key(path: Path, passphrase: Callable[[], str]) -> Ed25519PrivateKey:
    """An OpenSSH private key; `passphrase` is called if it is encrypted.

    Raises InputError for anything but an Ed25519 key, and for a wrong passphrase.
    """
    content = _content(path, _NEW_KEY)
    expected = "an Ed25519 private key in OpenSSH's format"
    key: object
    try:
        key = load_ssh_private_key(content, None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        if "password" not in str(error).lower():
            raise InputError(str(path), "another kind of file", expected, _NEW_KEY) from error
        key = _decrypted(path, content, passphrase())
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(str(path), type(key).__name__, expected, _NEW_KEY)
    return key


def _decrypted(path: Path, content: bytes, passphrase: str) -> object:
    try:
        return load_ssh_private_key(content, passphrase.encode())
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise InputError(
            str(path), "a passphrase that does not unlock it", "its passphrase", "Try again."
        ) from error


def read_public_keys(path: Path) -> list[Ed25519PublicKey]:
    """The keys of an OpenSSH public key file, one a line. InputError names a line that is none."""
    keys: list[Ed25519PublicKey] = []
    for number, line in enumerate(_content(path, _PUBLIC_KEY).splitlines(), start=1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            key = load_ssh_public_key(line)
        except (ValueError, UnsupportedAlgorithm) as error:
            raise _not_public(path, "another line", number) from error
        if not isinstance(key, Ed25519PublicKey):
            raise _not_public(path, type(key).__name__, number)
        keys.append(key)
    if not keys:
        raise _not_public(path, "no key", 0)
    return keys


def _not_public(path: Path, actual: str, number: int) -> InputError:
    expected = "an Ed25519 public key in OpenSSH's format (`ssh-ed25519 …`)"
    return InputError(str(path), actual, expected, _PUBLIC_KEY, number)


def sign(snapshot: Path, key: Ed25519PrivateKey, report: VerifyReport) -> str:
    """Write the attestation of a verified snapshot; returns the name of the key.

    `report` must be its own verification with both halves and without findings, and the key the one
    that the manifest names, if it names one. Raises ReleaseError otherwise.
    """
    name = key_id(key.public_key())
    expected = _expected_signer(snapshot)
    if not report.ok or report.digest is None:
        raise ReleaseError(
            f"{snapshot.name}: not signed, because it does not verify with both halves. Run "
            "`benchmint verify` on it."
        )
    if expected not in (None, name):
        raise ReleaseError(
            f"{snapshot.name}: not signed, because its manifest expects the signer {expected} "
            f"but the key is {name}. Sign with the other key, or build with another [release] "
            "signer."
        )
    statement = {
        "_type": STATEMENT,
        "subject": [
            {"name": subject, "digest": {"sha256": sha256}}
            for subject, sha256 in _subjects(snapshot, report).items()
        ],
        "predicateType": _PREDICATE,
        "predicate": {"snapshot": report.snapshot},
    }
    path = layout.halves(snapshot)[0] / layout.ATTESTATION
    aside = snapshot.resolve().parent  # a file more, left by a kill, and a half does not verify
    remove_leftovers(aside, layout.ATTESTATION)
    write_bytes(path, signed_bytes(statement, key), mode=_READABLE, aside=aside)
    return name


def signed_bytes(statement: Mapping[str, Any], key: Ed25519PrivateKey) -> bytes:
    """An in-toto statement in a signed DSSE envelope; the same key gives the same bytes."""

    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import CryptoSigner, SSlibKey

    envelope = Envelope(canonical_json(statement), _PAYLOAD_TYPE, {})
    public = SSlibKey.from_crypto(key.public_key(), keyid=key_id(key.public_key()))
    envelope.sign(CryptoSigner(key, public))
    return pretty_json(envelope.to_dict())


def public_line(key: Ed25519PublicKey) -> str:
    """A public key as `signer.pub` has it, without a comment."""
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def verified_signer(envelope: Envelope, line: str) -> str | None:
    """The name of the key in `line`, if it signed the envelope. Raises ValueError for no key."""

    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey

    try:
        key = load_ssh_public_key(line.encode())
    except UnsupportedAlgorithm as error:
        raise ValueError("no key") from error
    if not isinstance(key, Ed25519PublicKey) or envelope.payload_type != _PAYLOAD_TYPE:
        return None
    name = key_id(key)
    try:
        envelope.verify([SSlibKey.from_crypto(key, keyid=name)], 1)
    except (VerificationError, ValueError):
        return None
    return name


def claimed_signers(snapshot: Path) -> frozenset[str]:
    """The key that the manifest names, or else those of its attestation; empty if unsigned."""
    if expected := _expected_signer(snapshot):
        return frozenset({expected})
    try:
        return frozenset(read_envelope(layout.halves(snapshot)[0] / layout.ATTESTATION).signatures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()


def check_signature(
    snapshot: Path, trusted: Sequence[Ed25519PublicKey], report: VerifyReport
) -> _SignatureReport:
    """Is the snapshot the one that was signed, by a trusted key and by the one it names?

    Without `trusted` keys a signature is named, but not checked. Nothing of the snapshot raises.
    """
    expected = _expected_signer(snapshot)
    path = layout.halves(snapshot)[0] / layout.ATTESTATION
    if not path.exists() and not path.is_symlink():
        wanted = "the key provided" if trusted else expected
        return _bad("unsigned", Check.UNSIGNED, f"expected {wanted}") if wanted else _UNSIGNED
    try:
        envelope = read_envelope(path)
        statement = orjson.loads(envelope.payload)
        signed = {item["name"]: item["digest"]["sha256"] for item in statement["subject"]}
        is_about_releases = statement["predicateType"] == _PREDICATE
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return _bad(
            "unreadable", Check.SIGNATURE, f"an unreadable attestation ({type(error).__name__})"
        )
    if not is_about_releases or envelope.payload_type != _PAYLOAD_TYPE:
        return _bad("unreadable", Check.SIGNATURE, "an attestation for something else")
    here = _subjects(snapshot.resolve(), report)
    other = sorted(name for name in here if signed.get(name) != here[name])
    if other:
        return _bad("of other content", Check.SIGNATURE, f"signed with another {', '.join(other)}")
    names = ", ".join(sorted(envelope.signatures)) or "nobody"
    if expected is not None and expected not in envelope.signatures:
        return _bad("by another key", Check.SIGNER, f"signed by {names}, expected {expected}")
    if not trusted:
        return _SignatureReport(f"signed by {names}, not checked: pass the signer's --key")
    return _checked(envelope, trusted, expected, names)


def _checked(
    envelope: Envelope, trusted: Sequence[Ed25519PublicKey], expected: str | None, names: str
) -> _SignatureReport:
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey

    keys = {key_id(key): SSlibKey.from_crypto(key, keyid=key_id(key)) for key in trusted}
    if not keys.keys() & envelope.signatures.keys():
        return _bad(
            "by another key", Check.SIGNER, f"signed by {names}, whose key was not provided"
        )
    if expected not in (None, *keys):
        return _bad("by another key", Check.SIGNER, f"the manifest expects {expected}")
    wanted: list[Key] = [key for name, key in keys.items() if expected in (None, name)]
    try:
        signer = next(iter(envelope.verify(wanted, 1)))
    except (VerificationError, ValueError):
        return _bad("forged", Check.SIGNATURE, f"the signature does not match {names}")
    return _SignatureReport(f"signed by {signer}, checked", signer)


def _expected_signer(snapshot: Path) -> str | None:
    """The signer that the manifest names; None if none, or if it cannot be read."""
    try:
        manifest = orjson.loads((layout.halves(snapshot)[0] / layout.MANIFEST).read_bytes())
        signer = manifest["recipe"]["release"]["signer"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return signer if isinstance(signer, str) else None


def _subjects(snapshot: Path, report: VerifyReport) -> Mapping[str, str]:
    """Name and SHA-256 of what is here of a snapshot: a public half alone has less."""
    public, private = layout.halves(snapshot)
    subjects: dict[str, str] = {}
    if report.digest is not None:
        subjects["snapshot"] = report.digest
    for half, root in ((layout.PUBLIC, public), (layout.PRIVATE, private)):
        if root is not None and (root / layout.SUMS).is_file():
            subjects[f"{half}/{layout.SUMS}"] = file_digest(root / layout.SUMS)
    if public != snapshot and (snapshot / layout.RUN).is_file():
        subjects[layout.RUN] = file_digest(snapshot / layout.RUN)
    return subjects


def read_envelope(path: Path) -> Envelope:
    """The DSSE envelope in a file. Raises ValueError and its kin for anything else."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError("not a small regular file")
    return envelope_of(path.read_bytes())


def envelope_of(content: bytes) -> Envelope:
    """The DSSE envelope in a document. Raises ValueError and its kin for anything else."""

    from securesystemslib.dsse import Envelope

    document: dict[str, Any] = orjson.loads(content)
    envelope = Envelope.from_dict(document)
    if not all(isinstance(name, str) for name in envelope.signatures):
        raise ValueError("a key without a name")
    return envelope


def _content(path: Path, todo: str) -> bytes:
    """A key file; `todo` is what to do without one."""
    try:
        if path.stat().st_size > LARGEST or not path.is_file():
            raise InputError(str(path), "no small file", "a key", todo)
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(str(path), "nothing", "a key", todo) from error
    except OSError as error:
        raise InputError(str(path), type(error).__name__, "a key", todo) from error


def _bad(state: str, check: Check, problem: str) -> _SignatureReport:
    where = f"{layout.PUBLIC}/{layout.ATTESTATION}"
    return _SignatureReport(state, None, (Finding(check, where, problem),))


_UNSIGNED = _SignatureReport("unsigned")
