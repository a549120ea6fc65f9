"""Why was this rejected? From the reasons to one unit, its measurements and its descent."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Rejection audit")


@app.cell
def _():
    import marimo as mo

    from notebooks.workspace import listing, query, workspace

    return listing, mo, query, workspace


@app.cell
def _(mo, query, workspace):
    out = workspace(mo.cli_args().get("out"))
    reasons = query(
        out,
        """SELECT stage, unit, gate, reason, outcome, CAST(sum(n) AS BIGINT) AS units
           FROM rejections GROUP BY ALL
           ORDER BY count(gate) = 0, units DESC, stage, unit, reason, outcome""",
    )
    chosen_reason = mo.ui.table(reasons, selection="single", initial_selection=[0])
    heading = mo.md("# Rejection audit\nChoose a reason; gates first, then what was not readable.")
    mo.stop(reasons.is_empty(), mo.md("# Rejection audit\nNothing was rejected."))
    mo.vstack([heading, chosen_reason])
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
        [mo.md("## Units\nThe first 10,000. Evidence is a pointer, never text."), chosen_unit]
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
    _parts = [mo.md("## The unit"), mo.plain_text(item)]
    _sections = [("Every gate's measurement", verdicts), ("Where it comes from and went", descent)]
    for _title, _frame in _sections:
        _parts += [mo.md(f"### {_title}"), listing(_frame, "None.")]
    _parts.append(
        mo.md("The text itself, for someone with access: `benchmint audit --instance ID --private`")
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
    _heading = mo.md("## Who failed narrowly\nBelow a least value; nearest first.")
    mo.vstack([_heading, listing(near, "None.")])
    return (near,)


if __name__ == "__main__":
    app.run()
