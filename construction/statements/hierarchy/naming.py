"""Words of hierarchical names: section titles, components, axes and members; distinct names."""

from __future__ import annotations

import re

import polars as pl

from construction.statements.model import SEPARATOR

_TOTAL = re.compile(r"^(?:sub-?)?total(?: of)?\b[ ,:-]*|,? *(?:sub-?)?total$|合計$|小計$", re.I)
_BRACKETS = re.compile(r"\([^()]{0,300}\)|\[[^\[\]]{0,300}\]")
_TAIL = re.compile(r"[,;:—–-]? *(?:(?:less|net of|including|at cost|net)\b[^|]*|[0-9$].*)$", re.I)
_SPACE = re.compile(r"\s+")
_LOOSE = re.compile(r" +(?=[,;:])")
_SMALL = frozenset(["and", "of", "the", "in", "for", "to", "on", "or", "by", "at", "with", "from"])
_MAX_TITLE = 60
_WORDS = re.compile(
    r"[A-Z]{2,}(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+|[^\W_A-Za-z0-9]+"
)
_KEY = ("company_id", "name")


def component(text: str) -> str:
    """A label as one component: no separator inside, single spaces."""
    return _SPACE.sub(" ", text.replace("|", "/")).strip()


def join(*parts: str) -> str:
    return SEPARATOR.join(parts)


def section_title(label: str) -> str:
    """The title of the section that a row closes; empty if the label says only "Total"."""
    title = _BRACKETS.sub("", component(label))
    title = _TOTAL.sub("", title.strip()).strip(" ,:;-")
    title = _LOOSE.sub("", component(_TAIL.sub("", title))).strip(" ,:;-")
    if len(title) > _MAX_TITLE or not any(map(str.isalpha, title)):
        return ""
    return sentence_case(title)


def sentence_case(title: str) -> str:
    """Capitalise the first letter, lower other Title Case or upper-case words; keep IBM, LIFO."""
    words = title.split(" ")
    if title.isupper():
        words = [word.lower() for word in words]
    elif sum(word[:1].isupper() for word in words) * 2 > len(words):
        words = [w.lower() if w[:1].isupper() and w[1:].islower() else w for w in words]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def spaced(name: str) -> str:
    """CamelCase as words: RestOfAsiaPacificSegment -> Rest of Asia Pacific Segment."""
    words = [word for part in name.split("_") for word in _WORDS.findall(part)]
    joined: list[str] = []
    for word in words:
        # A single capital belongs to the next word: IPhone, not I Phone.
        if joined and len(joined[-1]) == 1 and joined[-1].isupper() and joined[-1] != "A":
            joined[-1] += word
        elif joined and word.casefold() in _SMALL:
            joined.append(word.casefold())
        else:
            joined.append(word)
    return " ".join(joined) or name


def dimension_parts(dimensions: str) -> tuple[str, ...]:
    """Axis and member of each dimension as words: at most two pairs, further ones in the last.

    `dimensions` are axis=member pairs, joined by ";".
    """
    pairs = [
        (sentence_case(_stripped(axis, "Axis")), _stripped(member, "Member"))
        for axis, _, member in (part.partition("=") for part in dimensions.split(";"))
        if axis.strip()
    ]
    if len(pairs) > 2:
        rest = "; ".join(f"{axis}: {member}" for axis, member in pairs[2:])
        pairs = [pairs[0], (pairs[1][0], f"{pairs[1][1]}; {rest}")]
    return tuple(component(word) for pair in pairs for word in pair if word)


def _stripped(name: str, ending: str) -> str:
    words = name.strip().rpartition(":")[2]
    return spaced(words.removesuffix(ending) or words)


def dimensioned_name(statement: str, dimensions: str, label: str) -> str:
    """Statement | axis | member | label, as in Segments | Geographical | Europe | Revenues."""
    return join(statement, *dimension_parts(dimensions), component(label))


def distinct_names(series: pl.DataFrame) -> pl.Series:
    """Names of `series` (columns of SERIES), made distinct within each company.

    Series that share a name get their unit in brackets if that distinguishes them, else their
    concept; if names are still equal, the id without the company.
    """
    marks = (
        pl.format(" ({})", pl.col("unit")),
        pl.format(" [{}]", pl.col("concept")),
        pl.format(" [{}]", pl.col("series_id").str.strip_prefix(pl.col("company_id"))),
    )
    named = series.select("series_id", "company_id", "unit", "concept", "name")
    for mark in marks:
        shared = pl.len().over(_KEY) > 1
        tells = (pl.col("mark").n_unique().over(_KEY) == pl.len().over(_KEY)) | (
            pl.lit(mark is marks[-1])
        )
        named = named.with_columns(mark=mark).with_columns(
            name=pl.when(shared & tells.fill_null(False))
            .then(pl.col("name") + pl.col("mark").fill_null(""))
            .otherwise("name")
        )
    return named["name"]
