"""Is the release a fair picture of its pool? Families, constraints, and the pilots' order."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Selection quality")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from notebooks.workspace import audit_file, bars, listing, query, workspace

    return audit_file, bars, listing, mo, pl, query, workspace


@app.cell
def _(audit_file, mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    report = audit_file(out, "selection.json")
    pool = query(out, "SELECT * EXCLUDE (run_id) FROM selection ORDER BY task_id")
    chosen = pool.filter(pool["outcome"] == "chosen")
    mo.stop(pool.is_empty(), mo.md("# Selection quality\nThere were no candidates."))
    mo.vstack(
        [
            mo.md(
                "# Selection quality\nFrom all candidates that passed, the solver selects those "
                "that best fit the market's mixture, the quotas and the pilots. A distance of 0 "
                "from the bound means that no better selection exists under these constraints."
            ),
            mo.hstack(
                [
                    mo.stat(f"{chosen.height:,}", label="chosen"),
                    mo.stat(f"{pool.height:,}", label="candidates"),
                    mo.stat(str(report.get("status", "no report")), label="solver"),
                    mo.stat(str(report.get("gap", "-")), label="distance from the proven bound"),
                ]
            ),
        ]
    )
    return chosen, out, pool, report


@app.cell
def _(bars, chosen, listing, mo, pl, pool, report):
    market = report.get("family_weights") or {}
    held = dict(chosen.group_by("task_family").len().iter_rows())
    there = dict(pool.group_by("task_family").len().iter_rows())
    families = pl.DataFrame(
        [
            {
                "family": family or "(none)",
                "market": market.get(family),
                "pool": there.get(family, 0),
                "chosen": held.get(family, 0),
                "share": held.get(family, 0) / max(chosen.height, 1),
            }
            for family in sorted({*market, *there}, key=lambda name: name or "")
        ],
        schema={"family": str, "market": float, "pool": int, "chosen": int, "share": float},
    ).sort("share", "family", descending=[True, False])
    # Half the sum of differences: the share of the release that would have to change.
    off = 0.5 * sum(abs((row["market"] or 0.0) - row["share"]) for row in families.to_dicts())
    _rows = [
        (f, float(n), f"{n} of {p}") for f, n, p in families["family", "chosen", "pool"].rows()
    ]
    mo.vstack(
        [
            mo.md(
                "## Families\nHow many candidates were selected from each family. A family from "
                "which all were selected is in short supply in the pool: more material of this "
                "kind would change the release."
            ),
            mo.Html(bars(_rows, "Selected, by task family")),
            mo.md(f"Distance from the market's mixture: {off:.1%} of the release.")
            if market
            else mo.md("There was no mixture to follow."),
            listing(families, "None."),
        ]
    )
    return families, off


@app.cell
def _(listing, mo, pl, report):
    constraints = pl.DataFrame(report.get("rows", []), infer_schema_length=None, strict=False)
    if constraints.height:
        bounds = pl.col("low"), pl.col("high")
        binding = pl.any_horizontal(pl.col("value").eq_missing(bound) for bound in bounds)
        constraints = constraints.select(
            "kind", "name", "low", "high", "value", "excess", "price", binding=binding
        ).sort("excess", "binding", "kind", "name", descending=[True, True, False, False])
    lite = pl.DataFrame(
        [
            {"margin": row["name"], "distance": row["distance"]}
            for row in (report.get("lite") or {}).get("margins", [])
        ]
    )
    mo.vstack(
        [
            mo.md(
                "## Constraints\nConstraints that were exceeded at a price come first, then "
                "those at their bound. `price` is the cost of one unit of excess; a bound that "
                "is not binding could be dropped without any effect."
            ),
            listing(constraints, "There were no constraints."),
            mo.md("## Subset for manual audit\nIts distance from the release, by margin."),
            listing(lite, "No subset was drawn."),
        ]
    )
    return constraints, lite


@app.cell
def _(listing, mo, out, pl, query):
    pilots = query(
        out,
        """SELECT s.model, count(*) FILTER (c.outcome = 'chosen') AS chosen_tasks,
                  avg(s.score) FILTER (c.outcome = 'chosen') AS on_chosen,
                  avg(s.score) AS on_pool
           FROM scores s JOIN candidates c USING (task_id)
           WHERE s.score IS NOT NULL GROUP BY s.model ORDER BY on_pool DESC, s.model""",
    )
    agreement = None
    if pilots.height > 1:
        agreement = pilots.select(
            pl.corr(pl.col("on_chosen"), pl.col("on_pool"), method="spearman")
        ).item()
    _parts = [
        mo.md(
            "## Pilots\nDo the selected tasks rank the models as the pool does? If so, the "
            "smaller set can stand in for the larger one; a correlation over a few models proves "
            "little."
        )
    ]
    if pilots.is_empty():
        _parts.append(mo.md("There are no pilot scores."))
    else:
        _parts += [listing(pilots, "None."), mo.md(f"Spearman correlation: {agreement}")]
    mo.vstack(_parts)
    return agreement, pilots


if __name__ == "__main__":
    app.run()
