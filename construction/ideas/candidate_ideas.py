"""The candidate ideas of a mixture: made by a model or by rules, filtered, and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from pydantic import TypeAdapter

from construction.ideas.by_model import propose_ideas
from construction.ideas.by_rules import suggest_ideas
from construction.ideas.prefilters import PREFILTER, STAGE, Proposed
from construction.judging.model.asking import Costs, require_answers, write_model_use
from construction.judging.settings import Judges, ModelStage
from construction.signals.seeds import SeedIdea
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Lane, Outcome
from data.errors import InputError
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

IDEAS_FILE = "ideas.jsonl"
_LARGEST = 512 << 20  # bytes of a task list
_SEEDS = TypeAdapter(tuple[SeedIdea, ...])


@dataclass(frozen=True, slots=True)
class CandidateIdeas:
    """Ideas and who made them (`judge`), what the model cost, digests of its replies by name."""

    proposed: Proposed
    judge: str
    costs: Costs = ()
    replies: Mapping[str, str] = field(default_factory=dict)


def seeds_of(report: Mapping[str, Any]) -> tuple[SeedIdea, ...]:
    """The seed ideas of a mixture's report."""
    return _SEEDS.validate_python(report["seeds"])


def prompts_of_release(release: Path | None) -> list[str]:
    """The prompts of a release except its questions: ideas must not repeat them.

    Raises InputError if the folder holds no list of tasks.
    """
    if release is None:
        return []
    path = layout.halves(release)[0] / layout.TASK_LIST
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            raise OSError
        tasks = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        return [str(task["prompt"]) for task in tasks if task["lane"] != Lane.QUESTIONS]
    except (OSError, ValueError, KeyError, TypeError):
        problem, todo = "no list of tasks", "Run `benchmint verify` on it."
        raise InputError(str(release), problem, "a release of this project", todo) from None


def candidate_ideas(
    seeds: Sequence[SeedIdea], known: Sequence[str], judges: Judges
) -> CandidateIdeas:
    """5 to 8 ideas per seed, filtered: by the model where it is asked for, else by the rules.

    `known` are prompts that no idea may repeat. Raises ReleaseError where the model gave no reply
    about some seed.
    """
    config = judges.config
    judge = config.model.judge_of(ModelStage.CANDIDATE_IDEAS)
    if not config.model.does(ModelStage.CANDIDATE_IDEAS):
        return CandidateIdeas(suggest_ideas(seeds, config.model_stages, known), judge)
    with judges.client(masked=True) as client:  # what registries publish is public
        settings = config.stage_settings(ModelStage.CANDIDATE_IDEAS)
        proposed = propose_ideas(seeds, client, settings, known)
        require_answers(list(proposed.judged))
        replies = {"model-replies-ideas": client.replies_digest()}
    return CandidateIdeas(proposed, judge, judges.costs({STAGE: proposed.judged}), replies)


def write_ideas(ideas: CandidateIdeas, out: Path) -> None:
    """Write the ideas that passed, one per line, and the stage tables of seeds and ideas."""
    proposed = ideas.proposed
    rows = [asdict(idea) | {"judge": ideas.judge} for idea in proposed.ideas]
    write_bytes(out / IDEAS_FILE, b"".join(canonical_json(row) + b"\n" for row in rows))
    write_table(out / "ledger.parquet", map(ledger_record, proposed.ledger), LEDGER)
    write_table(out / "lineage_rows.parquet", map(lineage_record, proposed.lineage), LINEAGE)
    records = [record for tally in proposed.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", records, TALLIES)
    write_model_use(out, ideas.costs, ideas.replies)


def replace_ideas(ideas: CandidateIdeas, folder: Path) -> None:
    """Put the ideas and their tables in the place of those of an earlier run, file by file.

    Nothing else in the folder is touched: it may be the user's own.
    """
    with TemporaryDirectory(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent) as part:
        write_ideas(ideas, Path(part))
        folder.mkdir(exist_ok=True)
        for made in sorted(Path(part).iterdir()):
            made.replace(folder / made.name)


def summary(ideas: CandidateIdeas) -> str:
    """One line: how many ideas passed, whose they are, and why others were left out."""
    ledger = ideas.proposed.ledger
    reasons = Counter(str(row.reason) for row in ledger if row.outcome is Outcome.REJECTED)
    errored = sum(row.outcome is Outcome.ERRORED for row in ledger)
    tried = sum(row.stage == PREFILTER for row in ledger)
    passed = f"{len(ideas.proposed.ideas)} of {tried} candidate ideas passed"
    why = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
    without = f"; {errored} seeds without ideas" if errored else ""
    return f"{passed} (judge: {ideas.judge}){f': {why}' if why else ''}{without}"
