"""What anonymization costs and what it is worth: fidelity, attacks, and the settings tried."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Anonymization: fidelity and risk")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from anonymization.tables.privacy_report import (
        Dot,
        RateRow,
        Scatter,
        frontier_chart,
        rates_chart,
    )
    from data.neutralise import one_line
    from notebooks.workspace import audit_file, bars, listing, paragraph, query, workspace

    return (
        Dot, RateRow, Scatter, audit_file, bars, frontier_chart, listing, mo, one_line, paragraph,
        pl, query, rates_chart, workspace,
    )  # fmt: skip


@app.cell
def _(audit_file, mo, workspace):
    out = workspace(mo.cli_args().get("out"))
    privacy = audit_file(out, "privacy.json")
    masking = privacy.get("masking") or {}
    tables = (privacy.get("tables") or {}).get("tables") or {}
    mo.md(
        "# Anonymization: fidelity and risk\nFrom `audit/privacy.json` of the newest release. "
        "The more a table is changed, the less can be re-identified in it, and the less it is "
        "worth: this page shows where the release stands between the two, and what other "
        "settings would have given."
    )
    return masking, out, tables


@app.cell
def _(bars, listing, masking, mo, out, query):
    spans = query(
        out,
        """SELECT type, recognizer, count(*) AS spans, round(min(score), 2) AS least_sure
           FROM masked_spans GROUP BY ALL ORDER BY spans DESC, type, recognizer""",
    )
    counts = masking.get("spans", {})
    drawn = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    _parts = [
        mo.md(
            "## Masked text\nWhat was replaced in sessions and their files, by kind. "
            "`least_sure` is the lowest confidence in each kind: kinds with low values are those "
            "where ordinary words were taken for names. Values that no recognizer found are not "
            "listed; the leak scan and a human reader have to find those."
        )
    ]
    if masking:
        _rows = [(kind, float(n), f"{n:,}") for kind, n in drawn]
        _parts.append(mo.Html(bars(_rows, "Private values replaced, by kind")))
    _parts.append(listing(spans, "No session was masked."))
    mo.vstack(_parts)
    return counts, spans


@app.cell
def _(mo, one_line, tables):
    mo.stop(not tables, mo.md("## Tables\nThe release contains no anonymized tables."))
    names = {f"{at}. {one_line(name)}": name for at, name in enumerate(sorted(tables), 1)}
    picked = mo.ui.dropdown(names, value=next(iter(names)), label="Table")
    mo.vstack([mo.md("## Tables"), picked])
    return (picked,)


@app.cell
def _(listing, mo, paragraph, picked, pl, tables):
    table = tables[picked.value]
    fidelity = pl.DataFrame(table["fidelity"]["by_column"])
    fidelity = fidelity.select("column", "spearman", pl.exclude("column", "spearman"))
    mo.vstack(
        [
            mo.Html(paragraph(table["statement"])),
            mo.md(
                "### Fidelity\nThe distance of each released column from the original: a rank "
                "correlation near 1 means that the order of sizes is preserved, even where "
                "values moved."
            ),
            listing(fidelity, "Not measured."),
        ]
    )
    return fidelity, table


@app.cell
def _(RateRow, mo, picked, rates_chart, table):
    limits = {
        "one company": table["limits"]["one_company"],
        "whole industry": table["limits"]["whole_industry"],
        "history": table["limits"]["history"],
        "largest company": table["limits"]["largest"],
    }
    worst = {}
    for _attack in sorted(table["attacks"], key=lambda attack: attack["rate"]):
        if _attack["risk"] in limits and len(_attack["columns"]) <= table["limits"]["columns"]:
            worst[_attack["risk"]] = _attack
    rates = [
        RateRow(risk, f["rate"], f["ci_low"], f["ci_high"], f["chance"], limits[risk])
        for risk, f in worst.items()
    ]
    _text = (
        "### Risk\nThe share of companies that the best attack re-identifies, with its interval, "
        "beside chance and the declared limit. A bar that exceeds its limit stops a release."
    )
    _title = f"{picked.value}: re-identified by the best attack"
    mo.vstack([mo.md(_text), mo.Html(rates_chart(rates, _title, standalone=True))])
    return rates, worst


@app.cell
def _(Dot, Scatter, frontier_chart, mo, picked, table):
    scatters = []
    for _risk, _limit in (("whole industry", "whole_industry"), ("history", "history")):
        _dots = tuple(
            Dot(
                point["setting"],
                max(point["utility"]["spearman"], 0.0),
                point["risks"][_risk]["rate"],
                point["setting"] == "as configured",
            )
            for point in table["frontier"]
            if _risk in point["risks"]
        )
        if _dots:
            _least = table["utility_limits"]["min_spearman"]
            scatters.append(Scatter(_risk, _dots, _least, table["limits"][_limit]))
    _text = (
        "### What other settings give\nEach dot is a setting: further right is more useful, "
        "lower is safer. There should be no dot to the lower right of the configured setting."
    )
    _chart = frontier_chart(
        scatters,
        "Spearman within industries, worst column",
        f"{picked.value}: risk and utility of the settings tried",
        standalone=True,
    )
    mo.vstack([mo.md(_text), mo.Html(_chart)])
    return (scatters,)


if __name__ == "__main__":
    app.run()
