"""What is code in a text, so that it can be left alone."""

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INLINE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def _opens(line):
    """The signs with which a line starts a block, if it does."""
    match = _FENCE.match(line)
    return match.group(1) if match else ""


def _closes(line, opened):
    """Does a line end the block that was opened with these signs?"""
    signs = _opens(line)
    return signs.startswith(opened) and line.strip() == signs


def blanked(text):
    """The text with blanks in the place of code: the same length, the same lines."""
    made, opened = [], ""
    for line in text.splitlines(keepends=True):
        if opened:
            if _closes(line, opened):
                opened = ""
            made.append(_blank(line))
        elif signs := _opens(line):
            opened = signs
            made.append(_blank(line))
        else:
            made.append(_INLINE.sub(lambda match: " " * len(match.group()), line))
    return "".join(made)


def _blank(line):
    return "".join(sign if sign in "\r\n" else " " for sign in line)
