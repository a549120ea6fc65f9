"""What the input files of a task hold, as far as rules and rubrics are made from it.

The files are masked, and yet hostile: they are opened as the outputs of agents are, each in a
confined process of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.content_rules import text_key
from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits, Seen
from construction.grading.file_types import extension_of
from construction.judging.contracts import Case, InputFile, InputTable
from construction.judging.edits import files_in, stem_words
from construction.mentions.extensions import tail
from construction.mentions.resources import resources
from data.contracts import Fixture
from data.text.lexicon import load_table
from data.text.scripts import HAN, has_han

_STOP = frozenset(load_table("construction.judging", "tables", "grading.toml")["terms"]["common"])
_SPOKEN = load_table("construction.judging", "tables", "grading.toml")["spoken"]
# Also between "RSS" and the Chinese words beside it, where no blank stands.
_WORDS = re.compile(rf"[\W_]+|(?<=[{HAN}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{HAN}])")
_ENDING = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s)$")
ANY_FOLDER = frozenset(
    ("fixture", "fixtures", "fixtur", "input", "inputs", "media", "src", "doc", "test")
)
_MAILBOX, _MAIL = frozenset(("inbox", "mailbox", "gmail")), frozenset(("email", "mail", "邮件"))
_IMAGE = frozenset(("image", "picture", "photo", "scan", "screenshot", "图片", "照片", "截图"))
_KINDS = {
    "eml": frozenset(("email", "mail", "inbox")),
    "ics": frozenset(("calendar",)),
    "pdf": frozenset(("pdf",)),
    "docx": frozenset(("word", "docx")),
    "xlsx": frozenset(("excel", "xlsx", "spreadsheet")),
    "csv": frozenset(("csv",)),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp"), _IMAGE),
}
_EXCEPT = re.compile(
    r"\b(?:except|but not|other than|apart from)\b[^,.;]*|除了?[^，。；]*(?:以?外|之外)"
)
_OWN_TEXT = re.compile(r"[\"“'‘「]\s*\w+(?:\s+\w+){2,}[^\"”'’」]*[\"”'’」]")
_SOURCED = re.compile(
    r"(?i)\b(?:from|in|of|based|using|according|file|this|attached|read|scan|extract|analy\w+)\b"
    r"|根据|从|读|附件|文件|这"
)
# "Convert the agenda from calendar": the calendar is what is read, whatever is called an agenda.
_SOURCE = re.compile(
    r"\b(?:convert|extract|take|get|read|collect|copy)\b[^.;,]{0,50}\bfrom (?:the |an? |my )?"
    r"(calendar|e-?mail|inbox|pdf|image|picture|photo|csv)s?\b(?! file named)"
)
_MOST_TERMS = 400  # of one file
_LIMITS = RuleLimits(total_seconds=3600, files=100_000)


def with_inputs(cases: Sequence[Case], files: Mapping[str, Path]) -> list[Case]:
    """The cases with what each input file holds; `files` are the contents by SHA-256."""
    fixtures = [fixture for case in cases for fixture in case.candidate.fixtures]
    seen = _look(fixtures, files)
    return [
        case.model_copy(
            update={
                "inputs": {
                    fixture.path: _input(seen[_name(fixture)])
                    for fixture in case.candidate.fixtures
                    if not seen[_name(fixture)].trouble and seen[_name(fixture)].words
                }
            }
        )
        for case in cases
    ]


def _look(fixtures: Iterable[Fixture], files: Mapping[str, Path]) -> dict[str, Seen]:
    """What is seen in each content, by its name with the extension under which it is released."""
    sources = {_name(fixture): files[fixture.sha256] for fixture in fixtures}
    names = sorted(sources)
    with TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).write_bytes(sources[name].read_bytes())
        return dict(zip(names, look_in_children(Path(folder), names, _LIMITS), strict=True))


def _name(fixture: Fixture) -> str:
    extension = extension_of(fixture.path)
    return f"{fixture.sha256}.{extension}" if extension.isalnum() else fixture.sha256


def _input(seen: Seen) -> InputFile:
    tables = tuple(
        InputTable(
            name=table.name,
            columns=table.columns,
            rows=table.rows,
            blanks={
                name: blank
                for name, blank in zip(table.columns, table.blanks, strict=False)
                if 0 < blank < table.rows
            },
            repeats=table.repeats,
            cells=table.cells,
        )
        for table in seen.tables
    )
    return InputFile(
        words=seen.words, key=text_key(seen.text), terms=terms_of(seen.text), tables=tables
    )


def terms_of(form: str, most: int = _MOST_TERMS) -> tuple[str, ...]:
    """The words of a `word_form` that say what it is about, each once, in order.

    Of Chinese, pairs of characters; of figures, those of two digits or more.
    """
    matched: dict[str, None] = {}
    for term in _terms(form.split()):
        matched.setdefault(term)
        if len(matched) == most:
            break
    return tuple(matched)


def _terms(words: Sequence[str]) -> Iterator[str]:
    for position, word in enumerate(words):
        if has_han(word):
            after = words[position + 1] if position + 1 < len(words) else ""
            if has_han(after) and word + after not in _STOP:
                yield f"{word} {after}"
        elif len(word) > (1 if word.isdigit() else 2) and word not in _STOP:
            yield _stem(word)


def _stem(word: str) -> str:
    """A word without its ending: terms are sought as beginnings of words."""
    return _ENDING.sub("", word) if word.isascii() and word.isalpha() else word


def _in_named_folder(path: str, text: str) -> bool:
    """Does a text name a folder, and no file in it, that a file lies in?"""
    folders = [path[: mark.end()] for mark in re.finditer("/", path)]
    return any(re.search(rf"{re.escape(folder)}(?![\w.])", text) for folder in folders)


def named_inputs(text: str, given: Sequence[str]) -> tuple[str, ...]:
    """The input files that a request speaks of; all of them if it speaks of none."""
    return inputs_spoken_of(text, given) or tuple(given)


def inputs_spoken_of(text: str, given: Sequence[str]) -> tuple[str, ...]:
    """The input files that a request names, or says what they are, or the only one there is.

    A file is named by itself, by the folder that it lies in, by the words of either, or by the
    system that it stands for; a mailbox also by "emails".
    """
    lowered = _EXCEPT.sub("", text.lower())
    words = set(map(_stem, _WORDS.split(lowered)))
    matched = {path for _, path in files_in(lowered, given)}
    matched |= {path for path in given if _in_named_folder(path.lower(), lowered)}
    if not matched:
        stems = tuple(stem for resource in resources(text) for stem in resource.files)
        stems += tuple(stem for word, names in _SPOKEN.items() if word in lowered for stem in names)
        matched = {path for path in given if _is_spoken_of(path, words, stems)}
    if not matched:
        matched = _pictures_meant((path for path in given if _is_of_kind(path, words)), words)
    matched = _said_in_one(matched, lowered)
    matched = _pictures_meant(sources_of(text, given), words) or matched
    chosen = tuple(path for path in given if path in matched)
    needs_none = _OWN_TEXT.search(text) is not None and not _SOURCED.search(text)
    return chosen or (tuple(given) if len(given) == 1 and not needs_none else ())


def sources_of(text: str, given: Sequence[str]) -> tuple[str, ...]:
    """The input files of the kind from which a request has something taken, if it names no file."""
    lowered = text.lower()
    if any(tail(path.lower()) in lowered for path in given):
        return ()
    kinds = {match[1] for match in _SOURCE.finditer(lowered)}
    return tuple(path for path in given if _is_of_kind(path, kinds))


def _is_spoken_of(path: str, words: Collection[str], stems: tuple[str, ...]) -> bool:
    """Are all the words of a file's name, or of its folder's, among the words of a text?

    Or does one begin as files do that stand for a system in it (`stems`)?
    """
    if stems and any(word.startswith(stems) for word in re.split(r"[\W_]+", path.lower())):
        return True
    folder = path.rpartition("/")[0].rpartition("/")[2]
    for name in (stem_words(path), re.split(r"[\W_]+", folder.lower())):
        telling = {_stem(word) for word in name if word} - _STOP - ANY_FOLDER
        if telling and (telling <= frozenset(words) or _holds_mail(telling, words)):
            return True
    return False


def _telling(path: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in stem_words(path) if word) - _STOP - ANY_FOLDER


def _pictures_meant(paths: Iterable[str], words: Collection[str]) -> set[str]:
    """Files that a text means by their type; of pictures those whose names share a word with it.

    All of them, if none does.
    """
    given = set(paths)
    pictures = {path for path in given if _KINDS.get(extension_of(path)) is _IMAGE}
    sharing = {path for path in pictures if not _telling(path).isdisjoint(words)}
    return given - pictures | (sharing or pictures)


def _said_in_one(paths: Collection[str], text: str) -> set[str]:
    """Of the files of one type those whose names a text says in one: "the sales notes image".

    All of them, where it says none so, or leaves something out.
    """
    spoken: dict[str, set[str]] = {}
    for path in paths:
        words = [re.escape(_stem(word)) for word in stem_words(path) if word]
        name, noun = r"[^\W_]{0,3}[\W_]+".join(words), "|".join(_KINDS.get(extension_of(path), ()))
        if noun and re.search(rf"(?<![a-z]){name}[^\W_]{{0,3}} (?:{noun})\b", text):
            spoken.setdefault(extension_of(path), set()).add(path)
    return {path for path in paths if path in spoken.get(extension_of(path), paths)}


def _is_of_kind(path: str, words: Collection[str]) -> bool:
    """Do words such as "mails" mean files of this type?"""
    return not _KINDS.get(extension_of(path), frozenset()).isdisjoint(words)


def _holds_mail(name: Collection[str], words: Collection[str]) -> bool:
    return not _MAILBOX.isdisjoint(name) and not _MAIL.isdisjoint(words)
