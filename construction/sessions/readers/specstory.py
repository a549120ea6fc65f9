"""Reads pages of SpecStory, which writes the sessions of several programs as Markdown.

`_**User**_`, `_**Agent (model time)**_`, `<tool-use>` blocks. Early files have a section
`Tool use: **NAME**` for a call. The first files name the agent Assistant and show between rules
what a call found; their edits and commands are plain Markdown, which stays the agent's text. Side
chains belong to sub-agents.
"""

from __future__ import annotations

import re

from construction.sessions.readers.pages import BLOCK, RULE, Form, Page, Section
from construction.sessions.readers.source import epoch_seconds
from construction.sessions.readers.talk import Answer, Talk
from data.contracts import SourceFormat

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?=Z)")
_TOOL = re.compile(r'<tool-use\b[^>]*\bdata-tool-name="([^"]{1,200})"[^>]*>')
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_NO_MARKS = re.compile(r"</?(?:think|details)>|<summary>.*?</summary>", re.DOTALL)
_OF_FILE = re.compile(r" • \w[\w ]{0,30}\bfile: `?(/[^\n`]{1,1000}|[A-Za-z]:\\[^\n`]{1,1000})`?$")
_NAMED = re.compile(r"^(\w[\w ]{0,30}):[ \t]*$", re.MULTILINE)
_EARLY = re.compile(r"Tool use: \*\*(\S{1,200})\*\*[ \t]*(?:path )?([^\n]*)")
_EARLY_END = re.compile(
    r"^(Result|Error):\n\n(`{3,})[^`\n]*\n(.*?)\n?\2\s*\Z", re.DOTALL | re.MULTILINE
)
_FOUND = re.compile(
    r"<details>\s*<summary>(([A-Z][a-z]+)[^\n]{0,1000}) • \*\*\d+\*\* \w+</summary>"
    r"((?:(?!</details>).)*)</details>",
    re.DOTALL,
)
_FOUND_BY = {"Listed": "list_dir", "Grep": "grep_search", "Searched": "codebase_search"}
_READ_FILE = re.compile(r"Read file: ([^\n]{1,1000})")


def _track_fence(heading: re.Match[str] | None, fence: str, text: str) -> str:
    """The fence that is open after a line of the agent. A shorter one inside does not close it."""
    match = _FENCE.match(text) if heading is not None and heading[1] != "User" else None
    if match is None or not fence:
        return match[1] if match else fence
    is_end = match[1].startswith(fence) and not text.strip().strip(fence[0])
    return "" if is_end else fence


def _add_specstory(page: Page, section: Section) -> None:
    who, side, about = section.heading.groups()
    talk = page.talk
    if side or not section.text:
        talk.skip("sub_agent" if side else "bookkeeping")
        return
    shown = _TIME.search(about or "")
    at = epoch_seconds(f"{shown[0]}+00:00") if shown else None
    if who == "User":
        talk.person(section.text, section.line, at=at)
        return
    model = _TIME.sub("", about or "").rstrip("Z").strip() or None
    answer = talk.answer(section.line, at=at, model=model)
    for thought in _THOUGHT.findall(section.text):
        answer.think(_NO_MARKS.sub("", thought).strip())
    if (early := _EARLY.match(section.text)) is not None:
        _add_early(talk, answer, early)
        return
    if "<tool-use" not in section.text and _add_found(talk, answer, section):
        return
    is_cursor = any("Cursor" in line for line in page.head)
    _add_elements(talk, answer, _THOUGHT.sub("", section.text), is_cursor=is_cursor)


def _add_early(talk: Talk, answer: Answer, call: re.Match[str]) -> None:
    """Add a call whose path, if it is shown, is code; the content of a file may stand below."""
    body = call.string[call.end() :].strip()
    end = _EARLY_END.search(body)
    content = BLOCK.match(body[: end.start()] if end else body)
    path = call[2].strip("`") if call[2].startswith("`") else ""
    given = {"path": path, "summary": "" if path else call[2], "content": content and content[2]}
    own = answer.call(None, call[1], {key: value for key, value in given.items() if value})
    if end is not None:
        talk.results.add(own, end[3], end[1] == "Error")


def _add_found(talk: Talk, answer: Answer, section: Section) -> bool:
    """Add the words and calls of a section between whose rules calls stand; were there any?"""
    blocks: list[list[str]] = [[]]
    fence = ""
    for line in _THOUGHT.sub("", section.text).split("\n"):
        fence = _track_fence(section.heading, fence, line)
        if line == RULE and not fence:
            blocks.append([])
        else:
            blocks[-1].append(line)
    said: list[str] = []
    for block in ("\n".join(lines).strip() for lines in blocks):
        search, shown = _FOUND.fullmatch(block), _READ_FILE.fullmatch(block)
        if search is None and shown is None:
            said.append(block)
        elif search is not None:
            tool = _FOUND_BY.get(search[2], "tool")
            talk.results.add(answer.call(None, tool, {"summary": search[1]}), search[3].strip())
        elif shown is not None:
            answer.call(None, "read_file", {"path": shown[1].strip()})
    if answer.calls:
        answer.say(f"\n\n{RULE}\n\n".join(filter(None, said)))
    return bool(answer.calls)


def _add_elements(talk: Talk, answer: Answer, text: str, *, is_cursor: bool) -> None:
    """Add words and calls. Cursor's calls are shown twice, the second time as an empty element.

    Where only the empty one is there, the call failed, and the words before it say why.
    """
    rest, shown_once = 0, ""
    for match in _TOOL.finditer(text):
        if match.start() < rest:
            continue  # quoted in the output of another call
        end = text.find("</tool-use>", match.end())
        end = len(text) if end < 0 else end
        between, shown = text[rest : match.start()].strip(), text[match.end() : end]
        rest = min(end + len("</tool-use>"), len(text))
        summary = _SUMMARY.search(shown)
        about = summary[1].strip() if summary else ""
        body = _NO_MARKS.sub("", shown).strip()
        is_empty = is_cursor and not body and shown.startswith("<details>")
        if is_empty and not between and shown_once == match[1]:
            shown_once = ""
            continue
        failed = is_empty and bool(between)
        if not failed:
            answer.say(between)
        shown_once = "" if is_empty else match[1]
        arguments, result = _element(body, about)
        own = answer.call(None, match[1], arguments)
        talk.results.add(own, between if failed else result, failed)
    answer.say(text[rest:].strip())


def _element(body: str, about: str) -> tuple[dict[str, object], str]:
    """(arguments, result) of a call: named blocks, or a command and what it printed."""
    arguments: dict[str, object] = {"summary": about} if about else {}
    if (file := _OF_FILE.search(about)) is not None:
        arguments["path"] = file[1]
    named = {m[1]: block[2] for m in _NAMED.finditer(body) if (block := _next_block(body, m.end()))}
    if "Parameters" in named:
        arguments["parameters"] = named["Parameters"].strip()
    if "Result" in named:
        return arguments, named["Result"].removesuffix("\n")
    blocks = list(BLOCK.finditer(body))
    if len(blocks) > 1 and not named and body.startswith("`"):
        arguments["command"] = blocks[0][2].strip()
        return arguments, body[blocks[1].start(2) : blocks[-1].end(2)].removesuffix("\n")
    return arguments, "" if "Parameters" in named else body


def _next_block(body: str, position: int) -> re.Match[str] | None:
    block = BLOCK.search(body, position)
    return block if block and not body[position : block.start()].strip() else None


FORM = Form(
    SourceFormat.SPECSTORY,
    "specstory",
    "The comment `<!-- Generated by SpecStory` in the first line, and a speaker heading",
    re.compile(r"<!-- Generated by SpecStory"),
    re.compile(r"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()]*)\))?\*\*_\s*"),
    _add_specstory,
    lambda _, __, fence, ___: not fence,
    _track_fence,
    {"session_id": re.compile(r"<!--[^<>]{0,80} Session ([0-9A-Za-z-]{6,80})\b")},
)
