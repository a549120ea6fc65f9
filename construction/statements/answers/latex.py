"""LaTeX of an answer as plain text; `\\boxed{…}` and `\\textbf{…}` become marks."""

from __future__ import annotations

import re

from construction.statements.answers.markup import BOLD_CLOSE, BOLD_OPEN, BOX_CLOSE, BOX_OPEN

_DOLLAR = "\ue010"  # an escaped dollar, until the math delimiters are gone
_MATH = re.compile(r"\$\$([^$\n]*)\$\$|\$([^$\n]*[0-9)\]}%])\$(?![0-9])")
_SPACING = re.compile(r"\\(?:[,;: ]|q?quad(?![A-Za-z]))")
_SYMBOLS = {
    "\\%": "%",
    "{,}": ",",
    "\\times": "×",
    "\\cdot": "×",
    "\\approx": "≈",
    "\\!": "",
    "\\&": "&",
    "\\#": "#",
    "\\_": "_",
    "\\(": "",
    "\\)": "",
    "\\[": "",
    "\\]": "",
    "\\left(": "(",
    "\\right)": ")",
}
_SYMBOL = re.compile("|".join(re.escape(name) for name in sorted(_SYMBOLS, key=len, reverse=True)))
_BRACE = re.compile(r"\\([A-Za-z]+)\s?\{|\^\{|\{|\}")
_GROUPS = {
    "boxed": (BOX_OPEN, BOX_CLOSE),
    "fbox": (BOX_OPEN, BOX_CLOSE),
    "textbf": (BOLD_OPEN, BOLD_CLOSE),
    "mathbf": (BOLD_OPEN, BOLD_CLOSE),
}
_PLAIN = frozenset(
    {"text", "mathrm", "mathit", "mathsf", "textit", "textrm", "mbox", "operatorname"}
)


def plain_latex(text: str) -> str:
    """The text with commands resolved; text without backslash or dollar is returned as it is."""
    if "\\" not in text and "$" not in text:
        return text
    text = text.replace("\\$", _DOLLAR)
    text = _MATH.sub(lambda match: match[1] if match[1] is not None else match[2], text)
    text = _SPACING.sub(" ", text)
    text = _groups(_SYMBOL.sub(lambda match: _SYMBOLS[match[0]], text))
    return text.replace(_DOLLAR, "$")


def _groups(text: str) -> str:
    pieces: list[str] = []
    closers: list[str] = []
    position = 0
    for match in _BRACE.finditer(text):
        pieces.append(text[position : match.start()])
        position = match.end()
        if match[0] == "}":
            pieces.append(closers.pop() if closers else "}")
            continue
        opening, closing = _group(match)
        pieces.append(opening)
        closers.append(closing)
    return "".join([*pieces, text[position:]])


def _group(match: re.Match[str]) -> tuple[str, str]:
    if match[0] == "^{":
        return "^", ""
    if match[1] in _GROUPS:
        return _GROUPS[match[1]]
    return ("", "") if match[1] in _PLAIN else (match[0], "}")
