"""Candidate ideas with what recipe and runtime name: the model, and the last release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from construction.judging.candidate_ideas import (
    CandidateIdeas,
    candidate_ideas,
    prompts_of_release,
)
from construction.judging.judge import ModelStage, client_config
from construction.judging.model.asking import cost_rows
from construction.judging.prefilters import STAGE
from construction.signals.seeds import SeedIdea
from data.releases import previous_release
from flows.model_calls import client_of
from flows.recipe import Recipe, Runtime


def known_prompts(recipe: Recipe, runtime: Runtime) -> list[str]:
    """The prompts of the last release except its questions: ideas must not repeat them."""
    release = recipe.release
    snapshots = runtime.out / "snapshots"
    last = runtime.last_release or previous_release(snapshots, release.name, release.release_date)
    return prompts_of_release(last) if last is not None else []


def have_ideas(
    seeds: Sequence[SeedIdea], known: Sequence[str], recipe: Recipe, runtime: Runtime
) -> CandidateIdeas:
    """5 to 8 ideas per seed, sifted; with what a model cost, and the digest of its replies.

    Raises ReleaseError where the model gave no reply about some seed.
    """
    config = recipe.judging
    if not config.model.does(ModelStage.CANDIDATE_IDEAS):
        return candidate_ideas(seeds, known, config, None)
    with client_of(recipe, runtime, masked=True) as client:  # what registries publish is public
        ideas = candidate_ideas(seeds, known, config, client)
        replies = {"model-replies-ideas": client.replies_digest()}
    asked_with = client_config(config.model, runtime.model_calls)
    costs = cost_rows(asked_with, {STAGE: ideas.proposed.judged})
    return replace(ideas, costs=costs, replies=replies)
