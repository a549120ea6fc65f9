"""Where units are lost, and which gates lose the same ones."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Funnel and overlaps")


@app.cell
def _():
    import marimo as mo

    from notebooks.workspace import bars, listing, query, workspace

    return bars, listing, mo, query, workspace


@app.cell
def _(mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    funnel = query(out, "SELECT * EXCLUDE (run_id) FROM funnel ORDER BY step")
    units = funnel["unit"].unique(maintain_order=True).to_list()
    start = "instance" if "instance" in units else units[0]
    unit = mo.ui.dropdown(units, value=start, label="Unit")
    mo.vstack([mo.md("# Funnel and overlaps\nThe newest run, stage by stage."), unit])
    return funnel, out, unit


@app.cell
def _(bars, funnel, listing, mo, unit):
    steps = funnel.filter(funnel["unit"] == unit.value)
    drawn = [
        (
            row["stage"],
            float(row["passed"]),
            f"{row['passed']:,} of {row['n_in']:,}"
            + (f", {row['rejected']:,} rejected" if row["rejected"] else "")
            + (f", {row['errored']:,} errored" if row["errored"] else "")
            + (f", {row['not_chosen']:,} not chosen" if row["not_chosen"] else ""),
        )
        for row in steps.to_dicts()
    ]
    _bars = mo.Html(bars(drawn, f"What passed, by stage: {unit.value}"))
    mo.vstack([_bars, listing(funnel, "Nothing ran.")])
    return (steps,)


@app.cell
def _(listing, mo, out, query):
    reasons = query(
        out,
        """SELECT stage, unit, gate, reason, outcome, CAST(sum(n) AS BIGINT) AS units
           FROM rejections GROUP BY ALL ORDER BY units DESC, stage, reason""",
    )
    mo.vstack([mo.md("## Reasons"), listing(reasons, "Nothing was lost.")])
    return (reasons,)


@app.cell
def _(listing, mo, out, query):
    # A gate measures every item that reaches it, so an item can fail several.
    overlaps = query(out, "SELECT gate, other_gate, n FROM gate_overlaps")
    alone = query(
        out,
        """WITH failed AS (SELECT item_id, count(*) AS gates, min(gate) AS gate
                          FROM verdicts WHERE status = 'failed' GROUP BY item_id)
           SELECT v.gate, count(*) AS failed,
                  count(*) FILTER (failed.gates = 1) AS by_it_alone
           FROM verdicts v JOIN failed USING (item_id)
           WHERE v.status = 'failed' GROUP BY v.gate ORDER BY failed DESC, v.gate""",
    )
    mo.vstack(
        [
            mo.md("## Which gate rejects what no other would?"),
            listing(alone, "No gate failed anything."),
            mo.md("## Which fail the same items?"),
            listing(overlaps, "No item failed two gates."),
        ]
    )
    return alone, overlaps


if __name__ == "__main__":
    app.run()
