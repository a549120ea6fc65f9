"""A kept scanner with its whole rule set beside our rules: what is found, and what is flagged.

    python -m benchmarks.anonymization_secrets_peer SCANNER

SCANNER is the program `gitleaks` (MIT), which carries its 222 rules and their exclusions in itself;
its own rule cases are what both are measured on, half of them. Each text is a file of its own.
Recall, halves and sentences are as in `benchmarks.anonymization_secrets`. A text counts as flagged
if anything in it is reported, and no text is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymization.text.secrets.find_secrets import find_secrets
from benchmarks.anonymization_secrets import SENTENCES, Case, cases, half, macro, trimmed
from benchmarks.report import table, write_result

Reported = Mapping[str, frozenset[str]]  # per text the secrets reported in it


def scanned(scanner: str, texts: Sequence[str]) -> Reported:
    """What the scanner reports in each text."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            (Path(folder) / f"{number}.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
        report = Path(folder) / "report.json"
        command = [scanner, "dir", folder, "--report-format", "json", "--report-path", str(report)]
        subprocess.run(
            [*command, "--exit-code", "0", "--no-banner", "--log-level", "error"], check=True
        )
        rows: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))
    actual: dict[str, set[str]] = {text: set() for text in texts}
    for row in rows:
        name = Path(row["File"]).stem
        if name.isdigit():
            actual[texts[int(name)]].add(row["Secret"])
    return {text: frozenset(values) for text, values in actual.items()}


def ours(texts: Sequence[str]) -> Reported:
    """What our rules report in each text."""
    return {text: frozenset(text[f.start : f.end] for f in find_secrets(text)) for text in texts}


def both(first: Reported, second: Reported) -> Reported:
    """What either reports."""
    return {text: first[text] | second[text] for text in first}


def figures(
    by_rule: Mapping[str, Sequence[Case]], prose: Mapping[str, Sequence[str]], reported: Reported
) -> dict[str, float]:
    """Macro recall of whole secrets, the share of negatives flagged, and recall in prose."""

    def covers(text: str, secret: str) -> bool:
        return any(secret in value for value in reported[text])

    given = {
        rule: [(c["text"], c["secrets"][0]) for c in rows if c["kind"] == "tp" and c["secrets"]]
        for rule, rows in by_rule.items()
    }
    plain = [c["text"] for rows in by_rule.values() for c in rows if c["kind"] != "tp"]
    labels: tuple[tuple[str, Callable[[str], str]], ...] = (("given", str), ("trimmed", trimmed))
    result = {
        f"whole secrets, labels as {name}": macro(
            [covers(text, label(secret)) for text, secret in pairs] for pairs in given.values()
        )
        for name, label in labels
    }
    result["negatives flagged"] = round(sum(bool(reported[t]) for t in plain) / len(plain), 4)
    for name, sentences in prose.items():
        result[f"prose, {name}"] = macro(
            [covers(sentence.format(value), value) for value in values for sentence in sentences]
            for values in _values(by_rule).values()
        )
    return result


def _values(by_rule: Mapping[str, Sequence[Case]]) -> dict[str, list[str]]:
    return {
        rule: sorted({trimmed(s) for c in rows if c["kind"] == "tp" for s in c["secrets"]})
        for rule, rows in by_rule.items()
    }


def main() -> None:
    """Scan with both and write the page."""
    scanner = sys.argv[1]
    by_rule = cases()
    texts = [c["text"] for rows in by_rule.values() for c in rows]
    texts += [
        sentence.format(value)
        for values in _values(by_rule).values()
        for value in values
        for sentences in SENTENCES.values()
        for sentence in sentences
    ]
    texts = list(dict.fromkeys(texts))
    version = subprocess.run([scanner, "version"], check=True, capture_output=True, text=True)
    theirs, mine = scanned(scanner, texts), ours(texts)
    engines = {"ours": mine, "gitleaks": theirs, "either": both(mine, theirs)}
    result: dict[str, Any] = {"version": version.stdout.strip()}
    for part in ("development", "held out", "all"):
        rules = {rule: rows for rule, rows in by_rule.items() if part in ("all", half(rule))}
        result[part] = {name: figures(rules, SENTENCES, done) for name, done in engines.items()}
    write_result("anonymization_secrets_peer", __doc__ or "", _page(result), result)


def _page(result: Mapping[str, Any]) -> str:
    rows = [
        [name, *(f"{result['all'][engine][name]:.4f}" for engine in result["all"])]
        for name in result["all"]["ours"]
    ]
    head = ["figure, all rules", *result["all"]]
    return f"{table(head, rows)}\ngitleaks {result['version']}. {NOTE}"


NOTE = ""


if __name__ == "__main__":
    main()
