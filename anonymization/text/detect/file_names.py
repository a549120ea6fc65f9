"""Names inside file names that a text mentions: `Offer_Ann_Smith.pdf`."""

from __future__ import annotations

import re

# Endings of files that people name; those of source code are left out.
_FILE = re.compile(
    r"(?<![\w-])[^\W_][\w-]{3,120}\.(?:pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|rtf|odt|ods|zip|rar|7z"
    r"|png|jpe?g|heic|gif|tiff?|eml|msg|ics|vcf|mp3|mp4|wav|m4a)(?!\w)"
)
_CAPITALS = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+[_-][^\W\d_a-z][^\W\d_A-Z]+")
_AS_BLANKS = str.maketrans("_-.", "   ")


def with_spaced_file_names(text: str) -> str:
    """The text, of the same length, with blanks for the separators in such file names."""
    if "_" not in text and "-" not in text:
        return text
    return _FILE.sub(_spaced, text)


def _spaced(name: re.Match[str]) -> str:
    return name.group().translate(_AS_BLANKS) if _CAPITALS.search(name.group()) else name.group()
