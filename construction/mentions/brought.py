"""What a request brings along in its own text, so that no file has to hold it."""

from __future__ import annotations

import re

# Code or a change of code, as it is pasted with or without a fence.
_PASTED_CODE = re.compile(r"```|^diff --git |^@@ -\d+|^--- \S[^\n]*\n\+\+\+ \S", re.MULTILINE)
_BROUGHT = re.compile(r"\b(?:below|following|above)\b|以下|下面|如下")


def brings_code(request: str) -> bool:
    """Does a request bring along the code or the change of which it speaks?"""
    return _PASTED_CODE.search(request) is not None


def brings_along(request: str) -> bool:
    """Does it bring code, or say that what it speaks of stands in it: "the text below"?"""
    return brings_code(request) or _BROUGHT.search(request.lower()) is not None
