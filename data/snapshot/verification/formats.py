"""Files that must keep their format: the report its security policy, the tables Parquet.

The report is not parsed: it must begin with exactly the head that the project writes, so that the
policy applies to everything after it, whatever the page holds. Linear in the size of the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from data.snapshot import layout
from data.snapshot.pages import block_source
from data.snapshot.verification.files import read
from data.snapshot.verification.findings import Check, Findings, Half

_HEAD = re.compile(
    rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,1000})">\n'
)
_REFRESH = re.compile(rb"http-equiv\s?=\s?[\"']?refresh", re.IGNORECASE)
_FIXED = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
_QUOTE = "&#39;"  # how the template escapes the quotes of the policy
BROKEN = (
    OSError,
    ValueError,
    MemoryError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def check_report(half: Half, findings: Findings) -> None:
    """`audit/report.html` begins with a strict policy that allows its own style and script."""
    content = read(half.files, layout.REPORT, half.name, findings)
    if content is None:
        return
    head = _HEAD.match(content)
    if head is None:
        where = f"{half.name}/{layout.REPORT}"
        findings.add(Check.REPORT_POLICY, where, "does not begin with a content security policy")
        return
    policy = head.group(1).decode("utf-8", "replace").replace(_QUOTE, "'")
    for problem in _problems(policy, content):
        findings.add(Check.REPORT_POLICY, f"{half.name}/{layout.REPORT}", problem)


def _problems(policy: str, content: bytes) -> list[str]:
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    problems = [f"the policy lacks {rule}" for rule in _FIXED if not _has(rules, rule)]
    style = _between(content, content.find(b"<style>"), b"</style>")
    script = _between(content, content.rfind(b"<script>"), b"</script>")
    if rules.get("style-src") != block_source(style):
        problems.append("the policy allows another style than the page's")
    if rules.get("script-src") != block_source(script):
        problems.append("the policy allows another script than the page's")
    extra = rules.keys() - {rule.split()[0] for rule in _FIXED}
    extra -= {"style-src", "script-src", "require-trusted-types-for"}
    if extra:
        problems.append(f"the policy has {len(extra)} rules that are not the project's")
    if _REFRESH.search(content):
        problems.append("the page redirects its reader")
    return problems


def _has(rules: dict[str, str], rule: str) -> bool:
    name, _, value = rule.partition(" ")
    return rules.get(name) == value


def _between(content: bytes, start: int, end: bytes) -> str:
    """The text of the element whose opening tag is at `start`."""
    opened = content.find(b">", start) + 1
    return content[opened : content.find(end, opened)].decode("utf-8", "replace")


def check_tables(half: Half, findings: Findings) -> None:
    """Released tables and the answers are Parquet: their footers are read, not their rows."""
    for path, file in half.files.items():
        problem = _table_problem(file) if _is_table(path) else None
        if problem is not None:
            findings.add(Check.TABLE, f"{half.name}/{path}", problem)


def _is_table(path: str) -> bool:
    return path == layout.ANSWERS_TABLE or path.startswith(f"{layout.TABLES}/")


def _table_problem(file: Path) -> str | None:
    try:
        with file.open("rb") as handle:
            columns = pl.read_parquet_schema(handle)
    except BROKEN as error:
        return f"is not a Parquet table ({type(error).__name__})"
    return None if columns else "has no columns"
