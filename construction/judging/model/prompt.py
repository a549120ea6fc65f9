"""What a model is sent: prompts as files, and session content as data inside one fence.

A file of `prompts/` holds the instructions (`system`), the part of them that an answer may quote
(`reference`: definitions of labels), and the sentences around the material (`intro`, `outro`).
What is said about the material itself is the same in all prompts: `prompts/frame.toml`. A prompt
has a version, and a digest that is part of stage keys.

Session content is cleaned, bounded, and put into a block that it cannot close. The block is JSON,
so that no text in it starts a line of its own. Its fence is a digest of that JSON: content would
have to hold its own digest to forge it, and the brackets of the fence are removed from it besides.
Tokens with which chat templates mark turns are defaced, because some servers interpret them
wherever they occur.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from json.encoder import encode_basestring
from operator import itemgetter
from pathlib import Path
from typing import Any

from construction.judging.calls.contracts import Image
from construction.judging.contracts import Case, ModelStagesConfig
from construction.judging.evidence.shown import deal
from construction.judging.evidence.views import POINTER, Pictures, each_once
from construction.mentions.files import find_file_spans, tail
from construction.prompt_frame import OUTPUTS
from data.canonical import digest
from data.errors import ConfigError
from data.neutralise import HIDDEN, visible
from data.text.folding import fold_width
from data.text.lexicon import load_table
from data.text.scripts import sentence_spans

_CHAT_TOKEN = re.compile(
    r"<[|｜][^|｜<>\n]{0,40}[|｜]>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|pad|unk|mask|think|tool_call|tool_response|start_of_turn|end_of_turn"
    r"|im_start|im_end)>",
    re.IGNORECASE,
)
_DEFACED = str.maketrans({"<": "‹", ">": "›", "[": "［", "]": "］"})
_BRACKETS = str.maketrans({"⟦": "[", "⟧": "]", "〚": "[", "〛": "]"})
CUT = "⟨{} characters left out⟩"
_GROWTH = 1_000_000  # characters that are shown by their names are longer than they were
_FOLDER = files("construction.judging.model").joinpath("prompts")
_FIELDS = frozenset(
    {"id", "version", "max_tokens", "system", "reference", "intro", "outro", "free_words"}
)
_FRAME = "frame"  # the file of what all prompts say
NAMES = tuple(sorted({Path(file.name).stem for file in _FOLDER.iterdir()} - {_FRAME}))
_MOST_NAMED = 40  # files of which it is said where they are


@dataclass(frozen=True, slots=True)
class Block:
    """Cleaned content as JSON, and the code of the fence around it."""

    text: str = field(repr=False)
    fence: str


@dataclass(slots=True)
class Cleaner:
    """Cleans the strings of one block and notes what it did: counts and places, never text."""

    notes: list[str] = field(default_factory=list)

    def text(self, text: str, most: int, name: str) -> str:
        """`text` without hidden characters, cut to `most` characters plus a mark."""
        shown, hidden, tokens = _cleaned(text)
        if hidden:
            self.notes.append(f"{name}: {hidden} characters that cannot be seen taken out")
        if tokens:
            self.notes.append(f"{name}: {tokens} marks of chat templates defaced")
        if len(shown) <= most:
            return shown
        self.notes.append(f"{name}: {len(shown) - most} characters left out in the middle")
        head = most - most // 3
        tail = shown[len(shown) - most // 3 :] if most // 3 else ""
        return f"{shown[:head]}{CUT.format(len(shown) - most)}{tail}"

    def tree(self, value: Any, name: str) -> Any:
        """A value of JSON with each of its strings cleaned and whole; `name` is its place."""
        if isinstance(value, str):
            return self.text(value, len(value) + _GROWTH, name)
        if isinstance(value, Mapping):
            return {key: self.tree(part, str(key)) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(part, name) for part in value]
        return value


def cleaned(text: str) -> str:
    """A text as a model reads it, whole. Idempotent."""
    return _cleaned(text)[0]


def _cleaned(text: str) -> tuple[str, int, int]:
    """The cleaned text, and how many hidden characters and marks of chat templates were in it."""
    bare, hidden = HIDDEN.subn("", text)
    shown = visible(bare).translate(_BRACKETS)
    shown, tokens = _CHAT_TOKEN.subn(lambda match: match[0].translate(_DEFACED), shown)
    return shown, hidden, tokens


def data_block(content: Mapping[str, Any], notes: list[str]) -> Block:
    """The block of a request; all strings of `content` were cleaned by a `Cleaner`."""
    listed = list(dict.fromkeys(notes))
    everything = {**content, "notes": listed} if listed else dict(content)
    text = indented(everything)
    return Block(text, digest(text.encode())[:32])


def indented(value: Any, margin: str = "\n") -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1)`, but fast; keys must be text."""
    if isinstance(value, str):
        return encode_basestring(value)
    inner = f"{margin} "
    if isinstance(value, dict) and value:
        pairs = (f"{inner}{encode_basestring(key)}: {indented(value[key], inner)}" for key in value)
        return f"{{{','.join(pairs)}{margin}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{','.join(f'{inner}{indented(part, inner)}' for part in value)}{margin}]"
    return json.dumps(value)


def case_content(
    case: Case, cleaner: Cleaner, config: ModelStagesConfig, pictures: Pictures | None = None
) -> dict[str, Any]:
    """What a judge reads of a case: its language, and the evidence within its budget.

    `pictures` makes the images that go along (`case_images`); None: the model is shown none.
    """
    shown = deal(case.evidence, config.evidence_tokens, images=pictures is not None)
    cleaner.notes += [f"left out: {what}" for what in shown.left_out]
    urls = [cleaner.text(url, config.path_chars, "web") for url in case.candidate.network.urls]
    content: dict[str, Any] = cleaner.tree(shown.content, "evidence")
    made = pictures.of(case.candidate.fixtures, shown.images) if pictures else []
    names = [f"{number}: {one.path}, {one.picture}" for number, (one, _) in enumerate(made, 1)]
    if len(made) < len(shown.images):
        cleaner.notes.append(f"left out: {len(shown.images) - len(made)} pictures that do not open")
    hidden = [f"{path}: {note}" for path, note in looked_at(case, config, pictures).unseen.items()]
    more = {"web": urls, "pictures": cleaner.tree(names, "pictures")}
    more |= {"unseen": cleaner.tree(hidden[:_MOST_NAMED], "unseen")}
    about = {"language": case.candidate.language, **cleaner.tree(_at_hand(case), "named_files")}
    return {**about, **content} | {k: v for k, v in more.items() if v}


def _at_hand(case: Case) -> dict[str, Any]:
    """How many input files there are, and where those are that the request names."""
    evidence = case.evidence
    given = [view.path for view in evidence.files if view.note != POINTER]
    said = "\n".join(one.text for one in evidence.said if one.speaker != "agent")
    spans = find_file_spans(said, (*given, *evidence.wrote, *evidence.read))
    names = [span.path for span in spans if not span.doubtful]
    named = list({tail(path): path for path in reversed(names)}.values())
    wrote = {tail(path) for path in evidence.wrote}
    listed = [f"{name}: {_whereabouts(name, given, wrote)}" for name in named[:_MOST_NAMED]]
    there = {*map(tail, given), *map(tail, named), *wrote}
    read = list(dict.fromkeys(path for path in evidence.read if tail(path) not in there))
    listed += [f"{path}: the agent read it, and it is not kept" for path in read[:_MOST_NAMED]]
    count = f"{len(given)}, listed under input_files" if given else "none"
    return {"files_at_hand": count} | ({"named_files": listed} if listed else {})


def _whereabouts(name: str, given: Sequence[str], wrote: Collection[str]) -> str:
    wanted, stem = tail(name), tail(name).rpartition(".")[0]
    if same := [path for path in given if tail(path) == wanted]:
        return f"at hand as {same[0]}"
    if alike := [path for path in given if stem and tail(path).rpartition(".")[0] == stem]:
        return f"not kept; at hand with the same name in another form: {alike[0]}"
    if wanted in wrote:
        return "made by the agent"
    if name.startswith(OUTPUTS):
        return "to be made"
    return "no such file: it is not kept, or is to be made"


@dataclass(frozen=True, slots=True)
class LookedAt:
    """Inputs with pictures or pages without text: of which some were `shown` to the model, and of
    which some were not, each with what is known of it."""

    shown: frozenset[str] = frozenset()
    unseen: Mapping[str, str] = field(default_factory=dict)


def looked_at(case: Case, config: ModelStagesConfig, pictures: Pictures | None) -> LookedAt:
    """What a model is shown of pictures; without `pictures` nothing."""
    views = [view for view in each_once(case.evidence.files) if view.bare_pictures]
    made = set[tuple[str, str]]()
    if views and pictures is not None:
        shown = deal(case.evidence, config.evidence_tokens, images=True).images
        made = {(one.path, one.picture) for one, _ in pictures.of(case.candidate.fixtures, shown)}
    unseen = {
        view.path: view.note or "a picture"
        for view in views
        if any((view.path, name) not in made for name in view.bare_pictures)
    }
    return LookedAt(frozenset(path for path, _ in made), unseen)


def case_images(
    case: Case, config: ModelStagesConfig, pictures: Pictures | None
) -> tuple[Image, ...]:
    """The images that go with the content of a case, in the order of its list `pictures`."""
    if pictures is None:
        return ()
    shown = deal(case.evidence, config.evidence_tokens, images=True)
    return tuple(image for _, image in pictures.of(case.candidate.fixtures, shown.images))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; texts stay out of `repr`.

    `secret` is the part of the system text that no answer may repeat, `canary` the mark in it.
    `digest` covers every text of the prompt and the limit of the reply.
    """

    name: str
    version: int
    digest: str
    canary: str
    max_tokens: int
    secret: str = field(repr=False)
    reference: str = field(repr=False)
    user_frame: str = field(repr=False)
    free_words: frozenset[str] = field(default=frozenset(), repr=False)

    def system(self, tables: str = "") -> str:
        """The system text; `tables` are label tables of the recipe, never session content."""
        return "\n\n".join(part for part in (self.secret, self.reference, tables.strip()) if part)

    def user(self, block: Block) -> str:
        """The user message: the frame around one block of material."""
        fenced = self.user_frame.replace("{fence}", block.fence)
        return fenced.replace(
            "{data}", block.text
        )  # last, so that braces in the data are not replaced


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of `prompts/<name>.toml`. Raises ConfigError if the file is not a prompt."""
    fields, frame = _read(name), _read(_FRAME)
    strange = sorted(fields.keys() - _FIELDS)
    if strange or fields.get("id") != name:
        wrong = f"unknown fields: {', '.join(strange)}" if strange else "another id"
        raise ConfigError(f"prompt {name}: {wrong}")
    texts = {key: str(fields[key]).strip() for key in ("system", "reference", "intro", "outro")}
    texts["system"] = texts["system"].replace("{library}", frame["library"].strip())
    free_words = fields.get("free_words", [])
    around = {
        key: text for key, text in frame.items() if key != "library"
    }  # is in `texts`, if used
    whole = digest([name, fields["version"], fields["max_tokens"], texts, around, free_words])
    canary = f"bmk-{whole[:16]}"
    user = frame["user"].strip().replace("{intro}", texts["intro"])
    return Prompt(
        name=name,
        version=fields["version"],
        digest=whole,
        canary=canary,
        max_tokens=fields["max_tokens"],
        secret=f"{texts['system']}\n\n{frame['system'].strip().replace('{canary}', canary)}",
        reference=texts["reference"],
        user_frame=user.replace("{outro}", texts["outro"]),
        free_words=frozenset(free_words),
    )


def prompts_digest() -> str:
    """One digest of all prompts, for keys of stages that use several."""
    return digest({name: load_prompt(name).digest for name in NAMES})


def _read(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"prompt {name}: cannot be read ({type(error).__name__})") from None


# Guards against prompt injection: material that addresses its judge, answers that leak prompts.
#
# `addresses_judge` looks for word lists in English and Chinese (`addressed.toml`), also through the
# disguises that a model can read: hidden characters, tag characters, full-width and look-alike
# letters, words spelled apart, base64. A match means "be careful", not "guilty": people do ask for
# work on prompts and rubrics.
#
# `leaked` recognises the mark of the prompt and the code of the fence, also spelled apart or in
# base64, and any run of words of the instructions. It does not recognise a free translation; for
# that the checks of each stage bound what an answer may hold.

_WORD_START = r"\b"
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_MANY_HIDDEN = 8  # more than a pasted page or a few emoji contain
_SPELLED = re.compile(r"(?<![A-Za-z])(?:[A-Za-z][ .\-_*·]{1,3}){11}[A-Za-z](?![A-Za-z])")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,8000}={0,2}")
_EMOJI_JOINED = "\u200d\ufe0e\ufe0f"
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
    hidden = [sign for sign in HIDDEN.findall(text) if sign not in _EMOJI_JOINED]
    if len(hidden) > _MANY_HIDDEN or _CHAT_TOKEN.search(text) or _SPELLED.search(text):
        return True
    english, chinese = _patterns()
    return any(
        english.search(form)
        or (not form.isascii() and chinese.search("".join(form.split())) is not None)
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


def _task_without_addressed(text: str) -> str:
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
            key: _task_without_addressed(part) if key == TASK else without_addressed_in(part)
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
