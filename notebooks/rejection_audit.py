"""Why was this rejected? From the reasons to one unit, its measurements and its lineage."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Rejection audit")


@app.cell
def _():
    import marimo as mo

    from notebooks.workspace import bars, listing, query, workspace

    return bars, listing, mo, query, workspace


@app.cell
def _(bars, mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    reasons = query(
        out,
        """SELECT stage, unit, gate, reason, outcome, CAST(sum(n) AS BIGINT) AS units
           FROM rejections GROUP BY ALL
           ORDER BY count(gate) = 0, units DESC, stage, unit, reason, outcome""",
    )
    chosen_reason = mo.ui.table(reasons, selection="single", initial_selection=[0])
    heading = mo.md(
        "# Rejection audit\nWas this rejected for a good reason? Choose a reason in the table "
        "(gates first, then unreadable input), then a unit, and read what every gate measured "
        "for it. An honest audit draws units at random within a reason and does not stop at the "
        "first one."
    )
    _gates = reasons.filter(reasons["gate"].is_not_null()).head(12)
    _rows = [(r["reason"], float(r["units"]), f"{r['units']:,}") for r in _gates.to_dicts()]
    _picture = mo.Html(bars(_rows, "Units rejected by gates, by reason"))
    mo.stop(reasons.is_empty(), mo.md("# Rejection audit\nNothing was rejected."))
    mo.vstack([heading, _picture, chosen_reason])
    return chosen_reason, out, reasons


@app.cell
def _(chosen_reason, mo, out, query):
    mo.stop(chosen_reason.value.is_empty(), mo.md("Choose a reason above."))
    reason = chosen_reason.value.row(0, named=True)
    units = query(
        out,
        """SELECT item_id, observed, "limit", path, line, evidence, n FROM rejections
           WHERE stage = ? AND unit = ? AND reason IS NOT DISTINCT FROM ? AND outcome = ?
           ORDER BY item_id, path, line LIMIT 10000""",
        [reason["stage"], reason["unit"], reason["reason"], reason["outcome"]],
    )
    chosen_unit = mo.ui.table(units, selection="single", initial_selection=[0])
    mo.vstack(
        [
            mo.md(
                "## Units\nThe first 10,000 units. `observed` is the gate's measurement and "
                "`limit` the allowed value; evidence points to a file and line and never "
                "contains text."
            ),
            chosen_unit,
        ]
    )
    return chosen_unit, reason, units


@app.cell
def _(chosen_unit, listing, mo, out, query):
    mo.stop(chosen_unit.value.is_empty(), mo.md("Choose a unit above."))
    item = chosen_unit.value["item_id"][0]
    verdicts = query(
        out,
        """SELECT gate, status, reason, observed_text AS observed, limit_text AS "limit",
                  measures, blocked_by
           FROM verdicts WHERE item_id = ? ORDER BY rowid""",
        [item],
    )
    descent = query(
        out,
        """SELECT stage, parent_unit, parent, child_unit, child, why FROM lineage
           WHERE parent = ? OR child = ? ORDER BY ALL""",
        [item, item],
    )
    _parts = [
        mo.md(
            "## The unit\nThe first failed gate decides. The gates after it are measured anyway, "
            "unless they are `not_measured` because an earlier one blocks them."
        ),
        mo.plain_text(item),
    ]
    _sections = [("Measurements by every gate", verdicts), ("Lineage", descent)]
    for _title, _frame in _sections:
        _parts += [mo.md(f"### {_title}"), listing(_frame, "None.")]
    _parts.append(
        mo.md("For the text itself (access required): `benchmint audit --instance ID --private`")
    )
    mo.vstack(_parts)
    return descent, item, verdicts


@app.cell
def _(listing, mo, out, query):
    near = query(
        out,
        """SELECT gate, item_id, observed, "limit", round(observed / "limit", 3) AS share
           FROM verdicts WHERE status = 'failed' AND observed < "limit"
           ORDER BY share DESC, gate, item_id LIMIT 100""",
    )
    _heading = mo.md(
        "## Narrow failures\nUnits below a minimum, nearest first: at .95, the unit reached 95 % "
        "of the limit. If these read like good tasks, the limit is too strict; use the sliders "
        "of `benchmint audit --serve` to see what a different limit would let through."
    )
    mo.vstack([_heading, listing(near, "None.")])
    return (near,)


if __name__ == "__main__":
    app.run()
