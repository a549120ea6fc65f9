"""`manifest.json`: the origin, settings and counts of a snapshot. Deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.canonical import digest
from data.contracts import Candidate, Count
from data.errors import ReleaseError
from data.neutralise import storable_tree
from data.snapshot import layout
from data.snapshot.release import Authorization, GradingFacts, PrivacyStamp, Release
from data.snapshot.tasks import stored_fixtures

if TYPE_CHECKING:
    from data.snapshot.ledger import LedgerCounts

_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Counts(_Closed):
    """Totals that the files of the snapshot must match."""

    tasks: Count
    fixtures: Count
    fixture_bytes: Count
    ledger_rows: Count
    verdicts: Count
    lineage_rows: Count


class Manifest(_Closed):
    """The manifest. The file sorts its keys, whatever the field order here."""

    schema_version: Literal["1"] = "1"
    snapshot: str
    name: str
    released: date
    revision: Annotated[int, Field(ge=1)]
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    canary: str
    privacy: PrivacyStamp
    authorization: Authorization
    licence: str | None
    recipe: dict[str, Any]
    recipe_digest: _Sha256
    inputs: dict[str, _Sha256]
    code_version: str
    lock_digest: _Sha256
    architecture: str
    release_key_digest: _Sha256
    seed: int
    grading: GradingFacts | None = None
    counts: Counts


def _recipe_digest(release: Release) -> str:
    """SHA-256 over the canonical JSON of the recipe as the manifest stores it."""
    return digest(storable_tree(dict(release.build.recipe)))


def tried_in_sandbox(manifest: Manifest) -> str | None:
    """How many tasks were run in a sandbox before the release, and why the others were not."""
    if manifest.grading is None:
        return None
    tasks, verified = manifest.counts.tasks, manifest.grading.verified
    if manifest.recipe.get("preflight", {}).get("sandbox", "off") == "off":
        return "no: the recipe does not enable it (`[preflight] sandbox`)"
    rest = f"; no sandbox worked for the other {tasks - verified}" if verified < tasks else ""
    return f"{verified} of {tasks}, without a fault{rest}"


def build(release: Release, revision: int, ledger: LedgerCounts) -> Manifest:
    """The manifest of `release`. Raises ReleaseError naming the invalid fields."""
    facts = release.build
    snapshot = layout.snapshot_id(release.name, release.released, revision)
    recipe = _recipe_digest(release)
    try:
        return Manifest(
            snapshot=snapshot,
            name=release.name,
            released=release.released,
            revision=revision,
            version=release.version or f"{release.released:%Y%m%d}.{revision - 1}.0",
            canary=layout.canary(snapshot, recipe),
            privacy=release.privacy,
            authorization=release.authorization,
            licence=release.card.licence,
            recipe=storable_tree(dict(facts.recipe)),
            recipe_digest=recipe,
            inputs=dict(facts.inputs),
            code_version=facts.code_version,
            lock_digest=facts.lock_digest,
            architecture=facts.architecture,
            release_key_digest=facts.release_key_digest,
            seed=facts.seed,
            grading=release.grading,
            counts=_counts(release.candidates, ledger.heights()),
        )
    except ValidationError as error:
        raise ReleaseError(f"the manifest cannot be written: {fields_of(error)}.") from error


def fields_of(error: ValidationError) -> str:
    """Which fields failed and why, without their values."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [".".join(map(str, item["loc"])) + ": " + item["msg"] for item in problems[:5]]
    more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
    return "; ".join(shown) + more


def _counts(candidates: Sequence[Candidate], heights: Mapping[str, int]) -> Counts:
    fixtures = stored_fixtures(candidates)
    return Counts(
        tasks=len(candidates),
        fixtures=len(fixtures),
        fixture_bytes=sum(fixture.bytes for fixture in fixtures),
        ledger_rows=heights[layout.LEDGER_TABLE],
        verdicts=heights[layout.VERDICTS_TABLE],
        lineage_rows=heights[layout.LINEAGE_TABLE],
    )
