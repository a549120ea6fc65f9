"""Signals and a small codebook made up for the tests, and an encoder without a model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from construction.signals.codebook import Codebook, _load_codebook
from construction.signals.matching import Vectors, _unit
from data.contracts import Popularity, Signal, SignalProvenance

_DIMENSIONS = 4096  # so many that words hardly meet
FAMILIES = """
[office]
name = "Office"
definition = "Paper and mail"
[craft]
name = "Craft"
definition = "Code"
[self]
name = "Self"
definition = "The agent itself"
"""
PATTERNS = """
[mail]
family = "office"
goal = "Send letters"
artifact = "letters"
surface = "api"
[paper]
family = "office"
goal = "Fold paper"
artifact = "paper"
surface = "files"
[code]
family = "craft"
goal = "Write code"
artifact = "code"
surface = "files"
[memory]
family = "self"
goal = "Remember"
artifact = "notes"
surface = "files"
benchmarkable = false
"""
CUES = """
[mail]
strong = ["send .. letters", "mailbox*", "信箱"]
weak = ["letter*", "信"]
anchors = ["Send letters to people."]
[paper]
strong = ["fold* .. paper", "origami"]
weak = ["paper"]
anchors = ["Fold paper into shapes."]
[code]
strong = ["source code", "compiler*", "Rust"]
weak = ["code"]
anchors = ["Write source code that compiles."]
[memory]
strong = ["long term memory"]
weak = ["memory"]
anchors = ["Remember things between sessions."]
[decoys]
phrases = ["paper trail", "love letter*"]
"""


def small_codebook(folder: Path) -> Codebook:
    for name, text in (("families", FAMILIES), ("patterns", PATTERNS), ("cues", CUES)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return _load_codebook(folder)


def bag_of_words(texts: Sequence[str]) -> Vectors:
    """Unit vectors from hashed words: near texts share words."""
    vectors = np.zeros((len(texts), _DIMENSIONS))
    for row, text in enumerate(texts):
        for word in text.lower().replace(".", " ").split():
            vectors[row, crc32(word.encode("utf-8", "replace")) % _DIMENSIONS] += 1.0
    return _unit(vectors)


def signal(slug: str, summary: str, downloads: int = 1, name: str = "") -> Signal:
    provenance = SignalProvenance("made", dt.date(2026, 3, 1))
    popularity = {Popularity.DOWNLOADS: downloads}
    return Signal(slug, name or slug, summary, None, popularity, (), provenance)
