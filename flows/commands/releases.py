"""Releases: `releases`, `verify`, `sign`, `diff` and `purge`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import Annotated, Any

import typer

from data.canonical import pretty_json
from data.errors import NOT_BUILT, InputError
from data.neutralise import one_line
from flows.commands.options import WORKSPACE, BuiltInto, Json


def releases_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not verify; read only manifests and checksums.")
    ] = False,
    as_json: Json = False,
    out: BuiltInto = WORKSPACE,
) -> None:
    """List and verify releases, newest first; exit with 1 if one fails verification."""
    from data.releases.listing import State, releases
    from data.releases.print import print_releases

    if not out.is_dir():
        existing = "a file" if out.exists() else "nothing"
        raise InputError(str(out), existing, "a build directory", NOT_BUILT)
    infos = releases(out / "snapshots", check=not quick)
    if as_json:
        print(pretty_json([asdict(info) for info in infos]).decode(), end="")
    else:
        print_releases(infos)
    bad = any(info.state in (State.FAILED, State.UNREADABLE) for info in infos)
    raise typer.Exit(1 if bad else 0)


def verify_command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot, or its public half alone.")],
    key: Annotated[
        list[Path] | None,
        typer.Option(help="The signer's public key (OpenSSH); repeatable."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check checksums, contracts, ledger, separation of halves and signature.

    Exits with 1 on findings, or if an expected signature is missing.
    """
    from data.releases.errata import check_errata
    from data.snapshot.signature import check_signature, read_public_keys
    from data.snapshot.verification import report_lines, verify

    _check_exists(snapshot)
    trusted = [one for path in key or () for one in read_public_keys(path)]
    checked = verify(snapshot)
    signature = check_signature(snapshot, trusted, checked)
    errata, faults = check_errata(snapshot, trusted, checked)
    report = replace(checked, findings=checked.findings + signature.findings + faults)
    if json:
        signed = {"state": signature.state, "signer": signature.signer}
        print(pretty_json(asdict(report) | {"signature": signed, "errata": errata}).decode())
    else:
        print("\n".join(report_lines(snapshot, report)))
        if report.snapshot is not None:
            print(one_line(signature.state))
            print("".join(f"{one_line(line)}\n" for line in errata), end="")
    raise typer.Exit(0 if report.ok else 1)


def sign_command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot with both halves.")],
    key: Annotated[Path, typer.Option(help="An Ed25519 private key (`ssh-keygen -t ed25519`).")],
) -> None:
    """Verify a snapshot and sign it; no digest changes."""
    from data.snapshot.signature import read_private_key, sign
    from data.snapshot.verification import verify

    _check_exists(snapshot)
    private = read_private_key(key, partial(getpass, f"passphrase for {key}: "))
    name = sign(snapshot, private, verify(snapshot))
    print(f"{snapshot.resolve().name}: signed by {name}")


def _check_exists(snapshot: Path) -> None:
    if not snapshot.exists():
        raise InputError(str(snapshot), "nothing", "a snapshot", "Check the path.")
    latest = snapshot / "snapshots" / "latest"
    if latest.is_dir() and not (snapshot / "public").exists():
        actual, todo = "a build directory", f"Did you mean {latest}?"
        raise InputError(str(snapshot), actual, "a snapshot", todo)


def diff_command(
    old: Annotated[str, typer.Argument(help="Earlier snapshot: its path, or its name in --out.")],
    new: Annotated[str, typer.Argument(help="Later snapshot.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(help="Write a page to this file: what changed and why, and linked scores."),
    ] = None,
    attempts: Annotated[
        Path | None, typer.Option(help="Graded attempts at both snapshots, to link their scores.")
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Show which tasks changed and why, and how weights, funnel, privacy and recipe changed."""
    from data.atomic import write_bytes
    from data.releases.diff import changes_of, changes_page
    from data.releases.listing import find_snapshot
    from data.releases.print import changes_lines
    from data.releases.tasks import require_outside

    paths = [find_snapshot(name, out / "snapshots") for name in (old, new)]
    changes = changes_of(*paths)
    if as_json:
        fields = {"fields": changes.diff.fields}
        reasons = {"retired": changes.retired, "new": changes.new}
        print(pretty_json(asdict(changes.diff) | fields | reasons).decode(), end="")
    else:
        print("\n".join(changes_lines(changes)))
    if page is not None:
        for path in paths:
            require_outside(path, page)
        linked, note = _linked(paths, attempts)
        write_bytes(page, changes_page(changes, linked, note).encode())
        print(f"written: {page}", file=sys.stderr)


def _linked(paths: Sequence[Path], attempts: Path | None) -> tuple[list[dict[str, Any]], str]:
    """The linked scores of two releases, or why there are none."""
    from flows.commands.leaderboard import linked_scores

    if attempts is None:
        return [], "No attempts were provided (--attempts)."
    try:
        releases, _, rows = linked_scores(paths[0], paths[1], attempts)
    except InputError as error:
        return [], str(error)
    names = [release.snapshot for release in releases]
    return [asdict(row) | {"release": names[not row.on_reference]} for row in rows], ""


def purge_command(
    before: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Remove private halves of releases made before this date, and older files in "
            "the private stores.",
        ),
    ] = None,
    keep_runs: Annotated[
        int | None, typer.Option(min=1, help="Keep only the newest N staged runs.")
    ] = None,
    all_replies: Annotated[
        bool,
        typer.Option(
            "--all-replies",
            help="With --before: also remove old model replies needed to rebuild a release.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be removed; remove nothing.")
    ] = False,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Remove data past its retention period; the newest verified release is always kept."""
    from construction.judging.calls.store import forget_replies, with_replies
    from data.builds import building
    from data.releases.print import purge_lines
    from data.releases.retention import carry_out, plan_purge, replies_needed

    if before is None and keep_runs is None:
        raise InputError(
            "purge", "no limit", "--before or --keep-runs", "Pass one of these options."
        )
    if not out.is_dir():
        raise InputError(str(out), "nothing", "a build directory", "Check --out.")
    if before is not None and before.date() > datetime.now(UTC).date():
        raise InputError("--before", "a date in the future", "today or earlier", "Check the date.")
    with building(out):
        plan = plan_purge(out, before.date() if before else None, keep_runs)
        forget = None
        if before is not None:
            needed = frozenset() if all_replies else replies_needed(out, plan)
            plan = with_replies(out, plan, before.date(), needed)
            forget = partial(forget_replies, before=before.date(), releases=needed)
        if not dry_run:
            carry_out(out, plan, forget)
    print("\n".join(purge_lines(plan, dry_run=dry_run)))
