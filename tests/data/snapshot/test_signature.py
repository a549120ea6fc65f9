"""Signatures: what was signed verifies, and every forgery is found with the signer's public key."""

from __future__ import annotations

import base64
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from data.errors import InputError, ReleaseError
from data.snapshot import layout
from data.snapshot.signature import (
    _SignatureReport,
    check_signature,
    key_id,
    read_private_key,
    read_public_keys,
    sign,
)
from data.snapshot.verification import Check, verify
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.damage import edit_json, edit_rows, first_input, first_task, put, reseal
from tests.data.snapshot.sample import release

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
ATTESTATION = f"public/{layout.ATTESTATION}"


def checked(snapshot: Path, key: Ed25519PrivateKey | None = KEY) -> _SignatureReport:
    trusted = [key.public_key()] if key else []
    return check_signature(snapshot, trusted, verify(snapshot))


def checks(report: _SignatureReport) -> list[Check]:
    return [finding.check for finding in report.findings]


@pytest.fixture
def signed(snapshot: Path) -> Path:
    sign(snapshot, KEY, verify(snapshot))
    return snapshot


def test_a_signed_snapshot_verifies_and_keeps_its_digest(pristine: Path, signed: Path) -> None:
    report = checked(signed)
    assert (report.state, report.signer) == (
        f"signed by {key_id(KEY.public_key())}, checked",
        key_id(KEY.public_key()),
    )
    assert report.findings == ()
    assert verify(signed).ok
    assert verify(signed).digest == verify(pristine).digest


def test_the_public_half_alone_verifies(signed: Path) -> None:
    assert checked(signed / "public").signer is not None
    shutil.rmtree(signed / "private")
    assert checked(signed).signer is not None


def test_signing_again_writes_the_same_bytes(signed: Path) -> None:
    before = (signed / ATTESTATION).read_bytes()
    sign(signed, KEY, verify(signed))
    assert (signed / ATTESTATION).read_bytes() == before
    assert stat.S_IMODE((signed / ATTESTATION).stat().st_mode) == 0o644


def test_without_a_signature_or_a_key_it_says_so(snapshot: Path, signed: Path) -> None:
    assert checked(signed, None).state.endswith("not checked: pass the signer's --key")
    (signed / ATTESTATION).unlink()
    assert checked(snapshot, None) == _SignatureReport("unsigned")
    assert checks(checked(snapshot)) == [Check.UNSIGNED]


def change_statement(snapshot: Path, change: Callable[[Any], object]) -> None:
    def edit(envelope: Any) -> None:
        statement = orjson.loads(base64.b64decode(envelope["payload"]))
        change(statement)
        envelope["payload"] = base64.b64encode(orjson.dumps(statement)).decode()

    edit_json(snapshot / ATTESTATION, edit)


def agree(snapshot: Path) -> None:
    """Let the statement name what is there now, under the signature that was there."""
    old = orjson.loads((snapshot / ATTESTATION).read_bytes())
    sign(snapshot, OTHER, verify(snapshot))
    edit_json(
        snapshot / ATTESTATION, lambda envelope: envelope.update(signatures=old["signatures"])
    )


def sign_as(snapshot: Path, name: str) -> None:
    sign(snapshot, OTHER, verify(snapshot))
    edit_json(snapshot / ATTESTATION, lambda envelope: envelope["signatures"][0].update(keyid=name))


def forge_task(snapshot: Path) -> None:
    edit_rows(snapshot, lambda rows: rows[0].update(difficulty="hard"))
    reseal(snapshot)


def edit_run(snapshot: Path, **fields: str) -> None:
    edit_json(snapshot / "run.json", lambda run: run.update(fields))


def keep_signature(snapshot: Path) -> None:
    edit_run(snapshot, host="x")
    agree(snapshot)


def forge_private(snapshot: Path) -> None:
    put(snapshot / "private" / first_task(snapshot).name / "answers.json", b"{}")
    reseal(snapshot)


FORGERIES: dict[str, tuple[Callable[[Path], object], Check]] = {
    "a task changed, all sums sealed anew": (forge_task, Check.SIGNATURE),
    "an answer changed, all sums sealed anew": (forge_private, Check.SIGNATURE),
    "the old signature under a new statement": (keep_signature, Check.SIGNATURE),
    "run.json of another host": (lambda s: edit_run(s, host="x"), Check.SIGNATURE),
    "no signature": (lambda s: (s / ATTESTATION).unlink(), Check.UNSIGNED),
    "signed by another key": (lambda s: sign(s, OTHER, verify(s)), Check.SIGNER),
    "signed by another key under the signer's name": (
        lambda s: sign_as(s, key_id(KEY.public_key())),
        Check.SIGNATURE,
    ),
    "a statement about another release": (
        lambda s: change_statement(s, lambda d: d["subject"][0]["digest"].update(sha256="0" * 64)),
        Check.SIGNATURE,
    ),
    "a statement that leaves out a part": (
        lambda s: change_statement(s, lambda d: d["subject"].pop()),
        Check.SIGNATURE,
    ),
    "a statement of another kind": (
        lambda s: change_statement(s, lambda d: d.update(predicateType="urn:other")),
        Check.SIGNATURE,
    ),
    "a payload of another kind": (
        lambda s: edit_json(s / ATTESTATION, lambda d: d.update(payloadType="text/plain")),
        Check.SIGNATURE,
    ),
    "nobody's signature": (
        lambda s: edit_json(s / ATTESTATION, lambda d: d.update(signatures=[])),
        Check.SIGNER,
    ),
    "no JSON": (lambda s: put(s / ATTESTATION, b"\xff{"), Check.SIGNATURE),
    "a list": (lambda s: put(s / ATTESTATION, b"[]"), Check.SIGNATURE),
    "nested without end": (lambda s: put(s / ATTESTATION, b"[" * 100_000), Check.SIGNATURE),
    "two mebibytes": (lambda s: put(s / ATTESTATION, b" " * 2**21), Check.SIGNATURE),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_found(signed: Path, name: str) -> None:
    forge, check = FORGERIES[name]
    forge(signed)
    assert checks(checked(signed)) == [check]


def test_a_signature_of_another_release_does_not_fit(signed: Path, tmp_path: Path) -> None:
    other = write_snapshot(release(tmp_path, 3), tmp_path / "out").path
    shutil.copy(signed / ATTESTATION, other / ATTESTATION)
    assert checks(checked(other)) == [Check.SIGNATURE]


def test_a_linked_signature_is_not_followed(signed: Path, tmp_path: Path) -> None:
    (signed / ATTESTATION).rename(tmp_path / "a")
    (signed / ATTESTATION).symlink_to(tmp_path / "a")
    assert checks(checked(signed)) == [Check.SIGNATURE]


def with_signer(tmp_path: Path, key: Ed25519PrivateKey) -> Path:
    """A release whose recipe names its signer."""
    made = release(tmp_path, 3)
    recipe = {**made.build.recipe, "release": {"signer": key_id(key.public_key())}}
    made = replace(made, build=replace(made.build, recipe=recipe))
    return write_snapshot(made, tmp_path / "out").path


def test_an_expected_signer_that_is_absent_or_another_is_found(tmp_path: Path) -> None:
    snapshot = with_signer(tmp_path, KEY)
    assert checks(checked(snapshot, None)) == [Check.UNSIGNED]
    with pytest.raises(ReleaseError, match="its manifest expects the signer SHA256:"):
        sign(snapshot, OTHER, verify(snapshot))
    sign(snapshot, KEY, verify(snapshot))
    assert checked(snapshot).signer == key_id(KEY.public_key())
    assert checks(checked(snapshot, OTHER)) == [Check.SIGNER]
    edit_json(
        snapshot / ATTESTATION,
        lambda d: d["signatures"][0].update(keyid=key_id(OTHER.public_key())),
    )
    assert checks(checked(snapshot, None)) == [Check.SIGNER]


def test_what_does_not_verify_is_not_signed(snapshot: Path) -> None:
    put(first_input(snapshot), b"changed")
    with pytest.raises(ReleaseError, match="does not verify"):
        sign(snapshot, KEY, verify(snapshot))
    shutil.rmtree(snapshot / "private")
    with pytest.raises(ReleaseError, match="both halves"):
        sign(snapshot, KEY, verify(snapshot))
    assert not (snapshot / ATTESTATION).exists()


def private_bytes(key: Any, passphrase: bytes = b"") -> bytes:
    how = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, how))


def public_bytes(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))


def test_keys_are_read_in_the_format_of_openssh(tmp_path: Path) -> None:
    put(tmp_path / "plain", private_bytes(KEY))
    put(tmp_path / "locked", private_bytes(KEY, b"word"))
    put(tmp_path / "pub", b"# signers\n\n" + public_bytes(KEY) + b" me\n" + public_bytes(OTHER))
    for name in ("plain", "locked"):
        key = read_private_key(tmp_path / name, lambda: "word")
        assert key_id(key.public_key()) == key_id(KEY.public_key())
    assert [key_id(key) for key in read_public_keys(tmp_path / "pub")] == [
        key_id(KEY.public_key()),
        key_id(OTHER.public_key()),
    ]
    with pytest.raises(InputError, match="a passphrase that does not unlock it"):
        read_private_key(tmp_path / "locked", lambda: "another")


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"ssh-ed25519 AAAA", b"x" * 2_000_000])
def test_what_is_no_key_is_named(tmp_path: Path, content: bytes) -> None:
    put(tmp_path / "key", content)
    with pytest.raises(InputError, match="key: found"):
        read_private_key(tmp_path / "key", str)
    with pytest.raises(InputError, match=r"key(:1)?: found"):
        read_public_keys(tmp_path / "key")


def test_keys_of_another_kind_and_missing_files_are_named(tmp_path: Path) -> None:
    curve = generate_private_key(SECP256R1())
    put(tmp_path / "key", private_bytes(curve))
    put(tmp_path / "pub", public_bytes(curve))
    with pytest.raises(InputError, match="expected an Ed25519 private key"):
        read_private_key(tmp_path / "key", str)
    with pytest.raises(InputError, match=r"pub:1: .* expected an Ed25519 public key"):
        read_public_keys(tmp_path / "pub")
    with pytest.raises(InputError, match=r"found nothing; .* which the release.s publisher has"):
        read_public_keys(tmp_path / "none")
    with pytest.raises(InputError, match=r"found nothing; .* ssh-keygen"):
        read_private_key(tmp_path / "none", str)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_key_is_named_as_ssh_keygen_names_it(tmp_path: Path) -> None:
    put(tmp_path / "pub", public_bytes(KEY))
    done = subprocess.run(
        ["ssh-keygen", "-l", "-f", tmp_path / "pub"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[1] == key_id(KEY.public_key())


def test_a_key_whose_name_is_a_number_is_no_attestation(signed: Path) -> None:
    """Found by `make fuzz`: attestations 268."""
    edit_json(signed / ATTESTATION, lambda doc: doc["signatures"][0].update(keyid=1.5))
    report = check_signature(signed / "public", [], verify(signed / "public"))
    assert report.state == "unreadable" and checks(report) == [Check.SIGNATURE]
