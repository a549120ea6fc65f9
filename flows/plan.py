"""What a build would compute, and why, without computing it (`benchmint build --dry-run`).

The flows themselves are walked, over a store that computes nothing: a stage whose key is there is
read on, and at the first one that is not its lane ends; what follows is known only once that has
run. They see a copy of what they would write to, in a folder that is removed; no server is
started, no address probed and no model asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TypeVar

from anonymization.leaks.candidate_leaks import STAGE as CHECK
from anonymization.session_masking import STAGE as MASK
from anonymization.tables.release_tables import ANONYMIZE
from anonymization.tables.table_files import FIND
from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.model.phrasing import STAGE as PHRASE
from construction.judging.model.prefilters import STAGE as IDEAS
from construction.sessions.network.reach import STAGE as NETWORK
from construction.sessions.network.transport import Wire
from construction.sessions.packaging.candidates import STAGE as PACKAGE
from construction.signals.mixture import MixtureRef
from data.errors import BenchmintError, ReleaseError
from data.run_store import RunStore, StageOutput
from data.stage_key import StageKey
from flows.anonymize_tables import anonymize_tables
from flows.judging_stages import LABELS
from flows.lanes import LanePool, joined
from flows.plan_aside import aside
from flows.plan_reasons import reason
from flows.prefect_adapter import without_prefect
from flows.questions import ASK, READ
from flows.recipe import Recipe, Runtime
from flows.run import PLANNED, Planned, code_version, open_run
from flows.select_subset import STAGE as SELECT
from flows.select_subset import select_subset
from flows.sessions_to_tasks import sessions_to_tasks
from flows.signals_to_mixture import signals_to_mixture
from flows.source import with_source
from flows.table_release import JUDGE
from flows.tables_to_questions import tables_to_questions

T = TypeVar("T")
SESSIONS = ("scan", "recover", "distinct", NETWORK, MASK, PACKAGE, CONTAINMENT, LABELS, CHECK)
LANES: Mapping[str, Sequence[str]] = {
    "signals": ("signals", IDEAS),
    "tables": (FIND, ANONYMIZE, JUDGE),
    "sessions": SESSIONS,
    "questions": (READ, ASK, PHRASE),
    "selection": (SELECT,),
}
# These write books of what is known without them: cheap, so they are written aside and the lane
# goes on.
_BOOKS = frozenset({"scan", FIND, JUDGE, "distinct", NETWORK})


class Would(StrEnum):
    """What a build would do with a stage."""

    REUSE = "reuse"
    RUN = "run"
    FOLLOW = "follow"  # a stage before it runs: reused only if that comes out as before


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage of one lane: how many outputs it has (shards), how many are there, and why not."""

    lane: str
    stage: str
    would: Would
    outputs: int
    there: int
    why: str


class NotThere(BenchmintError):
    """A lane ends here: the stage would run, for a reason beyond its key if one is given."""

    def __init__(self, stage: str, why: str = "") -> None:
        super().__init__(stage, why)
        self.stage, self.why = stage, why


@dataclass(frozen=True, slots=True)
class PlanStore(RunStore):
    """A store that notes what it is asked for and computes nothing but books, aside."""

    books: Path
    keys: dict[str, list[StageKey]] = field(default_factory=dict)

    def key(self, stage: str, *parts: Any, **named: Any) -> StageKey:
        """The key as ever, noted."""
        key = RunStore.key(self, stage, *parts, **named)
        self.keys.setdefault(stage, []).append(key)
        return key

    def run(self, stage: str, key: str, compute: Callable[[Path], None]) -> StageOutput:
        """The output that is there. Raises NotThere where there is none."""
        target = self.path(stage, key)
        if self.is_done(stage, key):
            return StageOutput(stage, target, cached=True)
        if stage in _BOOKS:
            return RunStore(self.books, self.code_version).run(stage, key, compute)
        raise NotThere(stage)


@dataclass(slots=True)
class _Walk:
    """A walk over the lanes: what was found, and whether any of them ended early."""

    store: PlanStore
    recipe: Recipe
    key_id: str
    found: list[PlannedStage] = field(default_factory=list)
    ended: bool = False

    def lane(self, name: str, flow: Callable[[], T]) -> T | None:
        """The flow's value, or None where it ends before; its stages are noted either way."""
        before, value, end = set(self.store.keys), None, None
        try:
            value = flow()
        except NotThere as missing:
            end = missing
        except ReleaseError:
            # Replies are only replayed here: a model that is not asked has not answered.
            if not self.recipe.judging.model.name or name == "tables":
                raise
            end = NotThere("", "the model has not answered all questions")
        seen = [stage for stage in self.store.keys if stage not in before]
        if seen or end is not None:
            self._note(name, list(dict.fromkeys([*LANES[name], *seen])), end)
        self.ended = self.ended or end is not None
        return value

    def follow(self, name: str) -> None:
        """A lane that cannot be walked, since one that it needs has ended early."""
        self.found += [PlannedStage(name, s, Would.FOLLOW, 0, 0, "") for s in LANES[name]]

    def _note(self, lane: str, stages: Sequence[str], end: NotThere | None) -> None:
        for stage in stages:
            keys = list(dict.fromkeys(self.store.keys.get(stage, ())))
            missing = [key for key in keys if not self.store.path(stage, key).is_dir()]
            if keys:
                would = Would.RUN if missing else Would.REUSE
                why = reason(self.store.root, stage, missing[0], self.key_id) if missing else ""
            elif end is None:
                continue  # nothing to do there
            elif end.why and (end.stage or stage) == stage:
                would, why = Would.RUN, end.why
                end = NotThere(stage)
            else:
                would, why = Would.FOLLOW, ""
            there = len(keys) - len(missing)
            self.found.append(PlannedStage(lane, stage, would, len(keys), there, why))


def plan_build(recipe: Recipe, runtime: Runtime) -> list[PlannedStage]:
    """The stages of a build in their order. Raises what a build would raise before it computes."""
    stages = runtime.out / "private" / "stages"
    with TemporaryDirectory(prefix="benchmint-plan-") as folder, without_prefect():
        scratch = Path(folder)
        recipe, given, _ = with_source(recipe, aside(recipe, runtime, scratch / "out"))
        store = PlanStore(stages, code_version(), scratch / "books")
        with _planning(store):
            return _walk(store, recipe, given)


@contextmanager
def _planning(store: PlanStore) -> Iterator[None]:
    token = PLANNED.set(Planned(store, Wire(resolve=_no_network, connect=_no_network)))
    try:
        yield
    finally:
        PLANNED.reset(token)


def _walk(store: PlanStore, recipe: Recipe, runtime: Runtime) -> list[PlannedStage]:
    walk = _Walk(store, recipe, open_run(recipe, runtime).key_id)
    mixture: MixtureRef | None = walk.lane("signals", lambda: signals_to_mixture(recipe, runtime))
    tables = walk.lane("tables", lambda: anonymize_tables(recipe, runtime))
    sessions = walk.lane("sessions", lambda: sessions_to_tasks(recipe, runtime))
    questions = walk.lane("questions", lambda: tables_to_questions(recipe, runtime))
    if walk.ended:
        walk.follow("selection")
        return walk.found
    lanes: list[LanePool | None] = [tables.lane if tables else None, sessions, questions]
    pool = joined([lane for lane in lanes if lane is not None]).candidates
    walk.lane("selection", lambda: select_subset(recipe, runtime, pool, mixture))
    return walk.found


async def _no_network(*_: Any) -> NoReturn:
    raise NotThere(NETWORK, "addresses have to be probed")
