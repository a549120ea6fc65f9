"""`release errata`: tasks of a published release are withdrawn, or graded by other answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from data.errors import InputError
from data.neutralise import one_line

_LARGEST = 1 << 20  # bytes of a file with corrected fields


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
        bool, typer.Option("--replace", help="Replace what the notice says about these tasks.")
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
            raise ValueError("no small file")
        content = orjson.loads(path.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("no object")
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
