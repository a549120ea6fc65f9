"""Guards against prompt injection: material that addresses its judge, answers that leak prompts.

`addresses_judge` looks for word lists in English and Chinese (`addressed.toml`), also through the
disguises that a model can read: hidden characters, tag characters, full-width and look-alike
letters, words spelled apart, base64. A match means "be careful", not "guilty": people do ask for
work on prompts and rubrics.

`leaked` recognises the mark of the prompt and the code of the fence, also spelled apart or in
base64, and any run of words of the instructions. It does not recognise a free translation; for
that the checks of each stage bound what an answer may hold.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from construction.judging.model.prompt import CHAT_TOKEN, Prompt
from data.neutralise import HIDDEN
from data.text.folding import fold_width
from data.text.lexicon import load_table
from data.text.sentences import sentence_spans

_WORD_START = r"\b"
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_MANY_HIDDEN = 8  # more than a pasted page or a few emoji contain
_SPELLED = re.compile(r"(?<![A-Za-z])(?:[A-Za-z][ .\-_*·]{1,3}){11}[A-Za-z](?![A-Za-z])")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,8000}={0,2}")
_BLANKS = re.compile(r"\s+")
_EMOJI_JOINED = re.compile("[\u200d\ufe0e\ufe0f]")
_JOINTS = re.compile(r"[_\-.]+")
_NAME_END = re.compile(r"\.\w{1,5}$")
_LEFT_OUT = "⟨left out: it is addressed to a judge⟩"
TASK = "task"  # the key of what is asked for
_PIECE = 20_000  # characters at each end of a text that are read
# Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһӏьАВЕКМНОРСТХІЈЅαεινορτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqwhlbABEKMHOPCTXIJSaeivoptuxkABEZHIKMNOPTYX",
)
_RUN = 8  # words in a row that no one writes by chance
_LEAST = 2 * _RUN - 1  # characters of the shortest such run; every mark is longer
_WORD = re.compile(r"[a-z0-9]+")
_ANY_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}")  # also as written in URLs
_MOST = 200_000  # characters of one text


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    phrases = load_table(__package__, "addressed.toml")
    english, chinese = (_any_of(phrases[name]) for name in ("english", "chinese"))
    return english, chinese


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all; those that begin at a word are tried only where a word begins."""
    words = "|".join(
        f"(?:{one.removeprefix(_WORD_START)})" for one in patterns if one.startswith(_WORD_START)
    )
    others = [f"(?:{one})" for one in patterns if not one.startswith(_WORD_START)]
    return re.compile("|".join([*([f"{_WORD_START}(?:{words})"] if words else []), *others]), re.M)


def addresses_judge(text: str) -> bool:
    """Whether a text addresses its judge, or holds marks of chat templates or hidden text."""
    hidden = HIDDEN.findall(_EMOJI_JOINED.sub("", text))
    if len(hidden) > _MANY_HIDDEN or CHAT_TOKEN.search(text) or _SPELLED.search(text):
        return True
    english, chinese = _patterns()
    return any(
        english.search(form)
        or (not form.isascii() and chinese.search(_BLANKS.sub("", form)) is not None)
        for form in _forms(text)
    )


def _without_addressed(text: str) -> str:
    """A text in which a mark stands for each run of paragraphs that address a judge.

    If no paragraph remains, sentences are taken out in the same way; if none of them either, only
    hidden characters go.
    """
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    for parts, joint in ((text.split("\n\n"), "\n\n"), (sentences, "")):
        speaks = [bool(part.strip()) and addresses_judge(part) for part in parts]
        if any(part.strip() for part, does in zip(parts, speaks, strict=True) if not does):
            return HIDDEN.sub("", joint.join(_marked(parts, speaks)))
    return HIDDEN.sub("", text)


def task_without_addressed(text: str) -> str:
    """A task without the sentences that address a judge: what else its paragraphs say stays.

    It is what a person wants, and nobody can judge it unseen. Where sentences do so together, their
    paragraph goes; where paragraphs do, the text is treated as any other.
    """
    paragraphs = text.split("\n\n")
    speaks = list(map(addresses_judge, paragraphs))
    for at in (at for at, does in enumerate(speaks) if does):
        sentences = [paragraphs[at][start:end] for start, end in sentence_spans(paragraphs[at])]
        own = list(map(addresses_judge, sentences))
        rest = "".join(_marked(sentences, own))
        speaks[at] = all(own) or addresses_judge(rest)
        paragraphs[at] = paragraphs[at] if speaks[at] else HIDDEN.sub("", rest)
    remaining = "\n\n".join(_marked(paragraphs, speaks))
    return without_addressed_in(text) if addresses_judge(remaining) else remaining


def _marked(parts: Sequence[str], speaks: Sequence[bool]) -> Iterator[str]:
    """The parts, with one mark for each run of those that speak; the blanks around a run stay."""
    for does, run in groupby(zip(speaks, parts, strict=True), key=itemgetter(0)):
        texts = [part for _, part in run]
        run_text = "".join(texts)
        yield from [run_text.replace(run_text.strip(), _LEFT_OUT)] if does else texts


def _speaks(text: str) -> bool:
    """Does a text, or the name of a file that is made of its words, address a judge?"""
    is_name = " " not in text or _NAME_END.search(text) is not None
    return addresses_judge(text) or (is_name and addresses_judge(_JOINTS.sub(" ", text)))


def without_addressed_in(content: Any) -> Any:
    """The content of a prompt with every string rid of what addresses a judge, names of files too.

    Of the `task` only the sentences that do so go. Of others, a string in which nothing else stands
    says that it was left out.
    """
    if isinstance(content, str):
        if not _speaks(content):
            return content
        remaining = _without_addressed(content)
        return _LEFT_OUT if _speaks(remaining) else remaining
    if isinstance(content, Mapping):
        return {
            key: task_without_addressed(part) if key == TASK else without_addressed_in(part)
            for key, part in content.items()
        }
    if isinstance(content, list | tuple):
        return [without_addressed_in(part) for part in content]
    return content


def _forms(text: str) -> Iterator[str]:
    """The text in plain form, and the plain form of what is tagged or encoded in it."""
    if len(text) > 2 * _PIECE:
        text = f"{text[:_PIECE]}\n{text[-_PIECE:]}"
    yield _plain(text)
    for tagged in _TAGS.findall(text):
        yield _plain("".join(chr(ord(char) - 0xE0000) for char in tagged))
    for run in _BASE64.findall(text):
        with suppress(binascii.Error, ValueError):
            yield _plain(base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8"))


def _plain(text: str) -> str:
    if not text.isascii():
        text = HIDDEN.sub("", fold_width(text)).translate(_LOOKALIKES)
    lines = text.lower().replace("’", "").replace("'", "").splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


def leaked(prompt: Prompt, fence: str, texts: Iterable[str], shown: Iterable[str]) -> bool:
    """Whether one of the texts repeats the prompt's mark, a run of its words, or the fence.

    What also stands in `shown`, the material that was judged, may be repeated: a quote is no leak.
    """
    forms = [form for text in texts for form in _leak_forms(text)]
    marks = frozenset("".join(_WORD.findall(mark.lower())) for mark in (prompt.canary, fence))
    runs = _runs_of(prompt.secret)
    if not any(_repeats(runs, marks, form) for form in forms):
        return False
    for own in (_words(form) for text in shown for form in _leak_forms(text)):
        packed = "".join(own)
        marks, runs = frozenset(m for m in marks if m not in packed), runs.difference(_runs(own))
    return any(_repeats(runs, marks, form) for form in forms)


def _leak_forms(text: str) -> tuple[str, ...]:
    """A text and what is encoded in it; nothing where it is too short to repeat anything."""
    if len(text) < _LEAST and text.isascii():  # others may become longer when normalised
        return ()
    return text[:_MOST], *_decoded(text[:_MOST])


def _repeats(runs: Set[tuple[str, ...]], marks: Iterable[str], text: str) -> bool:
    words = _words(text)
    packed = "".join(words)
    if any(mark in packed or mark[::-1] in packed for mark in marks):
        return True
    return any(run in runs for run in _runs(words))


@lru_cache(maxsize=16)
def _runs_of(secret: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_runs(_words(secret)))


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = HIDDEN.sub("", fold_width(text))
    return _WORD.findall(text.lower())


def _decoded(text: str) -> Iterable[str]:
    """The decoded text of the base64 in a text."""
    for match in _ANY_BASE64.finditer(text):
        run = match[0].replace("-", "+").replace("_", "/")
        with suppress(binascii.Error, ValueError):
            yield base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8", "ignore")
