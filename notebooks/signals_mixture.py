"""What people install, and the mixture derived from it: now, and over all known snapshots."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Signals and mixture")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from notebooks.workspace import audit_file, bars, lines, listing, query, workspace

    return audit_file, bars, lines, listing, mo, pl, query, workspace


@app.cell
def _(audit_file, mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    selection = audit_file(out, "selection.json")
    mixture, lacking = selection.get("mixture") or {}, selection.get("coverage_gap") or {}
    staged = query(
        out,
        """SELECT DISTINCT source, date, layer, family, weight FROM weights
           ORDER BY source, date, layer, family, weight""",
        every_run=True,
    )
    mo.stop(staged.is_empty(), mo.md("# Signals and mixture\nThere are no signals."))
    layer = mo.ui.dropdown(["signal", "task", "display"], value="signal", label="Families")
    _text = (
        "# Signals and mixture\nWhat people install shows what they use agents for. Skills are "
        "sorted into patterns, and patterns into families; the weight of a family is its share "
        "of installations. The release follows these weights as far as the pool allows."
    )
    mo.vstack([mo.md(_text), layer])
    return lacking, layer, mixture, out, staged


@app.cell
def _(layer, mixture, staged):
    # Weights of all kept runs, and of the snapshot before the newest, which the release tells.
    weights = {
        (str(row["date"]), row["family"]): row["weight"]
        for row in staged.to_dicts()
        if row["layer"] == layer.value
    }
    before = mixture.get("change") if layer.value == "signal" else None
    for _row in before["families"] if before else []:
        weights.setdefault((before["before"], _row["name"]), _row["before"])
    dates = sorted({date for date, _ in weights})
    families = sorted(
        {family for _, family in weights},
        key=lambda family: (-weights.get((dates[-1], family), 0.0), family),
    )
    return dates, families, weights


@app.cell
def _(bars, dates, families, lines, mo, weights):
    newest = [(family, weights.get((dates[-1], family), 0.0)) for family in families]
    series = {family: [weights.get((date, family)) for date in dates] for family in families[:6]}
    mo.vstack(
        [
            mo.Html(bars([(f, w, f"{w:.1%}") for f, w in newest], f"Market weight on {dates[-1]}")),
            mo.Html(lines(series, dates, "The six largest weights over time")),
            mo.md(
                "A weight that jumps between two dates more often reflects a change in the "
                "registry than in what people do: look at the family's patterns before you "
                "follow it."
            ),
        ]
    )
    return newest, series


@app.cell
def _(lacking, listing, mo, out, pl, query):
    gap = pl.DataFrame(
        [
            {
                "family": row["family"],
                "market_percent": 100 * row["weight"],
                "pool_percent": 100 * row["share"],
                "gap_points": row["gap"],
                "tasks": row["tasks"],
                "suggested": row["suggested"],
                "action": row["action"],
            }
            for row in lacking.get("rows", [])
        ]
    )
    patterns = query(
        out,
        """SELECT pattern, family, surface, benchmarkable, signals, round(mass) AS mass,
                  round(100 * weight, 2) AS weight_percent, ideas
           FROM patterns ORDER BY mass DESC, pattern""",
    )
    chosen = mo.ui.table(patterns, selection="single", initial_selection=[0])
    mo.vstack(
        [
            mo.md(
                "## What the pool lacks\nIn percentage points of the mixture; a positive gap "
                "means too few tasks. `suggested` is the family's number of tasks "
                "in a release of the requested size."
            ),
            listing(gap, "The newest release compares no pool with this mixture."),
            mo.md(
                "## Patterns\nChoose one to see its skills. Patterns that are not "
                "`benchmarkable` need a live account or a device; their mass is reported but not "
                "released."
            ),
            chosen,
        ]
    )
    return chosen, gap, patterns


@app.cell
def _(chosen, listing, mo, out, query):
    mo.stop(chosen.value.is_empty(), mo.md("Choose a pattern above."))
    skills = query(
        out,
        """SELECT p.slug, s.mass, round(p.share, 3) AS share, round(p.score, 3) AS score,
                  round(p.cues, 3) AS cues, round(p.similarity, 3) AS similarity, p.in_cluster
           FROM signal_patterns p JOIN signals s USING (source, date, slug)
           WHERE p.pattern = ? ORDER BY s.mass * p.share DESC, p.slug""",
        [chosen.value["pattern"][0]],
    )
    listing(skills, "None.")
    return (skills,)


if __name__ == "__main__":
    app.run()
