"""`benchmint release publish`: a signed release is copied to where others get it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.errors import ReleaseError


def publish_command(
    snapshot: Annotated[Path, typer.Argument(help="A signed snapshot.")],
    target: Annotated[str, typer.Argument(help="A folder, or a URL such as s3://bucket/x.")],
    key: Annotated[Path, typer.Option(help="The signer's public key (OpenSSH).")],
    with_private: Annotated[
        bool, typer.Option("--with-private", help="Also copy the half that graders need.")
    ] = False,
) -> None:
    """Copy a signed release, read it back, and then update the pointer `latest.json`."""
    from data.releases.errata import check_errata
    from data.releases.publishing import publish
    from data.releases.tasks import read_tasks
    from data.snapshot.signature import check_signature, read_public_keys
    from data.snapshot.verification import verify

    trusted, report = read_public_keys(key), verify(snapshot)
    signature = check_signature(snapshot, trusted, report)
    _, faults = check_errata(snapshot, trusted, report)
    findings = (*report.findings, *signature.findings, *faults)
    if findings:
        problem = findings[0].problem
        raise ReleaseError(
            f"{snapshot}: not published, because `benchmint verify --key` reports: {problem}"
        )
    done = publish(snapshot, read_tasks(snapshot), target, private=with_private)
    print(f"{done.where}: {done.files} files, read back; {done.already} were already there")
