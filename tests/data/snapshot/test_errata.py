"""Notices of errata: what is refused, and what a kill between the two files leaves."""

from __future__ import annotations

import base64
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from data.canonical import digest
from data.errors import InputError, ReleaseError
from data.releases.publishing import check_errata
from data.releases.tasks import read_tasks
from data.snapshot.errata import (
    Action,
    Erratum,
    correction,
    corrections_path,
    errata_lines,
    is_reason,
    notice_path,
    write_notice,
)
from data.snapshot.signature import sign, signed_bytes
from data.snapshot.verification import verify

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
DAY = "2026-08-01"


def ids(snapshot: Path) -> list[str]:
    return sorted(read_tasks(snapshot).about.tasks)


def answers(value: str) -> dict[str, Any]:
    return {"answers": [{"part": "total", "type": "number", "value": value}]}


def published(snapshot: Path, key: Ed25519PrivateKey = KEY) -> Path:
    """The first task withdrawn, the second corrected to 99."""
    release, (first, second, *_) = read_tasks(snapshot), ids(snapshot)
    path = notice_path(snapshot, release.snapshot)
    made = correction(second, answers("99"), "5" * 64)
    errata = [
        Erratum(first, Action.WITHDRAWN, "Two readings are possible.", DAY),
        Erratum(second, Action.CORRECTED, "Summed over the wrong week.", DAY, digest(made)),
    ]
    write_notice(path, release.about, errata, {digest(made): made}, key)
    return path


def edited(path: Path, change: Callable[[Any], object], key: Ed25519PrivateKey | None) -> None:
    """The notice with a changed statement, signed again by `key`, or with its old signature."""
    envelope = orjson.loads(path.read_bytes())
    statement = orjson.loads(base64.b64decode(envelope["payload"]))
    change(statement)
    if key is not None:
        path.write_bytes(signed_bytes(statement, key))
        return
    envelope["payload"] = base64.b64encode(orjson.dumps(statement)).decode()
    path.write_bytes(orjson.dumps(envelope))


def test_errata_apply_and_the_snapshot_stays_as_it_is(snapshot: Path) -> None:
    before, (first, second, *rest) = verify(snapshot), ids(snapshot)
    path = published(snapshot)
    release = read_tasks(snapshot)
    assert list(release.withdrawn) == [first]
    assert sorted(release.tasks) == [second, *rest]
    assert release.grading(second)["answers"] == answers("99")["answers"]
    assert release.grading(rest[0])["answers"][0]["value"] != "99"
    assert verify(snapshot) == before
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, corrections_path(path))] == [
        0o644,
        0o600,
    ]
    assert b'"99"' not in path.read_bytes() + base64.b64decode(
        orjson.loads(path.read_bytes())["payload"]
    )
    assert errata_lines(release.notice) == (
        f"{first} is withdrawn and not counted ({DAY}): Two readings are possible.",
        f"{second} is graded with corrected answers ({DAY}): Summed over the wrong week.",
    )


def test_a_public_half_finds_the_notice_in_the_snapshot_and_beside_a_copy(
    snapshot: Path, tmp_path: Path
) -> None:
    path = published(snapshot)
    assert read_tasks(snapshot / "public").withdrawn
    copy = (snapshot / "public").rename(tmp_path / "copy")
    (tmp_path / path.name).write_bytes(path.read_bytes())
    assert read_tasks(copy).withdrawn


FORGERIES: dict[str, tuple[Callable[[Any], object], Ed25519PrivateKey | None, str]] = {
    "altered, with the old signature": (
        lambda s: s["predicate"]["errata"].pop(),
        None,
        "a signature that does not match its key",
    ),
    "signed by one key, naming another": (
        lambda s: None,
        OTHER,
        "a signature that does not match its key",
    ),
    "of another release": (
        lambda s: s["subject"][0]["digest"].update(sha256="0" * 64),
        KEY,
        "errata for another release",
    ),
    "of another snapshot": (
        lambda s: s["predicate"].update(snapshot="other-2026.01.01"),
        KEY,
        "errata for another release",
    ),
    "about an unknown task": (
        lambda s: s["predicate"]["errata"][0].update(task_id="t-none"),
        KEY,
        "not a task in the release",
    ),
    "twice about a task": (
        lambda s: s["predicate"]["errata"][0].update(
            task_id=s["predicate"]["errata"][1]["task_id"]
        ),
        KEY,
        "two errata about task",
    ),
    "corrected without a digest": (
        lambda s: s["predicate"]["errata"][1].update(correction=None),
        KEY,
        "without the required digest",
    ),
    "a reason that moves the cursor": (
        lambda s: s["predicate"]["errata"][0].update(reason="\x1b[2J"),
        KEY,
        "without a reason or date",
    ),
    "another kind of statement": (
        lambda s: s.update(predicateType="urn:benchmint:release:1"),
        KEY,
        "a signature that does not match its key",
    ),
    "an unknown action": (
        lambda s: s["predicate"]["errata"][0].update(action="praised"),
        KEY,
        "an unreadable errata notice",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_notice_is_an_error_of_one_line_and_a_finding(snapshot: Path, name: str) -> None:
    change, key, problem = FORGERIES[name]
    path = published(snapshot)
    edited(path, change, key)
    with pytest.raises(InputError, match=problem) as caught:
        read_tasks(snapshot)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    lines, findings = check_errata(snapshot, [], verify(snapshot))
    assert lines == () and [finding.check for finding in findings] == ["errata.wrong"]


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff\xfe", b"x" * (2 << 20)])
def test_what_is_no_notice_is_refused(snapshot: Path, content: bytes) -> None:
    published(snapshot).write_bytes(content)
    with pytest.raises(InputError, match="an unreadable errata notice"):
        read_tasks(snapshot)


def test_only_the_signer_of_a_release_signs_its_errata(snapshot: Path) -> None:
    sign(snapshot, KEY, verify(snapshot))
    path = published(snapshot)
    with pytest.raises(ReleaseError, match="with the release's key"):
        published(snapshot, OTHER)
    path.unlink()
    (snapshot / "public" / "attestation.json").rename(snapshot.parent / "aside.json")
    published(snapshot, OTHER)
    (snapshot.parent / "aside.json").rename(snapshot / "public" / "attestation.json")
    with pytest.raises(InputError, match="while the release is signed by"):
        read_tasks(snapshot)


def test_verify_checks_the_signer_and_the_private_file(snapshot: Path) -> None:
    private = corrections_path(published(snapshot))

    def state(key: Ed25519PrivateKey) -> tuple[str, list[str]]:
        lines, findings = check_errata(snapshot, [key.public_key()], verify(snapshot))
        return lines[0].rpartition(", ")[2], [f"{f.check}: {f.problem}" for f in findings]

    assert state(KEY) == ("checked", [])
    assert state(OTHER)[1][0].startswith("signature.other_signer: signed by SHA256:")
    private.chmod(0o640)
    assert state(KEY)[1] == ["errata.wrong: found a file that other users can read"]
    private.chmod(0o600)
    stored = orjson.loads(private.read_bytes())
    next(iter(stored["corrections"].values()))["fields"] = answers("98")
    private.write_bytes(orjson.dumps(stored))
    with pytest.raises(InputError, match="no correction of t-"):
        read_tasks(snapshot).grading(ids(snapshot)[1])
    private.unlink()
    assert state(KEY)[1][0].startswith("errata.wrong: found unreadable corrections")
    assert (
        check_errata(snapshot / "public", [KEY.public_key()], verify(snapshot / "public"))[1] == ()
    )


def test_a_kill_between_the_two_files_leaves_the_notice_before_valid(snapshot: Path) -> None:
    path, (_, second, third, *_) = published(snapshot), ids(snapshot)
    before, release = path.read_bytes(), read_tasks(snapshot)
    assert release.notice is not None
    made = correction(third, answers("7"), "6" * 64)
    new = Erratum(third, Action.CORRECTED, "Counted twice.", DAY, digest(made))
    errata = [*release.notice.errata.values(), new]
    write_notice(path, release.about, errata, {digest(made): made}, KEY)
    assert read_tasks(snapshot).grading(third)["answers"] == answers("7")["answers"]
    after = path.read_bytes()
    write_notice(path, release.about, errata, {digest(made): made}, KEY)
    assert path.read_bytes() == after  # said twice, it stays one notice
    path.write_bytes(before)
    old = read_tasks(snapshot)
    assert old.grading(second)["answers"] == answers("99")["answers"]
    assert old.grading(third)["answers"] != answers("7")["answers"]


def test_two_errata_about_a_task_are_not_written(snapshot: Path) -> None:
    release, first = read_tasks(snapshot), ids(snapshot)[0]
    entry = Erratum(first, Action.WITHDRAWN, "No longer true.", DAY)
    path = notice_path(snapshot, release.snapshot)
    with pytest.raises(InputError, match="two errata about task"):
        write_notice(path, release.about, [entry, replace(entry, reason="Other.")], {}, KEY)
    assert not path.exists()


def test_a_reason_is_a_printable_line() -> None:
    assert is_reason("Umsätze zählen doppelt.")
    assert not any(map(is_reason, ["", " ", "a\nb", "\u202eabc", "x" * 501]))
