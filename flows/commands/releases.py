"""Releases: `verify`, and `release list`, `sign`, `publish`, `diff`, `errata`, `purge` and
`export`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.canonical import pretty_json
from data.errors import NOT_BUILT, InputError, ReleaseError
from data.neutralise import one_line
from flows.commands.table import WORKSPACE, BuiltInto, Json

if TYPE_CHECKING:
    from construction.grading.exports.writing import Export

_LARGEST = 1 << 20  # bytes of a file with corrected fields


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
    """Check checksums, contracts, ledger and signature, and that nothing private is in public/.

    Exits with 1 if a problem is found or an expected signature is missing.
    """
    from data.releases.publishing import check_errata
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
    """Verify and sign a snapshot; signing changes no digests."""
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
        typer.Option(help="Write the changes, their reasons and linked scores to this page."),
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


def publish_command(
    snapshot: Annotated[Path, typer.Argument(help="A signed snapshot.")],
    target: Annotated[str, typer.Argument(help="A folder, or a URL such as s3://bucket/x.")],
    key: Annotated[Path, typer.Option(help="The signer's public key (OpenSSH).")],
    with_private: Annotated[
        bool, typer.Option("--with-private", help="Also copy the private half, which graders need.")
    ] = False,
) -> None:
    """Copy a signed release, read it back, and then update the pointer `latest.json`."""
    from data.releases.publishing import check_errata, publish
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


def errata_command(
    snapshot: Annotated[
        Path, typer.Argument(help="The snapshot; --correct needs its private/ too.")
    ],
    withdraw: Annotated[
        list[str] | None, typer.Option(help="ID of a task to withdraw; repeatable.")
    ] = None,
    correct: Annotated[str | None, typer.Option(help="ID of a task to correct.")] = None,
    fields: Annotated[
        Path | None,
        typer.Option(help="With --correct: an edited copy of a file from private/TASK/."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="The reason, on one line; it is public.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The release's private signing key.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace existing errata for these tasks.")
    ] = False,
) -> None:
    """Withdraw or correct tasks in a signed notice beside the snapshot, or print the notice.

    The snapshot does not change. Regrade stored attempts afterwards; no agents are rerun.
    """
    from data.releases.tasks import read_tasks
    from data.snapshot.errata import Action

    release = read_tasks(snapshot)
    if not withdraw and correct is None:
        _print(release)
        return
    new = dict.fromkeys(withdraw or (), Action.WITHDRAWN)
    if correct in new:
        raise _misuse("--correct", f"task {correct}, which is also in --withdraw", "one of the two")
    if correct is not None:
        new[correct] = Action.CORRECTED
    if reason is None or key is None or (correct is None) != (fields is None):
        expected = "--reason and --key, and --fields only with --correct"
        raise _misuse("errata", "a missing option", expected)
    _check_tasks(release, new, replace=replace)
    corrected = {} if fields is None else {str(correct): _fields(fields)}
    for task_id, content in corrected.items():
        _check_graded(release, task_id, content)
    _check_reason(release, reason, new, corrected)
    _write(snapshot, release, new, corrected, reason, key)
    _print(read_tasks(snapshot))


def _write(
    snapshot: Path,
    release: Any,
    new: Mapping[str, Any],
    corrected: Mapping[str, Mapping[str, Any]],
    reason: str,
    key: Path,
) -> None:
    from functools import partial
    from getpass import getpass
    from secrets import token_hex

    from data.canonical import digest
    from data.snapshot.errata import Erratum, correction, notice_path, write_notice
    from data.snapshot.signature import read_private_key

    private = read_private_key(key, partial(getpass, f"passphrase for {key}: "))
    kept = dict(release.notice.errata) if release.notice else {}
    stored = {}
    for task_id, content in corrected.items():
        # No part of a rebuild: a salt from the release key could not be made once that is sealed.
        made = correction(task_id, content, token_hex(32))
        stored[digest(made)] = made
    bound = {made["task_id"]: name for name, made in stored.items()}
    today = datetime.now(UTC).date().isoformat()
    for task_id, action in new.items():
        kept[task_id] = Erratum(task_id, action, reason, today, bound.get(task_id))
    path = notice_path(snapshot, release.snapshot)
    write_notice(path, release.about, [kept[name] for name in sorted(kept)], stored, private)


def _print(release: Any) -> None:
    """Say what the notice says, and what to do next."""
    from data.snapshot.errata import errata_lines

    notice = release.notice
    if notice is None:
        print(f"{release.snapshot}: no errata")
        return
    print("\n".join(map(one_line, errata_lines(notice))))
    print(f"signed by {notice.signer}: {notice.path}")


def _check_tasks(release: Any, new: Mapping[str, Any], *, replace: bool) -> None:
    """Raise InputError for tasks that are not of the release, or that have an erratum already."""
    errata: Mapping[str, Any] = release.notice.errata if release.notice else {}
    for task_id in new:
        if task_id not in release.about.tasks:
            shown = one_line(task_id)[:100]
            raise _misuse("errata", f"{shown!r}, not a task in {release.snapshot}", "its task IDs")
        if task_id in errata and not replace:
            raise _misuse(
                "errata", f"task {task_id}, which is already {errata[task_id].action}",
                "tasks with no erratum, or --replace",
            )  # fmt: skip


def _fields(path: Path) -> dict[str, Any]:
    """What grades a task, from a file as it is in `private/TASK/`; its canary is left out."""
    import orjson

    from data.contracts import PRIVATE_FIELDS

    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise ValueError("not a file, or too large")
        content = orjson.loads(path.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        raise InputError(
            str(path), type(error).__name__, "a JSON object such as private/TASK/answers.json",
            "Copy that file, edit the copy and pass it.",
        ) from error  # fmt: skip
    return {name: value for name, value in content.items() if name in PRIVATE_FIELDS}


def _check_graded(release: Any, task_id: str, fields: Mapping[str, Any]) -> None:
    """Raise InputError if the corrected fields change nothing, or if no grader understands them."""
    from pydantic import ValidationError

    from construction.grading.spec import spec_of
    from data.contracts import Candidate

    known = release.grading(task_id)
    if all(known.get(name) == value for name, value in fields.items()):
        raise _misuse("--fields", "nothing that differs from the release", "a corrected field")
    try:
        whole = Candidate.model_validate(known | fields).model_dump(mode="json")
        spec_of(whole)
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise _misuse(
            "--fields", f"fields that cannot grade {task_id} ({type(error).__name__})",
            "fields like those in the release's own file",
        ) from error  # fmt: skip


def _check_reason(
    release: Any, reason: str, new: Mapping[str, Any], corrected: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise InputError for a reason that says nothing, or that tells everybody an answer.

    Withdrawn tasks too: others of the release may have the same answer. A public half alone knows
    none.
    """
    from construction.grading.giveaways import given_away
    from construction.grading.spec import spec_of
    from data.snapshot.errata import LONGEST_REASON, is_reason

    if not is_reason(reason):
        raise _misuse("--reason", "no printable text", f"up to {LONGEST_REASON} characters")
    for task_id in new if release.private is not None else ():
        known = release.grading(task_id)
        for task in (known, known | corrected.get(task_id, {})):
            if (what := given_away(spec_of(task), reason)) is not None:
                raise _misuse(
                    "--reason", f"{what} for {task_id}",
                    "a reason that does not give away how the task is graded, since it is public",
                )  # fmt: skip


def _misuse(where: str, actual: str, expected: str) -> InputError:
    return InputError(where, actual, expected, "See `benchmint release errata --help`.")


_Snapshot = Annotated[Path, typer.Argument(help="A snapshot, or its public half alone.")]
_Out = Annotated[Path, typer.Option(help="Output directory: new or empty.")]
_Private = Annotated[
    bool, typer.Option("--with-private", help="Also export answers, rules and graders.")
]


def export_inspect_command(snapshot: _Snapshot, out: _Out, with_private: _Private = False) -> None:
    """Write a package with one Inspect task that covers a release's tasks."""
    from construction.grading.exports.inspect import export_inspect

    export = _export(snapshot, with_private, out)
    _print_done(export, export_inspect(export, out), out)


def export_harbor_command(
    snapshot: _Snapshot,
    out: _Out,
    with_private: _Private = False,
    image: Annotated[
        str | None,
        typer.Option(
            help="Image with everything that environment/Dockerfile installs; default: build one."
        ),
    ] = None,
) -> None:
    """Write one folder per task in the format that Harbor reads."""
    from construction.grading.exports.harbor import export_harbor

    export = _export(snapshot, with_private, out)
    _print_done(export, export_harbor(export, out, image), out)


def export_swe_bench_command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot with both halves.")],
    out: Annotated[Path, typer.Option(help="Output file.")] = Path("swe-bench.jsonl"),
) -> None:
    """Write repository tasks as JSON lines with SWE-bench's columns."""
    from construction.repositories.candidates import swe_bench_lines
    from data.atomic import PRIVATE_FILE, write_bytes
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    lines = list(swe_bench_lines(read_tasks(snapshot)))
    write_bytes(out, b"".join(lines), mode=PRIVATE_FILE)
    print(f"{len(lines)} tasks in {out}")


def _print_done(export: Export, number: int, out: Path) -> None:
    print(f"{number} tasks in {out}; start with {out / 'README.md'}")
    if export.left_out:
        number, first = len(export.left_out), min(export.left_out)
        print(
            f"{number} workflow tasks are left out (first: {first}), because their services' data "
            "is private; add --with-private to include them.",
            file=sys.stderr,
        )


def _export(snapshot: Path, with_private: bool, out: Path) -> Export:
    """The release, and how much of it leaves. Raises InputError where `out` is in the release."""
    from construction.grading.exports.writing import Export
    from construction.repositories.candidates import harbor_files
    from construction.workflows.declaration import has_services, split_tool_name
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    if with_private and release.private is None:
        raise InputError(
            str(snapshot), "no private half", "private/ next to public/",
            "Export without --with-private, or from the whole snapshot.",
        )  # fmt: skip
    services = {
        name: tuple(tool for tool in task.candidate.tools if split_tool_name(tool))
        for name, task in release.tasks.items()
        if has_services(task.candidate)
    }
    files = harbor_files(release) if with_private else {}
    export = Export(release, with_private, services, files)
    if not any(export.tasks()):
        raise InputError(
            str(snapshot), "only workflow tasks", "tasks that do not need the private half",
            "Add --with-private: the services' data is private.",
        )  # fmt: skip
    return export
