"""Texts in lines."""

from subtitler.cells import cells


class Setter:
    """Sets texts in lines. Songs repeat theirs, so what was set is remembered."""

    def __init__(self):
        self._known = {}

    def lines(self, text, style):
        key = (text, style.cells)
        if key not in self._known:
            self._known[key] = [
                line for part in text.split("\n") for line in self._set(part, style.cells)
            ]
        return self._known[key]

    def _set(self, text, width):
        lines = []
        for word in text.split(" "):
            if not word:
                continue
            if lines and cells(f"{lines[-1]} {word}") <= width:
                lines[-1] = f"{lines[-1]} {word}"
            else:
                lines.append(word)
        return lines
