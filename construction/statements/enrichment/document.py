"""The tagged fact highlighted in an inline XBRL document, made harmless, and its screenshot.

For callers that have the filing: the data sets that a build reads hold its figures alone.
Filings are untrusted HTML. The result runs nothing and loads nothing: active elements and
attributes are removed, and a content security policy forbids what may have been missed. The
screenshot is taken by a headless Chromium, if the machine has one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lxml import etree, html

from data.contracts import StageConfig
from data.errors import InputError

MAX_BYTES = 64 << 20
MAX_DEPTH = 400
FACT_ID = "benchmint-fact"
_MARK = "background:#ffe98a;outline:2px solid #c28a00"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_ACTIVE = frozenset(
    [
        *("script", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet"),
        *("link", "meta", "base", "form", "input", "button", "textarea", "select", "portal"),
        *("video", "audio", "source", "track", "template", "image", "math", "svg"),
    ]
)
_ADDRESSES = frozenset(
    ["href", "src", "srcset", "action", "formaction", "background", "data", "poster", "ping"]
)
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_ACTIVE_STYLE = re.compile(r"url\s*\(|@import|expression\s*\(|behavior\s*:|-moz-binding|\\|<", re.I)
_BINARIES = ("chromium", "chromium-browser")


def highlight_fact(document: bytes, concept: str, context: str) -> bytes:
    """The document with every ix:nonFraction of `concept` in `context` marked, as harmless HTML.

    `concept` is a name with or without prefix ("us-gaap:Assets", "Assets"). The first fact gets the
    id `FACT_ID`. Errors: `InputError` if the document is too large or too deep, cannot be parsed,
    or has no such fact.
    """
    root = _parsed(document)
    facts = [fact for fact in _facts(root) if _is(fact, concept, context)]
    if not facts:
        raise _error("no such fact", f"an ix:nonFraction of {concept[:80]} in {context[:80]}")
    _neutralise(root)
    for number, fact in enumerate(facts):
        fact.set("style", _MARK)
        if number == 0:
            fact.set("id", FACT_ID)
    return _written(root)


def _parsed(document: bytes) -> etree._Element:
    if len(document) > MAX_BYTES:
        raise _error(f"{len(document):,} bytes", f"at most {MAX_BYTES:,}")
    try:
        parser = html.HTMLParser(no_network=True, huge_tree=False, remove_comments=True)
        root = html.document_fromstring(_without_declaration(document), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise _error(f"{len(document):,} bytes ({type(error).__name__})", "HTML") from error
    if _depth(root) > MAX_DEPTH:
        raise _error(f"more than {MAX_DEPTH} levels", "HTML as filings have it")
    return root


def _without_declaration(document: bytes) -> bytes:
    """The text without XML declaration and document type, which may declare entities."""
    document = document.lstrip(b"\xef\xbb\xbf \t\r\n")
    if document.startswith(b"<?xml"):
        document = document.partition(b"?>")[2].lstrip()
    if document[:9].upper() == b"<!DOCTYPE":
        head, _, rest = document.partition(b">")
        document = document.partition(b"]")[2].partition(b">")[2] if b"[" in head else rest
    return document


def _depth(root: etree._Element) -> int:
    deepest = level = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        level += 1 if event == "start" else -1
        deepest = max(deepest, level)
    return deepest


def _facts(root: etree._Element) -> Iterator[etree._Element]:
    """Elements named ix:nonFraction, which HTML parsers keep in lower case with their prefix."""
    for element in root.iter(etree.Element):
        if isinstance(element.tag, str) and _local(element.tag) == "nonfraction":
            yield element


def _is(fact: etree._Element, concept: str, context: str) -> bool:
    name = fact.get("name") or ""
    named = name == concept or (":" not in concept and name.partition(":")[2] == concept)
    return named and (fact.get("contextref") or fact.get("contextRef")) == context


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _neutralise(root: etree._Element) -> None:
    for element in list(root.iter()):
        # Nodes without a name are processing instructions or entities.
        if not isinstance(element.tag, str) or _local(element.tag) in _ACTIVE:
            _drop(element)
        else:
            _neutralise_one(element)


def _neutralise_one(element: etree._Element) -> None:
    if _local(element.tag) == "style" and _ACTIVE_STYLE.search(element.text or ""):
        element.text = ""
    for name, value in list(element.attrib.items()):
        key = _local(str(name))
        acts = key.startswith("on") or key in ("http-equiv", "srcdoc", "xmlns")
        if key in _ADDRESSES:
            acts = not (str(value).startswith("#") or _IMAGE.fullmatch(str(value).strip()))
        if key == "style":
            acts = _ACTIVE_STYLE.search(str(value)) is not None
        if acts or str(value) == FACT_ID:
            del element.attrib[name]


def _drop(element: etree._Element) -> None:
    """Remove an element with its content; the text after it stays."""
    parent = element.getparent()
    if parent is None:
        raise _error("no HTML body", "HTML")
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + (element.tail or "")
    else:
        parent.text = (parent.text or "") + (element.tail or "")
    parent.remove(element)


def _written(root: etree._Element) -> bytes:
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    policy = etree.Element("meta")
    policy.set("http-equiv", "Content-Security-Policy")
    policy.set("content", _POLICY)
    head.insert(0, policy)
    charset = etree.Element("meta")
    charset.set("charset", "utf-8")
    head.insert(0, charset)
    body: bytes = html.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    return body


def _error(actual: str, expected: str) -> InputError:
    todo = "Check that the document is the filing's inline XBRL report."
    return InputError("inline XBRL document", actual, expected, todo)


class NotMade(StrEnum):
    """Why there is no screenshot."""

    NO_BROWSER = "screenshot.no_browser"
    FAILED = "screenshot.failed"


class ScreenshotConfig(StageConfig):
    """Runtime settings: screenshots differ between machines and are never digested."""

    width: int = 1280
    height: int = 900
    seconds: float = 60


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A PNG, or the reason why there is none."""

    png: bytes | None
    reason: NotMade | None = None


def screenshot(document: bytes, config: ScreenshotConfig) -> Screenshot:
    """The page around the highlighted fact of a document that `highlight_fact` wrote.

    The document has no scripts, and its policy allows none; the browser resolves no host names, and
    its profile is deleted afterwards.
    """
    binary = next((path for name in _BINARIES if (path := shutil.which(name))), None)
    if binary is None:
        return Screenshot(None, NotMade.NO_BROWSER)
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        page.write_bytes(document)
        command = _command(binary, Path(folder), page, picture, config)
        try:
            subprocess.run(  # noqa: S603  (fixed arguments, own paths)
                command, check=True, capture_output=True, timeout=config.seconds
            )
            return Screenshot(picture.read_bytes())
        except (subprocess.SubprocessError, OSError):
            return Screenshot(None, NotMade.FAILED)


def _command(
    binary: str, folder: Path, page: Path, picture: Path, config: ScreenshotConfig
) -> list[str]:
    # Chromium refuses to start as root with its sandbox; the page has neither script nor network.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        binary,
        *as_root,
        "--headless=new",
        "--disable-background-networking",
        "--disable-gpu",
        "--disable-extensions",
        "--hide-scrollbars",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={config.width},{config.height}",
        f"--screenshot={picture}",
        f"{page.as_uri()}#{FACT_ID}",
    ]
