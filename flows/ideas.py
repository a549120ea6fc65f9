"""Candidate ideas for the seed ideas of a mixture, by the model of the recipe or by rules.

Prefect is not needed here: the flow wraps this stage as a task, `benchmint signals` calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from construction.judging.judge import JudgingConfig, ModelStage, client_config
from construction.judging.model.contracts import Asker
from construction.judging.model.ideas import propose_ideas
from construction.judging.model.prefilters import PREFILTER, STAGE, Proposed
from construction.judging.model_calls import cost_rows, require_answers, write_model_use
from construction.judging.rules.ideas import suggest_ideas
from construction.signals.seeds import SeedIdea
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Lane, LedgerRow, Outcome, Scalar
from data.errors import InputError
from data.releases import previous_release
from data.snapshot import layout
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    ledger_record,
    lineage_record,
    tally_records,
    write_table,
)
from flows.model_calls import client_of
from flows.recipe import Recipe, Runtime

IDEAS_FILE = "ideas.jsonl"
_LARGEST = 512 << 20  # bytes of a task list
_SEEDS = TypeAdapter(tuple[SeedIdea, ...])


@dataclass(frozen=True, slots=True)
class Suggested:
    """Ideas with their judge, what it cost, and the digest of its replies by input name."""

    proposed: Proposed
    judge: str
    costs: Sequence[Mapping[str, Scalar]] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


def seeds_of(report: Mapping[str, Any]) -> tuple[SeedIdea, ...]:
    """The seed ideas of a mixture's report."""
    return _SEEDS.validate_python(report["seeds"])


def known_prompts(recipe: Recipe, runtime: Runtime) -> list[str]:
    """The prompts of the last release but for its questions: ideas repeat none of them."""
    release = recipe.release
    snapshots = runtime.out / "snapshots"
    last = runtime.last_release or previous_release(snapshots, release.name, release.release_date)
    if last is None:
        return []
    path = layout.halves(last)[0] / layout.TASK_LIST
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            raise OSError
        told = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        return [str(one["prompt"]) for one in told if one["lane"] != Lane.QUESTIONS]
    except (OSError, ValueError, KeyError, TypeError):
        found, todo = "no list of tasks", "Run `benchmint verify` on it."
        raise InputError(str(last), found, "a release of this project", todo) from None


def have_ideas(
    seeds: Sequence[SeedIdea], known: Sequence[str], recipe: Recipe, runtime: Runtime
) -> Suggested:
    """5 to 8 ideas per seed, sifted.

    Raises ReleaseError where the model was not asked, or not heard, about some seed.
    """
    config = recipe.judging
    judge = config.model.judge_of(ModelStage.CANDIDATE_IDEAS)
    if not config.model.does(ModelStage.CANDIDATE_IDEAS):
        return Suggested(suggest_ideas(seeds, config.model_stages, known), judge)
    asked = client_config(config.model, runtime.model_calls)
    with client_of(recipe, runtime, masked=True) as client:  # what registries publish is public
        proposed = _asked(seeds, client, config, known)
        inputs = {"model-replies-ideas": client.replies_digest()}
    costs = cost_rows(asked, {STAGE: proposed.judged})
    return Suggested(proposed, judge, costs, inputs)


def _asked(
    seeds: Sequence[SeedIdea], client: Asker, config: JudgingConfig, known: Sequence[str]
) -> Proposed:
    proposed = propose_ideas(seeds, client, config.stage_settings, known)
    require_answers(list(proposed.judged))
    return proposed


def write_ideas(had: Suggested, out: Path) -> None:
    """The ideas that passed, a line each, and the books of both stages."""
    proposed = had.proposed
    rows = [asdict(idea) | {"judge": had.judge} for idea in proposed.ideas]
    write_bytes(out / IDEAS_FILE, b"".join(canonical_json(row) + b"\n" for row in rows))
    write_table(out / "ledger.parquet", map(ledger_record, proposed.ledger), LEDGER)
    write_table(out / "lineage_rows.parquet", map(lineage_record, proposed.lineage), LINEAGE)
    records = [record for tally in proposed.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", records, TALLIES)
    write_model_use(out, had.costs, had.inputs)


def summary(had: Suggested) -> str:
    """One line: how many ideas there are, whose, and why others were left out."""
    ledger: Sequence[LedgerRow] = had.proposed.ledger
    left = Counter(str(row.reason) for row in ledger if row.outcome is Outcome.REJECTED)
    lost = sum(row.outcome is Outcome.ERRORED for row in ledger)
    tried = sum(row.stage == PREFILTER for row in ledger)
    told = ", ".join(f"{reason} {n}" for reason, n in sorted(left.items()))
    line = f"{len(had.proposed.ideas)} of {tried} candidate ideas passed (judge: {had.judge})"
    without = f"; {lost} seeds without ideas" if lost else ""
    return f"{line}{f': {told}' if told else ''}{without}"
