"""The folders in which a request has its results saved, by their names or one for each person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.judging.reading import read

_EACH_FOLDER = re.compile(
    r"\b(?:in|into|to|under|inside) (?:each|every|their|his or her|the respective)\b[^.;]{0,40}"
    r"\b(?:folder|director)|\ba (?:separate )?(?:folder|directory) (?:each )?for [a-z]+ and\b"
    r"|\b(?:folders?|director(?:y|ies)) (?:(?:of|for) )?(?:each|every)\b"
    r"|每(?:个|位|名)[^。；]{0,12}(?:文件夹|目录)|各自的(?:文件夹|目录)"
)
_MAIL_EACH = re.compile(
    r"\b(?:send|e-?mail|mail|notify|write to) each\b"
    r"|\beml\b['\"`]?,? (?:to|for) (?:each|every)\b|\b(?:separate|individual|own) [\w-]+\.eml\b"
)
_ANY_RESULTS = frozenset(("output", "outputs", "result", "results", "out", "tmp", "workspace", ""))
_FILE_IN = re.compile(
    r"(?i)(?<![\w-])(?P<file>[\w-]+\.[a-z]{2,5}),? (?:and )?(?:(?:save|store|put|place)d? )?"
    r"(?:it |them )?"
    r"(?:in|into|under|inside) (?:an? |the |new )*(?:sub)?(?:folder|directory) (?:named |called )?"
    r"['\"`]?(?P<name>[\w-]+)['\"`]?"
)
_SAVED_IN = re.compile(
    r"(?i)\b(?:save|store|put|place|keep)s?d?"
    r"(?: (?:it|them|this|these|both|all|the|excel|pdf|word|csv|image|docx|xlsx|results?|files?))*"
    r" (?:in|into|to|under|inside)(?: (?:an?|the|new|two|three|separate))*"
    r"(?: (?:sub)?(?:folders?|director(?:y|ies))(?: (?:named|called))?"
    r" (?P<names>['\"`]?[\w-]+['\"`]?(?:(?:,| and) ['\"`]?[\w-]+['\"`]?)*)"
    r"|(?! (?:each|every|same|your|my|their|output|outputs|its)\b) (?P<name>[\w-]+)"
    r" (?:folder|directory)\b)"
)
_NO_FOLDER = frozenset(
    ("for", "of", "with", "that", "which", "as", "using", "in", "to", "on", "if")
)


def folders_of(request: str, names: Sequence[str]) -> dict[str, str]:
    """The folder into which the request has each of these files saved, if it names one for it.

    One folder takes all the files, of several each takes one, in the order of the request.
    """
    beside = {match["file"]: match["name"] for match in _FILE_IN.finditer(request)}
    placed = {name: beside[name] for name in names if beside.get(name, "for") not in _NO_FOLDER}
    match = _SAVED_IN.search(request)
    if match is None or placed:
        return placed
    folders = [
        word.strip("'\"`") for word in re.split(r", | and ", match["names"] or match["name"])
    ]
    written = sorted((name for name in names if name in request), key=request.find)
    if _NO_FOLDER.intersection(folders) or len(folders) not in (1, len(written)):
        return {}
    return dict(zip(written, folders * (len(written) if len(folders) == 1 else 1), strict=True))


def folders_with(base: str, named: Sequence[str]) -> set[str]:
    """The folders, of persons or things, in each of which a file of this name is asked for."""
    parts = [path.replace("\\", "/").split("/") for path in named]
    folders = {path[-2] if len(path) > 1 else "" for path in parts if path[-1] == base}
    return {folder for folder in folders if folder.lower() not in _ANY_RESULTS}


def is_repeated(request: str, name: str) -> bool:
    """Is a file of this name to lie in a folder of each person or thing, or to go out to each?"""
    patterns = (_EACH_FOLDER, _MAIL_EACH) if name.endswith(".eml") else (_EACH_FOLDER,)
    texts = [item.text for item in read(request) if name in item.text]
    return any(pattern.search(text.lower()) for text in texts for pattern in patterns)
