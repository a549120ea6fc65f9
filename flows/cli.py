"""The `benchmint` command. Exit codes: 0 good, 1 the check failed, 2 wrong use or bad input."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from typer._click.exceptions import ClickException, NoArgsIsHelpError

from data.errors import BenchmintError, place
from data.snapshot.neutralise import one_line
from flows.commands import (
    audit,
    build,
    demo,
    diff,
    doctor,
    explore,
    export,
    mask,
    perturb,
    profile,
    purge,
    questions,
    releases,
    restore,
    review,
    rules,
    scan,
    seal,
    select,
    serve_tables,
    signals,
    sql,
    verify,
)

app = typer.Typer(
    help="Mint agent benchmarks: raw sessions in, an audited and verified snapshot out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
rules_app = typer.Typer(help="Hard rules of a released task.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")
review_app = typer.Typer(help="Decide what judges disagree on.", no_args_is_help=True)
app.add_typer(review_app, name="review")

app.command("build")(build.command)
app.command("demo")(demo.command)
app.command("audit")(audit.command)
app.command("verify")(verify.command)
app.command("sql")(sql.command)
app.command("explore")(explore.command)
app.command("diff")(diff.command)
app.command("doctor")(doctor.command)
app.command("releases")(releases.command)
app.command("purge")(purge.command)
app.command("mask")(mask.command)
app.command("scan")(scan.command)
app.command("restore")(restore.command)
app.command("profile")(profile.command)
app.command("perturb")(perturb.command)
app.command("seal")(seal.command)
app.command("signals")(signals.command)
app.command("select")(select.command)
app.command("questions")(questions.command)
app.command("serve-tables")(serve_tables.command)
app.command("export-atif")(export.command)
rules_app.command("check")(rules.command)
review_app.command("export")(review.export_command)
review_app.command("import")(review.import_command)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Options of every command (`--debug` is read in `main`)."""


def main() -> None:
    """Run a command; errors become one readable line on standard error."""
    try:
        sys.exit(app(standalone_mode=False))
    except NoArgsIsHelpError:
        sys.exit(2)  # the help has been printed
    except ClickException as error:
        _fail(f"{error.format_message().rstrip('.')}. See `benchmint --help`.")
    except BenchmintError as error:
        if "--debug" in sys.argv:
            raise
        _fail(str(error))
    except OSError as error:
        if "--debug" in sys.argv:
            raise
        _fail(_trouble(error))
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        _fail(f"internal error: {type(error).__name__} at {place(error)}. Run with --debug.")


def _trouble(error: OSError) -> str:
    """What the operating system says about which file: its names are no session text."""
    why = error.strerror or type(error).__name__
    if error.filename is None:
        return f"{why} at {place(error)}. Run with --debug."
    name = os.fsdecode(error.filename) if not isinstance(error.filename, int) else "a file"
    return f"{name}: found {why}; expected a file or folder of use. Check path, rights and space."


def _fail(message: str) -> None:
    print(f"benchmint: {one_line(message)}", file=sys.stderr)
    sys.exit(2)
