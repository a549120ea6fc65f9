"""The peer of `benchmarks.sec_read`: the same reading and joining as a plain pandas script.

It gives the same companies, series, points and history, but knows the usual case only: no broken
lines, no limits, no books of files, lines and rows.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd

_STATEMENTS = {
    "BS": "Balance sheet",
    "IS": "Income statement",
    "CF": "Cash flow statement",
    "CI": "Comprehensive income",
    "EQ": "Statement of equity",
}
_ORDER = {code: number for number, code in enumerate(_STATEMENTS)}
_SERIES = ["company_id", "tag", "unit", "segments"]
_PERIOD = ["series_id", "ddate", "qtrs"]


def read_with_pandas(path: Path) -> dict[str, pd.DataFrame]:
    """Companies, series, points, history and rows of a quarterly zip, and the facts by reason."""
    sub, tag, num, pre = (_table(path, name) for name in ("sub", "tag", "num", "pre"))
    sub["filed"] = pd.to_datetime(sub["filed"], format="%Y%m%d")
    sub["company_id"] = "sec:" + sub["cik"]
    sub["superseded"] = sub["prevrpt"] == "1"
    kept = sub[~sub["superseded"]]
    companies = kept.sort_values(["filed", "adsh"]).drop_duplicates("company_id", keep="last")
    rows = _rows(pre, sub)
    facts = _facts(num, sub, tag)
    sound = facts[facts["reason"].isna()]
    series = _series(sound, rows, tag)
    named = sound.merge(series[[*_SERIES, "series_id"]], on=_SERIES)
    points, history = _points(named, rows)
    series = series[series["series_id"].isin(points["series_id"])]
    return {
        "companies": companies.sort_values("company_id"),
        "series": series,
        "points": points,
        "history": history,
        "rows": _shown(rows[~rows["superseded"]], named),
        "reasons": facts.groupby(["adsh", "reason"]).size().reset_index(),
    }


def _table(path: Path, name: str) -> pd.DataFrame:
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.txt") as handle:
        return pd.read_csv(
            handle,
            sep="\t",
            quoting=3,
            dtype=str,
            encoding_errors="replace",
            keep_default_na=False,
            na_values=[""],
        )


def _rows(pre: pd.DataFrame, sub: pd.DataFrame) -> pd.DataFrame:
    rows = pre.merge(sub[["adsh", "company_id", "filed", "superseded"]], on="adsh")
    rows["report"] = rows["report"].astype(int)
    rows["line"] = rows["line"].astype(int)
    rows["parenthetical"] = rows["inpth"] == "1"
    rows["negated"] = rows["negating"] == "1"
    rows["statement"] = rows["stmt"].map(_STATEMENTS).fillna("Other")
    rows["preference"] = rows["stmt"].map(_ORDER).fillna(len(_ORDER))
    order = ["superseded", "parenthetical", "preference", "filed", "adsh", "report", "line"]
    return rows.sort_values(order, ascending=[True, True, True, False, False, True, True])


def _facts(num: pd.DataFrame, sub: pd.DataFrame, tag: pd.DataFrame) -> pd.DataFrame:
    facts = num.merge(sub[["adsh", "company_id", "filed", "superseded"]], on="adsh", how="left")
    facts = facts.merge(tag[["tag", "version", "datatype"]], on=["tag", "version"], how="left")
    facts["qtrs"] = facts["qtrs"].astype(int)
    facts["ddate"] = pd.to_datetime(facts["ddate"], format="%Y%m%d")
    months = facts["ddate"].dt.year * 12 + facts["ddate"].dt.month - facts["qtrs"] * 3
    start = pd.to_datetime(pd.DataFrame({"year": months // 12, "month": months % 12 + 1, "day": 1}))
    facts["period_start"] = start.where(facts["qtrs"] > 0)
    facts["reason"] = pd.Series(pd.NA, index=facts.index, dtype="str")
    facts.loc[~facts["value"].str.fullmatch(r"-?\d+(?:\.\d+)?", na=False), "reason"] = "bad_value"
    facts.loc[facts["value"].isna(), "reason"] = "no_value"
    facts["value"] = facts["value"].str.rstrip("0").str.rstrip(".").replace("-0", "0")
    pairs = facts[["uom", "datatype"]].drop_duplicates()
    pairs["unit"] = [_unit(*pair) for pair in pairs.itertuples(index=False)]
    facts = facts.merge(pairs, on=["uom", "datatype"], how="left")
    facts.loc[facts["unit"].isna(), "reason"] = "unit"
    facts.loc[facts["coreg"].notna(), "reason"] = "coreg"
    facts["segments"] = facts["segments"].map(
        lambda text: ";".join(sorted(text.strip(";").split(";"))), na_action="ignore"
    )
    return facts


def _unit(uom: str, datatype: str) -> str | None:
    unit = {"pure": "ratio", "shares": "shares"}.get(uom, uom)
    if datatype in ("perShare", "perUnit"):
        return f"{unit}/share" if len(unit) == 3 else None
    if datatype in ("percent", "pure"):
        return unit if unit == "ratio" else None
    return "count" if unit == "ratio" and datatype == "integer" else unit


def _series(facts: pd.DataFrame, rows: pd.DataFrame, tag: pd.DataFrame) -> pd.DataFrame:
    newest = facts.sort_values(["filed", "adsh"]).drop_duplicates(_SERIES, keep="last")
    places = rows.drop_duplicates(["company_id", "tag"])
    series = newest[[*_SERIES, "version"]].merge(
        places[["company_id", "tag", "statement", "plabel", "line"]],
        on=["company_id", "tag"],
        how="left",
    )
    series = series.merge(tag[["tag", "version", "tlabel"]], on=["tag", "version"], how="left")
    axes = series["segments"].str.replace("=[^;]*", "", regex=True).str.lower()
    segment = axes.str.contains("segment|sector|geograph|country|region|product|customer", na=False)
    series["statement"] = series["statement"].fillna("Other").mask(segment, "Segments")
    series.loc[axes.str.contains("equitycomponents|partner", na=False), "statement"] = (
        "Statement of equity"
    )
    label = series["tlabel"].str.replace(r"\s*\(Deprecated [^()]*\)\s*$", "", regex=True)
    series["label"] = label.fillna(series["plabel"]).fillna(series["tag"]).str.strip()
    series["name"] = series["statement"] + " | " + series["label"]
    series["series_id"] = (
        series["company_id"]
        + "/"
        + series["tag"]
        + "/"
        + series["statement"]
        + "/"
        + series["unit"]
        + ("/" + series["segments"]).fillna("")
    )
    return series.sort_values("series_id")


def _points(facts: pd.DataFrame, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    key = ["adsh", "tag", "version"]
    facts = facts.merge(rows.drop_duplicates(key)[[*key, "report", "line"]], on=key, how="left")
    facts["months"] = facts["qtrs"] * 3
    facts["point_id"] = (
        facts["series_id"]
        + "/"
        + facts["ddate"].dt.strftime("%Y-%m-%d")
        + "/"
        + facts["months"].astype(str)
        + "m/"
        + facts["adsh"]
    )
    facts["auto_generated"] = facts["line"].isna()
    facts = facts.drop_duplicates([*_PERIOD, "adsh", "value"])
    facts = facts[~facts.duplicated([*_PERIOD, "adsh"], keep=False)]
    facts = facts.sort_values([*_PERIOD, "filed", "adsh"])
    last = facts[~facts["superseded"]].drop_duplicates(_PERIOD, keep="last")
    standing = last[[*_PERIOD, "value", "point_id", "filed", "adsh"]]
    both = facts.merge(standing, on=_PERIOD, suffixes=("", "_last"))
    later = (both["filed"] > both["filed_last"]) | (
        (both["filed"] == both["filed_last"]) & (both["adsh"] > both["adsh_last"])
    )
    history = both[(both["value"] != both["value_last"]) & ~later]
    counted = history.groupby(_PERIOD).size().rename("restatements").reset_index()
    points = last.merge(counted, on=_PERIOD, how="left")
    points["restatements"] = points["restatements"].fillna(0).astype(int)
    return points, history


def _shown(rows: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Rows with the series that they show: consolidated, in the unit with the most facts."""
    key = ["adsh", "tag", "version"]
    whole = facts[facts["segments"].isna()]
    counted = whole.groupby([*key, "series_id"]).size().rename("n").reset_index()
    counted = counted.sort_values(["n", "series_id"], ascending=[False, True])
    most = counted.drop_duplicates(key)[[*key, "series_id"]]
    return rows.merge(most, on=key, how="left").sort_values(["adsh", "report", "line"])
