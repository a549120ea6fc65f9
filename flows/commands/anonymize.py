"""Masking and anonymization: `mask`, `scan`, `restore`, `profile`, `perturb` and `seal`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from anonymization.documents import scopes
from anonymization.documents.contracts import Refusal
from anonymization.documents.scopes import PRIVATE as PRIVATE_FOLDER
from anonymization.documents.scopes import (
    MaskingConfig,
    Scope,
    claimed,
    finding_lines,
    rejection,
    require_finished,
    restore_folder,
    scan_paths,
)
from anonymization.masking_recipe import MaskingLevel, approving
from anonymization.recogniser.contracts import AskModel
from anonymization.text.contracts import Mode
from anonymization.words_review import (
    KEEP,
    PRIVATE,
    PROPOSED,
    WORDS,
    Why,
    of_a_kind,
    open_rows,
    owners_words,
    write_decisions,
)
from data import hash_chain
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import pretty_json
from data.errors import InputError, program
from data.figures import amount
from data.neutralise import one_line
from data.randomness import release_key
from flows.commands.table import Approvals, Json, Key, Masking, PrivateValues, Processes, Reviewed


def _masking_settings(config: Path | None, approvals: Path | None) -> MaskingConfig:
    """`[masking]` of a configuration, with the digests of an approvals file added."""
    from flows.recipe import load_section

    settings = load_section(MaskingConfig, "masking", config)
    return settings.model_copy(update={"documents": approving(settings.documents, approvals)})


@contextmanager
def _reader(
    settings: MaskingConfig, config: Path | None, captures: Path
) -> Iterator[AskModel | None]:
    """The recogniser that the settings name, if they do; its replies are kept in `captures`."""
    if not settings.recogniser.model:
        yield None
        return
    from flows.recipe import Runtime, load_section
    from flows.recogniser import recogniser

    runtime = load_section(Runtime, "runtime", config)
    store = private_dir(captures)
    with recogniser(settings.recogniser, runtime.model_calls, runtime.recogniser, store) as made:
        yield made.ask
        print(made.line)


def mask_command(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.")],
    out: Annotated[Path, typer.Option(help="Output directory for files/, reports/ and private/.")],
    key: Key = None,
    mode: Annotated[Mode | None, typer.Option(help="What replaces private values.")] = None,
    scope: Annotated[Scope | None, typer.Option(help="Which files share surrogates.")] = None,
    level: Annotated[MaskingLevel | None, typer.Option(help="How much to mask.")] = None,
    config: Masking = None,
    approvals: Approvals = None,
    private_values: PrivateValues = None,
    reviewed: Reviewed = None,
    captures: Annotated[
        Path | None,
        typer.Option(help="Saved replies of the recogniser to reuse; default: private/captures."),
    ] = None,
    workers: Processes = 1,
) -> None:
    """Write masked copies of files. Exits with 1 if a file was rejected."""
    listed, review = owners_words(private_values, reviewed)
    settings = _masking_settings(config, approvals)
    chosen = {"mode": mode, "scope": scope, "level": level}
    settings = settings.model_copy(update={k: v for k, v in chosen.items() if v is not None})
    with claimed(out) as private:
        secret = release_key(key or private / "release.key")
        with _reader(settings, config, captures or private / "captures") as ask:
            reports = scopes.mask_paths(paths, out, secret, settings, workers, listed, review, ask)
        rejected = [report for report in reports if report.refusal is not None]
        if rejected:
            named = {r.original_path: [r.path, str(r.refusal), r.part] for r in rejected}
            write_bytes(private / "refused.json", pretty_json(named), mode=PRIVATE_FILE)
    print(*map(rejection, rejected), sep="\n", end="\n" * bool(rejected))
    spans = sum(len(report.rows) for report in reports if report.refusal is None)
    masked = len(reports) - len(rejected)
    print(f"{masked} files masked in {out / scopes.FILES}: {spans} values replaced")
    print(f"words to review: {private / WORDS}")
    _say_what_waits(private / WORDS, settings)
    if any(report.refusal is Refusal.NOT_REVIEWED for report in rejected):
        print(f"decide with `{program()} privacy words`, then pass --reviewed {private / WORDS}")
    print(f"to restore them, keep {private} and run: {program()} privacy restore {out} --out DIR")
    raise typer.Exit(1 if rejected else 0)


def _say_what_waits(words: Path, settings: MaskingConfig) -> None:
    accepts = settings.recogniser.accepts_proposals
    waiting = sum(
        row.get("why") == Why.UNDECIDED
        for row in open_rows(words)
        if not (accepts and row["decision"] == PROPOSED)
    )
    if waiting:
        print(f"unexplained words still in the files: {waiting}; before anyone sees the files, run")
        print(f"{program()} privacy words {words}, then mask again with --reviewed")


def words_command(
    words: Annotated[
        Path, typer.Argument(help="The words.csv from a build or from `benchmint privacy mask`.")
    ],
    batch: Annotated[int, typer.Option(min=1, help="Number of rows to show at a time.")] = 25,
) -> None:
    """Decide on the words in a list, in batches; words that you do not mark as private are kept."""
    groups = of_a_kind(open_rows(words))
    for start in range(0, len(groups), batch):
        shown = groups[start : start + batch]
        print(f"{start + 1}-{start + len(shown)} of {len(groups)}")
        for number, rows in enumerate(shown, start=1):
            first, more = rows[0], f" and {len(rows) - 1} like it" if len(rows) > 1 else ""
            model = " (model: keep)" if first["decision"] == PROPOSED else ""
            line = f"{first['word']}{more}  [{first['why']}{model}]  {first['example']}"
            print(one_line(f"{number:>4}  {line}"))
        typed = typer.prompt("private (numbers, or all; Enter: none; q: quit)", default="")
        if typed.strip().lower() == "q":
            break
        private = _numbers(typed, len(shown))
        chosen = {
            row["word"]: PRIVATE if number in private else KEEP
            for number, rows in enumerate(shown, start=1)
            for row in rows
        }
        write_decisions(words, chosen)
    print(f"{amount(len(open_rows(words)), 'row')} without a decision in {words}")


def _numbers(typed: str, most: int) -> set[int]:
    """The numbers that somebody typed. Raises BadParameter for anything else."""
    parts = typed.replace(",", " ").split()
    if parts == ["all"]:
        return set(range(1, most + 1))
    if not all(part.isdigit() and 1 <= int(part) <= most for part in parts):
        raise typer.BadParameter(f"expected numbers from 1 to {most}, all, or nothing")
    return set(map(int, parts))


def scan_command(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.")],
    config: Masking = None,
    approvals: Approvals = None,
    private_values: PrivateValues = None,
    reviewed: Reviewed = None,
    as_json: Json = False,
    workers: Processes = 1,
) -> None:
    """List the positions of private values, but never the values.

    Exits with 1 on findings or unreadable files.
    """
    listed, _ = owners_words(private_values, reviewed)
    reports = scan_paths(paths, _masking_settings(config, approvals), workers, listed)
    if as_json:
        rows = [asdict(report) for report in reports]
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    else:
        lines = [line for report in reports for line in finding_lines(report)]
        findings = sum(len(report.rows) for report in reports)
        total = f"{amount(len(reports), 'file')} scanned: {amount(findings, 'finding')}"
        print("\n".join([*lines, total]))
    bad = any(report.rows or report.refusal is not None for report in reports)
    raise typer.Exit(1 if bad else 0)


def restore_command(
    directory: Annotated[Path, typer.Argument(help="Folder written by `benchmint privacy mask`.")],
    out: Annotated[Path, typer.Option(help="Output directory for the originals.")],
    vault: Annotated[
        Path | None, typer.Option(help="A vault or folder of vaults; default: private/vaults.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Release key file; default: private/release.key.")
    ] = None,
) -> None:
    """Restore the original files byte for byte; reject a vault or file that was tampered with."""
    require_finished(directory)
    private = directory / PRIVATE_FOLDER
    key_path = key or private / "release.key"
    if not key_path.is_file():
        expected = "the key used for masking"
        raise InputError(str(key_path), "no release key", expected, "Pass it with --key.")
    files = directory / scopes.FILES if (directory / scopes.FILES).is_dir() else directory
    vaults = vault or private / scopes.VAULTS
    names = restore_folder(files, vaults, release_key(key_path), out)
    if private.is_dir():
        hash_chain.record_access(private / "access.log", "restore", str(len(names)))
    print(f"{amount(len(names), 'file')} restored in {out}")


def profile_command(
    table: Annotated[Path, typer.Argument(help="A CSV (also gzipped) or Parquet file.")],
    toml: Annotated[
        bool, typer.Option("--toml", help="Print a configuration for `benchmint privacy perturb`.")
    ] = False,
) -> None:
    """Propose a role for each column from names and values, for a person to decide."""
    import tomli_w

    from anonymization.tables.files import read_table, table_name
    from anonymization.tables.profile import as_config, profile_lines, propose_roles

    profile = propose_roles(read_table(table))
    if toml:
        tables = {table_name(table): as_config(profile)}
        print(tomli_w.dumps({"tables": {"tables": tables}}), end="")
    else:
        print("\n".join(map(one_line, profile_lines(profile))))


def perturb_command(
    tables: Annotated[list[Path], typer.Argument(help="CSV (also gzipped) or Parquet files.")],
    config: Annotated[
        Path, typer.Option(help="Configuration file with a [tables] section: roles, methods.")
    ],
    out: Annotated[Path, typer.Option(help="Output directory for tables, reports and private/.")],
    key: Key = None,
    workers: Processes = 1,
) -> None:
    """Anonymize and attack tables; if one exceeds its limits, write none and exit with 1."""
    # SciPy takes a second to import: other commands do not wait for it.
    from anonymization.tables.config import TablesRecipe
    from anonymization.tables.files import declared_files
    from anonymization.tables.judged_tables import REPORT_FILE, TABLES, anonymize_files
    from anonymization.tables.release_tables import Anonymizing
    from anonymization.tables.seal import KEY
    from flows.recipe import load_section

    recipe = load_section(TablesRecipe, "tables", config)
    files = declared_files(tables, recipe.tables, recipe.aggregates)
    secret = release_key(key or private_dir(out / "private") / KEY)
    how = Anonymizing(recipe, secret, recipe.attacks.seed, workers, quiet=False)
    judged = anonymize_files(files, how, out)
    for table in judged:
        for verdict in table.verdicts:
            limit = f"limit {verdict.limit}"
            print(
                one_line(
                    f"{table.name}: {verdict.gate} {verdict.status}, {verdict.observed} ({limit})"
                )
            )
    print(f"{amount(len(files), 'table')} in {out / TABLES}, report in {out / REPORT_FILE}")
    print(f"when you no longer need to link anything to them: {program()} privacy seal {out}")


def seal_command(
    directory: Annotated[
        Path,
        typer.Argument(help="Folder written by `benchmint build` or `benchmint privacy perturb`."),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Destroy the release key and mapping, so nobody can link to the originals or rebuild."""
    from anonymization.tables.seal import seal, to_destroy
    from data.builds import building

    to_destroy(directory)  # asks about nothing where there is nothing
    if not yes:
        typer.confirm(
            f"Destroy the key and mapping in {directory / 'private'}? This cannot be undone.",
            abort=True,
        )
    with building(directory):
        sealed = seal(directory)
    print(f"destroyed: {', '.join(sealed.destroyed) or 'nothing; an earlier seal already did'}")
    print("Destroy keys kept elsewhere (--key) and copies in backups by hand.")
