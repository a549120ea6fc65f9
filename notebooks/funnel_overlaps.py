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
    _text = (
        "# Funnel and overlaps\nThe newest run, stage by stage. A unit is what a stage decides "
        "about: files, then sessions, then the task instances in them. Choose one: a bar is as "
        "long "
        "as the number that passed, so a step down in the picture is where most is lost. Stages "
        "that derive new units have no rejections; selection stages leave units out without "
        "rejecting them."
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
    _bars = mo.Html(bars(drawn, f"What passed, by stage: {unit.value}"))
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
        "## Reasons\nThe picture has the twelve commonest reasons of gates. In the table, rows "
        "without a gate are what readers could not use: a value that a later filing repeats, "
        "for example. A reason that grows between two runs of the same "
        "sources is worth a look at its units (notebook `rejection_audit`)."
    )
    mo.vstack(
        [
            mo.md(_text),
            mo.Html(bars(_rows, "Units by reason of a gate")),
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
                "## Which gate rejects what no other would?\nA gate with a short bar could be "
                "relaxed without releasing much: what it rejects, others reject too. A long bar is "
                "a gate on which the release depends, so its limit deserves the closest look."
            ),
            mo.Html(bars(_rows, "Failed by this gate alone")),
            listing(alone, "No gate failed anything."),
            mo.md(
                "## Which fail the same items?\nTwo gates that always fail together may measure "
                "the "
                "same thing."
            ),
            listing(overlaps, "No item failed two gates."),
        ]
    )
    return alone, overlaps


if __name__ == "__main__":
    app.run()
