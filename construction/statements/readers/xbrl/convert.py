"""Converts iXBRL and ESEF packages to xBRL-JSON with Arelle, which is no dependency of the project.

The lower half runs as a program of its own (`python convert.py PACKAGE OUT ONLINE TAXONOMY…`), in
any Python that has Arelle: it imports nothing of the project. Beside the facts it writes what OIM
lacks, as the reader takes it: labels in all languages, balance, and the rows as presented.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_ENGLISH = "http://www.xbrl.org/2003/role/label"
_PRESENTED = "http://www.xbrl.org/2003/arcrole/parent-child"
_NO_ARELLE = 3  # exit code of the program


def convert(
    package: Path, out: Path, python: str, taxonomies: list[Path], *, online: bool, seconds: int
) -> tuple[Path | None, str]:
    """Convert one package in a child process: the document, or None and what went wrong."""
    names = [str(package.resolve()), str(out.resolve()), str(int(online))]
    try:
        done = subprocess.run(  # noqa: S603  (the interpreter that the user named)
            [python, __file__, *names, *(str(path.resolve()) for path in taxonomies)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return None, f"no result after {seconds} s"
    except OSError as error:
        return None, f"{python}: {type(error).__name__}"
    if done.returncode == _NO_ARELLE:
        install = f"{python} -m pip install arelle-release"
        return None, f"Arelle is not installed there. Run `{install}`, or name another --python."
    written = out / f"{package.stem}.json"
    if done.returncode or not written.is_file():
        return None, (done.stderr.strip().splitlines() or ["no facts"])[-1][:200]
    return written, ""


def _described(model: Any) -> dict[str, Any]:
    """Labels, balance and presentation of the concepts that have facts."""
    concepts = {
        fact.concept.qname: fact.concept for fact in model.facts if fact.concept is not None
    }
    labels_of: dict[str, dict[str, str]] = {}
    labels = model.relationshipSet("http://www.xbrl.org/2003/arcrole/concept-label")
    for qname, concept in concepts.items():
        for link in labels.fromModelObject(concept):
            text = link.toModelObject
            if text is not None and text.role == _ENGLISH:
                labels_of.setdefault(str(qname), {})[text.xmlLang or "en"] = text.textValue.strip()
    balance = {str(q): c.balance for q, c in concepts.items() if c.balance}
    roles = sorted(model.relationshipSet(_PRESENTED).linkRoleUris)
    shown = [{"role": role, "rows": _rows(model, role, set(concepts))} for role in roles]
    statements = [one for one in shown if one["rows"]]
    return {"labels": labels_of, "balance": balance, "statements": statements}


def _rows(model: Any, role: str, reported: set[Any]) -> list[dict[str, Any]]:
    """The reported concepts of a role in the order of its presentation."""
    tree = model.relationshipSet(_PRESENTED, role)
    rows: list[dict[str, Any]] = []

    def walk(concept: Any, depth: int) -> None:
        for link in tree.fromModelObject(concept) if depth < 50 else ():
            child = link.toModelObject
            if child is None:
                continue
            preferred = link.preferredLabel or ""
            if child.qname in reported:
                text = child.label(preferred or None, lang="en", fallbackToQname=False)
                negated = "negated" in preferred.lower()
                rows.append({"concept": str(child.qname), "negated": negated, "label": text})
            walk(child, depth + 1)

    for root in tree.rootConcepts:
        walk(root, 0)
    return rows


def _run(package: str, out: str, online: str, taxonomies: list[str]) -> int:
    try:
        from arelle.api.Session import Session  # type: ignore[import-not-found]
        from arelle.RuntimeOptions import RuntimeOptions  # type: ignore[import-not-found]
    except ImportError:
        return _NO_ARELLE
    target = Path(out) / f"{Path(package).stem}.json"
    options = RuntimeOptions(
        entrypointFile=package,
        internetConnectivity="online" if online == "1" else "offline",
        keepOpen=True,
        packages=taxonomies or None,
        plugins="saveLoadableOIM|inlineXbrlDocumentSet",
        pluginOptions={"saveLoadableOIM": str(target)},
        logFile="logToBuffer",
    )
    with Session() as session:
        session.run(options)
        for model in session.get_models():
            if model.facts:
                record = json.dumps(_described(model), ensure_ascii=False, sort_keys=True, indent=1)
                target.with_suffix(".labels.json").write_text(record, "utf-8")
                return 0
        problems = [line for line in session.get_logs("text").splitlines() if "rror" in line]
        print((problems or ["no facts"])[0], file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
