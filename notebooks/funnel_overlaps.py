"""Where units are lost, and which gates reject the same ones."""

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
    _text = (
        "# Funnel and overlaps\nThe newest run, stage by stage. A unit is whatever a stage "
        "decides about: files, then sessions, then the task instances in them. Choose a unit: "
        "each bar shows how many passed, so a sharp drop marks the stage where most are lost. "
        "Stages that derive new units have no rejections; selection stages leave units out "
        "without rejecting them."
    )
    mo.vstack([mo.md(_text), unit])
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
    _bars = mo.Html(bars(drawn, f"Passed, by stage: {unit.value}"))
    mo.vstack([_bars, listing(funnel, "Nothing ran.")])
    return (steps,)


@app.cell
def _(bars, listing, mo, out, query):
    reasons = query(
        out,
        """SELECT stage, unit, gate, reason, outcome, CAST(sum(n) AS BIGINT) AS units
           FROM rejections GROUP BY ALL ORDER BY units DESC, stage, reason""",
    )
    _gates = reasons.filter(reasons["gate"].is_not_null()).head(12)
    _rows = [(r["reason"], float(r["units"]), f"{r['units']:,}") for r in _gates.to_dicts()]
    _text = (
        "## Reasons\nThe chart shows the gates' twelve most common reasons. In the table, rows "
        "without a gate are units that readers could not use, such as a value that a later "
        "filing repeats. If a reason grows between two runs on the same sources, look at its "
        "units (notebook `rejection_audit`)."
    )
    mo.vstack(
        [
            mo.md(_text),
            mo.Html(bars(_rows, "Units by gate reason")),
            listing(reasons, "Nothing was lost."),
        ]
    )
    return (reasons,)


@app.cell
def _(bars, listing, mo, out, query):
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
    _rows = [
        (r["gate"], float(r["by_it_alone"]), f"{r['by_it_alone']} of {r['failed']}")
        for r in alone.to_dicts()
    ]
    mo.vstack(
        [
            mo.md(
                "## Which gate rejects items that no other gate would?\nA gate with a short bar "
                "could be relaxed without releasing much: other gates reject the same items. A "
                "long bar marks a gate on which the release depends, so its limit deserves the "
                "closest look."
            ),
            mo.Html(bars(_rows, "Failed only by this gate")),
            listing(alone, "No gate failed anything."),
            mo.md(
                "## Which gates fail the same items?\nTwo gates that always fail together may "
                "measure the same thing."
            ),
            listing(overlaps, "No item failed two gates."),
        ]
    )
    return alone, overlaps


if __name__ == "__main__":
    app.run()
