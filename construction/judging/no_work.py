"""Prompts that are no work to hand out: toys, chat, prompts of a harness, set-up chores.

The words are in `no_work.toml`. A toy or chat is short and brings no file; in a set-up chore every
order sets something up. The same words get the same verdict, whoever typed them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from construction.judging.lexicon import phrases_of
from construction.judging.reading import Ask, Reading
from data.text.lexicon import load_table
from data.text.sentences import phrase_form

_TABLE = "no_work.toml"
_SHORT = 30  # words; in a longer request a toy is only an example
_POLITE = re.compile(
    r"(?:(?:please|can|could|would|will|you|help|me|to|i|id|like|need|want|now|then|and|also|first"
    r"|next|just|go|ahead|hi|hello|hey)\b\s?|[请帮我把给先再你来去您好，, ])*"
)
_DELETES = re.compile(
    r"(?i)(?:(?:please|kindly) )?(?:delete|remove|erase|trash) (?:"
    r"(?:the |this |my )?(?:file )?[\w./~-]+\.[a-z]\w{1,4}(?: file)?"
    r"|(?:the |this |that |my |all )(?:[\w-]+ ){0,3}"
    r"(?:files?|folders?|director(?:y|ies)|documents?))"
    r"(?: (?:from|in|under) (?:the |my )?[\w./~-]+(?: folder| directory)?)?[.!]?"
)
_WORDS = {name: "|".join(words) for name, words in load_table(__package__, _TABLE)["trial"].items()}
# What only tries out an agent or its harness, as a whole sentence: it names nothing to work on.
_TRIAL = re.compile(
    r"(?i)\W*(?:please )?(?:"
    rf"(?:{_WORDS['placeholders']})"
    r" ?#?\d*|\[[^\]]{1,60}\]|<[^>]{1,60}>"
    rf"|(?:{_WORDS['uses']}) (?:an?|any|some|the|your) ?"
    rf"(?:[\w-]+ ){{0,2}}?(?:{_WORDS['means']})"
    r"|exercise (?:[\w-]+ ){1,3}(?:metadata|events?|tools?|records?|formats?|paths?|calls?)"
    r"|(?:delegate|spawn|launch|start|kick off|hand)\b(?: [\w-]+){0,6} sub-?agents?"
    r"|(?:i )?need (?:an?|some) (?:quick |short |simple )?(?:diagnostics?|test|check|reply)"
    r")\W*"
)
# A file or a line with a word that says nothing, whatever else lies there: "foo.txt with bar".
_FILE = r"[\"'`“]?[\w-]{1,30}\.\w{1,5}[\"'`”]?"
_NOTHING = rf"[\"'`“]?(?:{_WORDS['nothing']})[!.]?[\"'`”]?"
_MAKES = rf"(?:{_WORDS['makes']})"
_TRIAL_FILE = re.compile(
    rf"(?i)\W*(?:please |can you |could you )?(?:{_MAKES}(?: me)? (?:(?:an?|the|one|eine?) )?"
    r"(?:(?:new|simple|small|short|plain|basic) )*(?:(?:text|word|python|markdown|html|test) )?"
    r"(?:(?:file|script|program|document|datei)[, ] ?)?(?:(?:called|named|namens) )?"
    rf"(?:{_FILE},? )?(?:(?:with|containing|saying|that (?:says|prints|outputs|contains)|mit) )?"
    r"(?:(?:just|only|the|one) )*(?:(?:content|text|word|line|string)[: ] ?)?"
    rf"{_NOTHING}(?: (?:program|script|app|application|(?:html |web ?)?page|example|file))?"
    r"(?: in [\w+#]{1,15})?(?:(?:,| and)? (?:save|store|put) it)?"
    rf"(?: (?:in|into|to|as|on) (?:(?:it|an?|the|eine?) ?)?(?:(?:file|datei|console|screen) ?)?"
    rf"(?:{_FILE})?)?"
    rf"|(?:请|帮我)?(?:创建|新建|写|建|打印|输出|用\w{{1,10}}写)(?:一个)?"
    rf"(?:文件)? ?(?:{_FILE})?[，,]? ?"
    rf"(?:内容)?(?:是|为)?[：:]? ?{_NOTHING}(?:程序)?)\W*"
)
# Of a toy more can be made than a toy: a lesson on it.
_MORE = re.compile(
    r"(?i)\b(?:explain\w*|lesson|tutorial|exercises?|compar\w+|article|essay|course|quiz|history)\b"
    r"|讲解|教程|练习|对比"
)
_READS = re.compile(
    r"(?i)(?:(?:ok|okay|please|first|now|hi|hello|then|and|let['’]?s|so)[, ]+)*"
    r"(?:read|look (?:at|over|through)|review|study|familiari[sz]e|understand|skim|"
    r"go (?:over|through)|check out|load|open)\b|^(?:请)?(?:先)?(?:阅读|读|看|了解|熟悉)"
)
_FOLLOWS = re.compile(
    r"(?i)\b(?:i['’]?ll|i will|i['’]?m going to|we['’]?ll|we will) (?:then )?(?:tell|give|explain|"
    r"describe|share|ask|send|let you know|talk)\b[^.]{0,60}"
    r"\b(?:tasks?|work|do|what|next|questions?|instructions?|plan|changes?|feature)\b"
    r"|然后我(?:再|会)?告诉你|(?:接下来|之后|稍后)我(?:再|会)(?:告诉|给|说明|交代)"
)
_LONGEST_TRIAL = 160  # characters
_MOST = 20_000  # characters that are read


@dataclass(frozen=True, slots=True)
class NoWork:
    """`toy` and `chat`: is it no more than that? `harness`: words of programs that test agents.

    `setups`: how many of the `orders` set something up.
    """

    toy: bool
    chat: bool
    harness: int
    orders: int
    setups: int


def no_work(sentences: Sequence[Reading], *, has_files: bool, names_output: bool) -> NoWork:
    """What of a request is no work. `has_files`: there is an input; `names_output`: a result."""
    form = phrase_form(" ".join(item.text for item in sentences)[:_MOST])
    is_bare = not has_files and sum(item.words for item in sentences) <= _SHORT
    demands = [item for item in sentences if item.demands]
    chats = [item for item in sentences if _has(phrase_form(item.text), "chat")]
    setups = [item for item in sentences if not names_output and _sets_up(item)]
    # Where whole files go and nothing else is done, no file is left to look at.
    setups += [item for item in sentences if _DELETES.fullmatch(item.text.strip())]
    orders = [item for item in demands if item.ask is Ask.DIRECTIVE] or demands
    is_chat = is_bare and bool(chats) and all(item in chats for item in demands)
    asked_for = [item for item in sentences if item.ask is not Ask.NONE]
    of_itself = all(_has(phrase_form(item.text), "itself") for item in asked_for)
    return NoWork(
        toy=_is_toy(sentences, form, is_bare=is_bare),
        chat=(is_chat or (bool(asked_for) and of_itself)) and not names_output,
        harness=len({match.group().strip() for match in _words("harness").finditer(form)}),
        orders=len(orders) + sum(item not in orders for item in setups),
        setups=len(setups),
    )


def _is_toy(sentences: Sequence[Reading], form: str, *, is_bare: bool) -> bool:
    said = " ".join(item.text for item in sentences)
    if len(said) <= _LONGEST_TRIAL and _TRIAL_FILE.fullmatch(said) is not None:
        return True
    names = _has(form, "toy") and _MORE.search(said) is None
    return is_bare and (names or _only_tries_out(sentences))


def _only_tries_out(sentences: Sequence[Reading]) -> bool:
    return bool(sentences) and all(_TRIAL.fullmatch(item.text) for item in sentences)


def _sets_up(item: Reading) -> bool:
    """Does a sentence begin with the order to set something up, after polite words at most?"""
    form = phrase_form(item.text)
    match = _words("setup").search(form)
    return match is not None and _POLITE.fullmatch(form[: match.start()].strip(" |")) is not None


def _has(form: str, name: str) -> bool:
    return _words(name).search(form) is not None


def _words(name: str) -> re.Pattern[str]:
    return phrases_of(_TABLE, name)


def task_follows(sentences: Sequence[Reading]) -> bool:
    """Is all that is ordered to read, and the task yet to come: "then I'll tell you the task"?"""
    if not any(_FOLLOWS.search(item.text) for item in sentences):
        return False
    return all(
        _READS.match(item.text) or _FOLLOWS.search(item.text) for item in sentences if item.demands
    )
