"""The stages of the signals lane: what people install, and candidate ideas for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from construction.judging.candidate_ideas import IDEAS_FILE, seeds_of, write_ideas
from construction.judging.judge import ModelStage
from construction.judging.model.prompt import load_prompt
from construction.signals.chart import STYLE
from construction.signals.mixture import CHART, INLINE, REPORT, dated_files, write_mixture
from data.canonical import file_digest
from data.contracts import StageKind
from data.snapshot import Picture
from flows.ideas import have_ideas, known_prompts
from flows.model_calls import judges_of
from flows.run import Run
from flows.stage import Observed, Stage, Unit, Work

_PUBLIC = (
    *("source", "date", "snapshot_digest", "codebook_digest", "crosswalk_digest", "signals"),
    *("measure", "counting", "total_mass", "uncategorized_share", "meta_share"),
    *("families", "task_weights", "unmapped", "change"),
)
_PUBLIC_IDEA = ("idea_id", "seed", "task_family", "title", "artifact", "graded", "minutes", "judge")


def is_given(run: Run) -> bool:
    """Are there snapshots of what people install?"""
    return bool(run.runtime.signals)


def _snapshots(work: Work) -> dict[str, str]:
    dated = dated_files(work.run.runtime.signals)
    return {f"signals-{date}": file_digest(path) for date, path in dated}


def _analyse(work: Work, out: Path) -> None:
    run = work.run
    dated = dated_files(run.runtime.signals)
    write_mixture(run.recipe.signals, run.out / "signals", dated, out, quiet=run.runtime.quiet)


SIGNALS = Stage(
    name="signals",
    meaning="What do people install, and how much weight has each family?",
    units=(
        Unit("row", StageKind.FILTER, "signals.collect"),
        Unit("signal", StageKind.CHOOSE, "signals.top"),
    ),
    settings=("signals",),
    inputs=_snapshots,
    compute=_analyse,
)


def _known_prompts(work: Work) -> Observed:
    prompts = known_prompts(work.run.recipe, work.run.runtime)
    judges = judges_of(work.run.recipe.judging, ModelStage.CANDIDATE_IDEAS)
    return Observed([prompts, load_prompt("ideas").digest, judges], prompts)


def _suggest(work: Work, out: Path) -> None:
    seeds, run = seeds_of(mixture_report(work.folder(SIGNALS.name))), work.run
    write_ideas(have_ideas(seeds, work.observed, run.recipe, run.runtime), out)


CANDIDATE_IDEAS = Stage(
    name="candidate_ideas",
    meaning="Which tasks would serve what people install?",
    units=(Unit("seed", StageKind.DERIVE), Unit("idea", StageKind.FILTER, "idea_prefilter")),
    settings=("judging.model_stages",),
    reads=(SIGNALS.name,),
    observe=_known_prompts,
    compute=_suggest,
)


def mixture_report(folder: Path) -> dict[str, Any]:
    """The figures of the newest snapshot."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report


def task_weights(signals: Sequence[Path]) -> Mapping[str, float]:
    """Weights by task family (sum 1); none without the signals lane."""
    weights: Mapping[str, float] = mixture_report(signals[0])["task_weights"] if signals else {}
    return weights


def public_mixture(signals: Path, ideas: Path) -> dict[str, Any]:
    """What a release says of the mixture: figures by family and pattern, no skill by name."""
    report = mixture_report(signals)
    lines = (ideas / IDEAS_FILE).read_bytes().splitlines()
    return {
        **{name: report[name] for name in _PUBLIC},
        "patterns": [_without(row, "heaviest") for row in report["patterns"]],
        "seeds": [_without(row, "signals") for row in report["seeds"]],
        "ideas": [{k: idea[k] for k in _PUBLIC_IDEA} for idea in map(orjson.loads, lines)],
    }


def mixture_picture(signals: Path) -> Picture:
    """The chart of the mixture."""
    inline, standalone = ((signals / name).read_text("utf-8") for name in (INLINE, CHART))
    return Picture("Mixture", inline, standalone, STYLE)


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}
