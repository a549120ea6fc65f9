"""What `verify` says of the errata of a snapshot: the notice, its signer, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from data.errors import InputError
from data.releases.tasks import read_tasks
from data.snapshot.errata import Action, Notice, errata_lines, notice_path
from data.snapshot.signature import key_id
from data.snapshot.verification import Check, Finding, VerifyReport


def check_errata(
    snapshot: Path, trusted: Sequence[Ed25519PublicKey], report: VerifyReport
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Lines about the errata of a snapshot, and findings; both empty where there are none.

    Without `trusted` keys the signer is named, but not checked. Nothing of the snapshot raises.
    """
    if report.snapshot is None:
        return (), ()
    path = notice_path(snapshot, report.snapshot)
    if not path.exists() and not path.is_symlink():
        return (), ()
    try:
        notice = read_tasks(snapshot).notice
        assert notice is not None
        findings = tuple(_findings(notice, trusted, with_private=report.with_private))
    except InputError as error:
        return (), (_finding(error),)
    checked = "checked" if trusted and not findings else "not checked: pass the signer's --key"
    return (f"errata signed by {notice.signer}, {checked}", *errata_lines(notice)), findings


def _findings(
    notice: Notice, trusted: Sequence[Ed25519PublicKey], *, with_private: bool
) -> list[Finding]:
    """Another signer than those that were given, and corrections that are not here or open."""
    findings = []
    if trusted and notice.signer not in map(key_id, trusted):
        problem = f"signed by {notice.signer}, whose key was not provided"
        findings.append(Finding(Check.SIGNER, notice.path.name, problem))
    for entry in notice.of(Action.CORRECTED) if with_private else ():
        try:
            notice.grading(entry.task_id)
        except InputError as error:
            findings.append(_finding(error))
    return findings


def _finding(error: InputError) -> Finding:
    return Finding(Check.ERRATA, Path(error.path).name, f"found {error.actual}")
