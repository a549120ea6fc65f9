"""What a build starts from: the sessions that were given, or the generated demo workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from construction.judging.calls.contracts import Mode
from construction.judging.settings import ModelStage
from data.builds import require_apart, require_space, require_there
from data.configuration import merge, read_toml, validated
from data.contracts import Disclosure
from data.demo.generate import (
    CONFIG,
    DECLARATION,
    ENVIRONMENT,
    RECORDED_MODEL,
    REPLIES,
    STATEMENTS,
    TABLES,
    TRIPWIRES,
    generate,
    is_untouched,
)
from data.errors import ConfigError, InputError, require_extra
from data.snapshot.release import PrivacyStamp
from flows.recipe import Recipe, Runtime, demo_folder

_RECORDED_STAGES = (
    ModelStage.RECOVERY,
    ModelStage.SCREEN,
    ModelStage.WRITE,
    ModelStage.GRADE,
)


def require_input(runtime: Runtime) -> None:
    """Raise ConfigError or InputError for input that cannot be built from, before anything starts.

    It lies apart from the output, says something without other input, is there, and fits.
    """
    require_apart(runtime.material, runtime.out)
    _require_complete(runtime)
    require_there((*runtime.material, *runtime.signals, *runtime.single_files))
    require_space(runtime.out, runtime.material)


def _require_complete(runtime: Runtime) -> None:
    """Raise ConfigError for input that says nothing without other input."""
    if runtime.files and not runtime.sessions:
        raise ConfigError(
            "--files without sessions: found folders of input files, but no sessions that use "
            "them. Pass the session logs too: benchmint build SESSIONS… --files DIR."
        )
    if runtime.repos and not runtime.sessions:
        raise ConfigError(
            "--repos without sessions: found repositories, but no sessions that worked in them. "
            "Pass the session logs too: benchmint build SESSIONS… --repos DIR."
        )
    if runtime.environment_files and not runtime.environment:
        raise ConfigError(
            "--environment-files without --environment: found a folder of files, but no "
            "declaration for them. Pass it too."
        )
    if runtime.tables and not (runtime.sessions or runtime.statements or runtime.environment):
        raise ConfigError(
            "tables alone do not make a release: add sessions, statements or an environment, or "
            "anonymize the tables with `benchmint privacy perturb`."
        )


def _require_public(recipe: Recipe, runtime: Runtime) -> None:
    """Raise ConfigError for statements that are not public: questions release their values."""
    lane = recipe.questions
    for name, given, disclosure in (
        ("sec", runtime.sec, lane.sec.disclosure),
        ("edinet", runtime.edinet, lane.edinet.disclosure),
        ("xbrl", runtime.xbrl, lane.xbrl.disclosure),
    ):
        if given and disclosure is not Disclosure.PUBLIC:
            raise ConfigError(
                f"[questions.{name}] disclosure: found {disclosure}; expected public, because "
                "the lane releases its statements. Anonymize others with `benchmint privacy "
                "perturb`."
            )


def _require_installed(runtime: Runtime) -> None:
    """Raise MissingPackageError where the input needs an extra, before anything is started.

    Sessions are masked, signals are embedded, and the demo has both.
    """
    others = runtime.statements or runtime.environment
    if runtime.sessions or runtime.signals or not others:
        require_extra("masking")


def _require_readable(recipe: Recipe, runtime: Runtime) -> None:
    """Raise InputError for paths without what they are given for: stages find it only later."""

    from construction.analytics.environment.declaration import read_declaration
    from construction.signals.mixture import dated_files
    from construction.statements.database import Sources
    from flows.environments import source_digests

    Sources(runtime.sec, runtime.edinet, runtime.xbrl).require(recipe.questions.sec)
    dated_files(runtime.signals)
    if runtime.environment is not None:
        declaration = read_declaration(runtime.environment)
        source_digests(declaration, runtime.environment_files or runtime.environment.parent)


def _require_own_sources(runtime: Runtime) -> None:
    """Raise ConfigError for a file that serves both questions and analytics (law 9)."""

    from construction.analytics.environment.declaration import read_declaration
    from construction.statements.database import Sources
    from flows.environments import refuse_shared, source_digests

    if runtime.environment is None or not runtime.statements:
        return
    declaration = read_declaration(runtime.environment)
    root = runtime.environment_files or runtime.environment.parent
    questions = Sources(runtime.sec, runtime.edinet, runtime.xbrl).digests()
    refuse_shared(source_digests(declaration, root), questions)


def _is_anonymized(runtime: Runtime) -> bool:
    """Is any file of the environment, if there is one, anonymized rather than public?"""

    from construction.analytics.environment.declaration import read_declaration

    if runtime.environment is None:
        return False
    files = read_declaration(runtime.environment).files.values()
    return any(file.disclosure is not Disclosure.PUBLIC for file in files)


Source = Callable[[Recipe, Runtime], tuple[Recipe, Runtime, PrivacyStamp]]


def with_snapshots(recipe: Recipe, runtime: Runtime) -> Runtime:
    """The runtime with the files of each folder of snapshots: of captures, each day's last."""
    from construction.signals.collect import snapshot_files

    files = snapshot_files(runtime.signals, recipe.signals.source)
    return runtime.model_copy(update={"signals": tuple(dict.fromkeys(files))})


def with_signals(recipe: Recipe, runtime: Runtime) -> tuple[Recipe, Runtime, PrivacyStamp]:
    """As `with_source`, for a build from popularity snapshots alone; without any, the demo's."""
    runtime = with_snapshots(recipe, runtime)
    if runtime.signals:
        require_apart(runtime.signals, runtime.out)
        require_there(runtime.signals)
        require_extra("masking")  # signals are embedded
        return recipe, runtime, PrivacyStamp.PUBLIC
    recipe, demo, privacy = with_source(recipe, runtime)
    return recipe, runtime.model_copy(update={"signals": demo.signals}), privacy


def with_source(recipe: Recipe, runtime: Runtime) -> tuple[Recipe, Runtime, PrivacyStamp]:
    """Recipe and runtime with their input, and what may be said about its privacy.

    Without sessions and statements the demo workspace is generated once, and its own configuration
    applies wherever the recipe says nothing. A demo that somebody changed is material like other.
    """
    runtime = with_snapshots(recipe, runtime)
    require_input(runtime)
    _require_installed(runtime)
    _require_public(recipe, runtime)
    _require_readable(recipe, runtime)
    _require_own_sources(runtime)
    if runtime.sessions:
        return recipe, runtime, PrivacyStamp.MASKED
    if runtime.statements or runtime.environment:
        is_private = bool(runtime.tables) or _is_anonymized(runtime)
        return recipe, runtime, PrivacyStamp.MASKED if is_private else PrivacyStamp.PUBLIC
    demo = demo_folder(recipe, runtime)
    if not (demo / CONFIG).is_file():
        generate(demo, recipe.demo.size, recipe.demo.seed)
    _require_of_this_version(demo, demo / ENVIRONMENT / DECLARATION)
    paths = {
        "sessions": (demo / "sessions",),
        "files": (demo / "files",),
        "signals": runtime.signals or tuple(sorted((demo / "signals").glob("*.csv"))),
        "sec": (demo / STATEMENTS / "sec",),
        "edinet": (demo / STATEMENTS / "edinet",),
        "tables": (demo / TABLES,),
        "environment": demo / ENVIRONMENT / DECLARATION,
        "tripwires": runtime.tripwires or demo / TRIPWIRES,
    }
    layered, runtime = _recipe_over(demo / CONFIG, recipe), runtime.model_copy(update=paths)
    if not is_untouched(demo):  # what somebody put in was not generated, and nothing was said of it
        return layered, runtime, PrivacyStamp.MASKED
    return *_judged_as_recorded(layered, runtime), PrivacyStamp.GENERATED


def _recipe_over(path: Path, recipe: Recipe) -> Recipe:
    """The configuration file `path` with what `recipe` was explicitly given on top."""
    values = {name: part for name, part in read_toml(path).items() if name in Recipe.model_fields}
    merge(values, recipe.model_dump(exclude_unset=True))
    return validated(Recipe, values, path)


def _judged_as_recorded(recipe: Recipe, runtime: Runtime) -> tuple[Recipe, Runtime]:
    """The demo with the replies that a model gave about it, unless judges are named."""
    model = recipe.judging.model
    if "name" in model.model_fields_set or recipe.judging.consensus.annotators:
        return recipe, runtime
    changes = {"name": RECORDED_MODEL, "stages": _RECORDED_STAGES, "unrecorded": "baseline"}
    model = model.model_copy(update=changes)
    judging = recipe.judging.model_copy(update={"model": model})
    calls = runtime.model_calls.model_copy(update={"mode": Mode.REPLAY, "recorded": REPLIES})
    return (
        recipe.model_copy(update={"judging": judging}),
        runtime.model_copy(update={"model_calls": calls}),
    )


def _require_of_this_version(demo: Path, declaration: Path) -> None:
    """Raise InputError if the demo's environment cannot be read: an earlier version may have
    written it, and it is kept for as long as it lies there."""
    from construction.analytics.environment.declaration import read_declaration

    try:
        read_declaration(declaration)
    except (ConfigError, InputError) as error:
        raise InputError(
            str(declaration),
            f"a demo from another version, or a modified one ({error})",
            "this version's demo",
            f"Move {demo.name} away; the next build recreates it.",
        ) from None
