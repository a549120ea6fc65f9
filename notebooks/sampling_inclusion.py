"""How the questions were drawn: inclusion probabilities, and whether they add up."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Sampling and inclusion probabilities")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from notebooks.workspace import audit_file, bars, listing, query, workspace

    return audit_file, bars, listing, mo, pl, query, workspace


@app.cell
def _(audit_file, mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    report = audit_file(out, "selection.json").get("questions") or {}
    drawn = query(
        out,
        """SELECT "index", category, company_id, split_part(company_id, ':', 1) AS source,
                  period_type, pi_design, is_replacement
           FROM questions ORDER BY "index" """,
    )
    population = query(
        out, "SELECT CAST(sum(n_in) AS BIGINT) AS points FROM funnel WHERE stage = 'sample'"
    )["points"][0]
    mo.stop(drawn.is_empty(), mo.md("# Sampling\nNo questions were drawn."))
    mo.md(
        "# Sampling and inclusion probabilities\nQuestions about financial statements are drawn "
        "at random, not picked: each value has a known probability π of being asked about. "
        "Results on the questions can therefore be weighted back to all values, and this page "
        "checks that the numbers fit."
    )
    return drawn, out, population, report


@app.cell
def _(drawn, listing, mo, pl, population):
    # Horvitz and Thompson (1952): the sum of 1/π over a sample estimates what it was drawn from.
    inverse = 1 / drawn["pi_design"]
    estimate = inverse.sum()
    effective = estimate**2 / (inverse**2).sum()  # Kish (1965): Σw² in place of equal weights
    by_category = (
        drawn.group_by("category")
        .agg(
            questions=pl.len(),
            replacements=pl.col("is_replacement").sum(),
            companies=pl.col("company_id").n_unique(),
            least=pl.col("pi_design").min(),
            median=pl.col("pi_design").median(),
            most=pl.col("pi_design").max(),
            stands_for=(1 / pl.col("pi_design")).sum().round(0),
        )
        .sort("stands_for", "category", descending=[True, False])
    )
    mo.vstack(
        [
            mo.hstack(
                [
                    mo.stat(f"{drawn.height:,}", label="questions"),
                    mo.stat(f"{population:,}", label="points in the population"),
                    mo.stat(f"{estimate:,.0f}", label="points estimated from 1/π"),
                    mo.stat(f"{effective:.1f}", label="effective sample size"),
                ]
            ),
            mo.md(
                "The estimate should be close to the number of points in the population. It "
                "varies widely, since √log weights deliberately draw small companies and rare "
                "categories more often; questions that replace rejected points carry their own "
                "probability."
            ),
            mo.md(
                "### By category\n`stands_for` is the number of values that the questions in a "
                "category represent. A category with few questions and a large number there "
                "dominates a weighted mean: report it separately."
            ),
            listing(by_category, "None."),
        ]
    )
    return by_category, effective, estimate


@app.cell
def _(bars, drawn, mo, pl):
    decades = (
        drawn.select(decade=pl.col("pi_design").log10().floor().cast(pl.Int64))
        .group_by("decade")
        .len()
        .sort("decade")
    )
    _rows = [
        (f"1e{row['decade']} to 1e{row['decade'] + 1}", float(row["len"]), str(row["len"]))
        for row in decades.to_dicts()
    ]
    _text = (
        "### By probability\nThe bars are powers of ten. Questions at the low end carry large "
        "weights; if one bar contains nearly all questions, weighting changes little."
    )
    mo.vstack([mo.md(_text), mo.Html(bars(_rows, "Questions by inclusion probability"))])
    return (decades,)


@app.cell
def _(listing, mo, pl, report):
    response = pl.DataFrame(report.get("response", []))
    dampings = pl.DataFrame(report.get("dampings", []))
    mo.vstack(
        [
            mo.md(
                "## Response\nDrawn points that could not be asked about, by stratum; each was "
                "replaced from the same stratum. Where there were many, the questions represent "
                "only the points that can be asked about."
            ),
            listing(response, "Not reported."),
            mo.md("## Dampings\nHow strongly each weighting favours the largest series."),
            listing(dampings, "Not reported."),
        ]
    )
    return dampings, response


if __name__ == "__main__":
    app.run()
