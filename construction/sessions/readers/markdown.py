"""Reads sessions that a program exported as Markdown; `FORMS` lists the programs' headings."""

from __future__ import annotations

import re

from construction.sessions.readers import cline, cursor
from construction.sessions.readers.pages import BLOCK, RULE, Form, Page, Section, body_of
from construction.sessions.readers.source import epoch_seconds
from construction.sessions.readers.talk import Answer, Talk
from construction.sessions.wrappers.blocks import calls_own_command
from data.contracts import SourceFormat

# Reads pages of SpecStory, which writes the sessions of several programs as Markdown.
#
# `_**User**_`, `_**Agent (model time)**_`, `<tool-use>` blocks. Early files have a section
# `Tool use: **NAME**` for a call. The first files name the agent Assistant and show between rules
# what a call found; their edits and commands are plain Markdown, which stays the agent's text. Side
# chains belong to sub-agents.

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


_FORM = Form(
    SourceFormat.SPECSTORY,
    "specstory",
    "The comment `<!-- Generated by SpecStory` in the first line, and a speaker heading",
    r"<!-- Generated by SpecStory",
    r"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()]*)\))?\*\*_\s*",
    _add_specstory,
    lambda _, __, fence, ___: not fence,
    _track_fence,
    {"session_id": " Session "},
)


# Cursor: speakers alone, after a rule.
def _add_cursor(page: Page, section: Section) -> None:
    if section.heading[1] == "User":
        cursor.add_prompt(page.talk, section.text, section.line)
    else:
        page.talk.answer(section.line).say(section.text)


# Cline and Roo Code: speakers alone, after a rule.
def _add_cline(page: Page, section: Section) -> None:
    cline.add_exported(page, section.heading[1], section.text, section.line)


# Amp: results are sections of the user, in the order of the calls of the section before.
_USED = re.compile(
    r"^\*\*Tool (Use|Result|Error|Cancelled|In Progress):\*\*[ \t]*`([^`\n]*)`[ \t]*$", re.MULTILINE
)
_TODOS = "## Todos\n"
_ERROR = re.compile(r"\s*\*\*Error:\*\*[ \t]*([^\n]*)")


def _track_amp(_: re.Match[str] | None, state: str, text: str) -> str:
    """Whether the block of a call or result is open. One that quotes fences may end early."""
    if _USED.match(text):
        return "part"
    if text.startswith("```") and state == "part":
        return "open"
    return "" if text == "```" else state


def _add_amp(page: Page, section: Section) -> None:
    parts = list(_USED.finditer(section.text))
    if section.heading[1] == "Assistant":
        _add_amp_answer(page, section, [part for part in parts if part[1] == "Use"])
        return
    parts = [part for part in parts if part[1] != "Use"]
    if parts and parts[0].start() > 0:
        parts = []  # words of the person that quote a result
    said = [] if parts else [section.text]
    for part, end in zip(parts, cline.ends(parts, section.text), strict=True):
        result, words = _result(section.text[part.end() : end])
        said.append(words)
        if not page.talk.open:
            page.talk.skip("result_without_call")
        elif part[1] == "In Progress":
            page.talk.open.popleft()
        else:
            page.talk.result(result, part[1] != "Result")
    text = "\n\n".join(filter(None, said))
    (page.talk.notice if text.startswith(_TODOS) else page.talk.person)(text, section.line)


def _add_amp_answer(page: Page, section: Section, parts: list[re.Match[str]]) -> None:
    answer = page.talk.answer(section.line)
    page.talk.open.clear()
    answer.say(section.text[: parts[0].start()].strip() if parts else section.text)
    for part, end in zip(parts, cline.ends(parts, section.text), strict=True):
        given, words = _result(section.text[part.end() : end])
        answer.call(None, part[2], given, section.line)
        answer.say(words)


def _result(text: str) -> tuple[str, str]:
    """(what the block or the line of an error holds, the words after it)."""
    text = text.strip()
    if text.startswith("```"):
        inside = text.partition("\n")[2]
        held, fence, words = f"\n{inside}".rpartition("\n```")
        return (held[1:], words.strip()) if fence else (inside, "")
    error = _ERROR.match(text)
    return (error[1], text[error.end() :].strip()) if error else ("", text)


# Kimi: a turn holds one heading of each speaker; calls and results name their id.
_KIMI = re.compile(
    r"^<details><summary>(Thinking|Tool Result: [^\n]*)</summary>\n\n(.*?)\n\n</details>$"
    r"|^#### Tool Call: (\S+)[^\n]*\n<!-- call_id: (\S+) -->\n```json\n(.*?)\n```$",
    re.DOTALL | re.MULTILINE,
)
_CALL_ID = re.compile(r"<!-- call_id: (\S+) -->\n?")
_SYSTEM = ("<system>", "<system-reminder>")


def _track_kimi(_: re.Match[str] | None, state: str, text: str) -> str:
    if text.startswith("<details>"):
        return "details"
    return "" if text == "</details>" else state


def _follows_kimi(
    heading: re.Match[str], last: re.Match[str] | None, state: str, before: str
) -> bool:
    if heading[1] in ("User", "System", "Developer"):
        return before.startswith("## Turn ") and last is not None and last[1] is None
    return not state and (heading[1] is None or (last is not None and last[1] != "Assistant"))


def _add_kimi(page: Page, section: Section) -> None:
    talk, line = page.talk, section.line
    if section.heading[1] is None:
        return
    if section.heading[1] != "Assistant":
        is_person = section.heading[1] == "User" and not section.text.startswith(_SYSTEM)
        (talk.person if is_person else talk.notice)(section.text, line)
        return
    rest = 0
    answer = talk.answer(line)
    for part in _KIMI.finditer(section.text):
        words = section.text[rest : part.start()].strip()
        if answer.calls and (words or part[1] == "Thinking"):
            answer = talk.answer(line)
        answer.say(words)
        rest = part.end()
        if part[3]:
            answer.call(part[4], part[3], part[5], line)
        elif part[1] == "Thinking":
            answer.think(part[2])
        elif (own := _CALL_ID.match(part[2])) is not None:
            result = part[2][own.end() :]
            talk.results.add(own[1], result, result.startswith("<system>ERROR"))
    if words := section.text[rest:].strip():
        (talk.answer(line) if answer.calls else answer).say(words)


# Copilot CLI: a heading for each message and each call, below the time that it took.
def _add_copilot(page: Page, section: Section) -> None:
    talk, line = page.talk, section.line
    mark, name, tool = section.heading.groups()
    text = section.text.removesuffix("</sub>").rpartition("<sub>")[0] or section.text
    text = body_of(text.split("\n"))
    if tool:
        blocks = list(BLOCK.finditer(text))
        is_named = "<summary>Arguments</summary>" in text and blocks
        given = blocks[0][2].strip() if is_named else text.partition("\n")[0]
        arguments: object = given if is_named else {"summary": given}
        answer = talk.answer(line, key="calls")
        own = answer.call(None, tool, arguments, line)
        shown = blocks[-1][2].removesuffix("\n") if len(blocks) > bool(is_named) else ""
        talk.results.add(own, shown, mark in ("❌", "🚫"))
    elif name == "User":
        talk.person(text, line)
    elif name == "Copilot":
        talk.answer(line, key=f"words{line}").say(text)
    elif name in ("Reasoning", "Thinking"):
        talk.answer(line, key="calls").think(text)
    else:
        talk.notice(text, line)


# opencode: a section for each step, which holds thoughts, words and calls. Nothing marks where a
# thought ends: before a call all is thought, else its first paragraph.
_OPENCODE_CALL = re.compile(r"^(```\n)?(?:\*\*)?Tool: ([^\s*]{1,200})(?:\*\*)?$", re.MULTILINE)
_GIVEN = re.compile(r"\s*\*\*Input:\*\*\n```json\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_GOT = re.compile(r"\s*\*\*(Output|Error):\*\*\n```\n")
_OPENCODE_END = re.compile(r"^```\n(?:```\n)?\s*(?=\*\*Tool: |```\nTool: )", re.MULTILINE)
_THINKING = "_Thinking:_\n\n"


def _track_opencode(heading: re.Match[str] | None, state: str, text: str) -> str:
    """Whether the output of a call is open. One that quotes fences may end early."""
    if heading is None or heading[1] == "User":
        return ""
    if text in ("**Output:**", "**Error:**"):
        return "part"
    if text == "```":
        return "open" if state == "part" else ""
    return state


def _add_opencode(page: Page, section: Section) -> None:
    talk, text, line = page.talk, section.text, section.line
    if section.heading[1] == "User":
        talk.person(text, line)
        return
    answer = talk.answer(line, model=section.heading[2])
    call = _OPENCODE_CALL.search(text)
    words = text[: call.start()] if call else text
    before, *thoughts = words.split(_THINKING)
    answer.say(before.strip())
    for thought in thoughts:
        first, _, rest = (thought, "", "") if call else thought.partition("\n\n")
        answer.think(first.strip())
        answer.say(rest.strip())
    while call is not None:
        fence, name = call.groups(default="")
        given = _GIVEN.match(text, call.end())
        got = _GOT.match(text, given.end() if given else call.end())
        start = (got or given or call).end()
        call = _OPENCODE_CALL.search(text, _end_of_output(text, start) if got else start)
        shown = text[start : call.start() if call else len(text)].strip()
        own = answer.call(None, name, given[1] if given else None, line)
        if got is None:
            answer.say(shown.removeprefix(fence.strip()).strip())
            continue
        held, closing, words = f"\n{shown}".rpartition(f"\n{fence}```")
        talk.results.add(own, held[1:] if closing else shown, got[1] == "Error")
        answer.say(words.strip() if closing else "")


def _end_of_output(text: str, start: int) -> int:
    """Where an output ends at the earliest: at a fence that another call or nothing follows."""
    end = _OPENCODE_END.search(text, start)
    return end.end() if end else len(text)


# Claude Code's console, copied or exported: what a person typed, what the agent said or called, and
# below a call what it printed. Later lines of each are indented.
_CALLED = re.compile(r"([A-Z]\w{1,40}(?: \w{1,40})?)\((.*)\)…?", re.DOTALL)
_PRINTED = re.compile(r"\n[ \u00a0]*⎿[ \u00a0]*")
_TYPED_COMMANDS = ("/", "!", "#")


def _add_console(page: Page, section: Section) -> None:
    talk, line = page.talk, section.line
    mark, first = section.heading.groups()
    said, *printed = _PRINTED.split(f"{first}\n{section.text}")
    words = "\n".join(part.removeprefix("  ").rstrip() for part in said.split("\n")).strip()
    call = _CALLED.fullmatch(words) if printed else None
    if mark in (">", "❯"):
        if not words or words.startswith(_TYPED_COMMANDS):
            talk.skip("command")
        else:
            talk.person(words, line)
    elif mark in ("✻", "∴"):
        answer = talk.answer(line)
        answer.think(words.removeprefix("Thinking…").strip())
    elif call is None:
        talk.answer(line).say(words)
    else:
        name, given = call.groups()
        answer = talk.answer(line)
        own = answer.call(None, name, {"command" if name == "Bash" else "summary": given}, line)
        result = "\n".join(printed)
        shown = "\n".join(part.removeprefix("     ") for part in result.split("\n")).strip()
        talk.results.add(own, shown, shown.startswith("Error"))


# claude-conversation-extractor: speakers after a rule, and calls with their input in a section of
# the agent. Results are left out by all but old logs. The text of a person's own command follows
# the command.
_USING = re.compile(r"^🔧 (?:Using tool|Tool): (\S[^\n]{0,199})\nInput: ?", re.MULTILINE)


def _add_extracted(page: Page, section: Section) -> None:
    talk, text, line, who = page.talk, section.text, section.line, section.heading[1]
    if who in ("User", "Claude"):
        talk.open.clear()
    if who == "User":
        is_expanded, page.has_spoken = page.has_spoken, calls_own_command(text)
        if is_expanded and not page.has_spoken:
            talk.notice(text, line)
        else:
            talk.person(text, line)
        return
    page.has_spoken = False
    if who == "Tool Result":
        result = text.removeprefix("📤 Result:").strip("\n")
        talk.result(result)
    elif who == "System":
        talk.notice(text, line)
    else:
        answer = talk.answer(line)
        calls = list(_USING.finditer(text))
        answer.say(text[: calls[0].start()].strip() if calls else text)
        for call, end in zip(calls, cline.ends(calls, text), strict=True):
            answer.call(None, call[1], text[call.end() : end].strip(), line)


FORMS = (
    Form(
        SourceFormat.CLAUDE_CODE,
        "claude-code",
        "Console output with Claude Code's greeting, and lines that begin with `>`, `❯`, `⏺` or "
        "`●`",
        r"(?:[^\n]{0,200}\n){0,12}?[^\n]{0,40}(?:✻ Welcome to Claude Code|Claude Code v\d)",
        r"([>❯⏺●✻∴])[ \u00a0](.*)",
        _add_console,
        lambda _, __, ___, ____: True,
        facts={"cwd": "cwd: "},
    ),
    Form(
        SourceFormat.CLAUDE_CODE,
        "claude-code",
        "Markdown: the title `# Claude Conversation Log`, and speaker headings with an emoji",
        r"# Claude Conversation Log\s*\n",
        r"###? (?:👤|🤖|🔧|📤|ℹ️) (User|Claude|Tool Use|Tool Result|System)\s*",
        _add_extracted,
        lambda _, last, __, before: last is None or before == RULE,
        facts={"session_id": "Session ID: "},
    ),
    _FORM,
    Form(
        SourceFormat.CURSOR,
        "cursor",
        "Markdown: a title, then `_Exported on … from Cursor (…)_`, and speaker headings",
        r"# [^\n]*\n\s*_Exported on [^\n]* from Cursor \([^\n]*\)_\s*\n",
        r"\*\*(User|Cursor|Assistant)\*\*\s*",
        _add_cursor,
        lambda _, __, ___, before: before == RULE,
    ),
    Form(
        SourceFormat.CLINE,
        "cline",
        "Markdown: `**User:**`, below it `<task>`, `<user_message>` or `<environment_details>`",
        r"\*\*User:\*\*\s*\n(?:\s*<(?:task|user_message)>|(?:.*\n)*?<environment_details>)",
        r"\*\*(User|Assistant):\*\*\s*",
        _add_cline,
        lambda _, last, __, before: last is None or before == RULE,
    ),
    Form(
        SourceFormat.AMP,
        "amp",
        "Markdown: front matter with `threadId: T-…`, and headings `## User` and `## Assistant`",
        r"---\n(?:[^\n]*\n){0,20}?threadId: T-[^\n]*\n(?:[^\n]*\n){0,20}?---\n",
        r"## (User|Assistant)\s*",
        _add_amp,
        lambda _, __, state, ___: state != "open",
        _track_amp,
        {"session_id": "threadId: ", "started_at": "created: "},
    ),
    Form(
        SourceFormat.KIMI,
        "kimi",
        "Markdown: front matter with a session, and the title `# Kimi Session Export`",
        r"---\nsession_id: [^\n]*\n(?:[^\n]*\n){0,20}?# Kimi Session Export",
        r"### (User|Assistant|System|Developer)|## Turn \d{1,6}",
        _add_kimi,
        _follows_kimi,
        _track_kimi,
        {"session_id": "session_id: ", "cwd": "work_dir: "},
    ),
    Form(
        SourceFormat.COPILOT_CLI,
        "copilot-cli",
        "Markdown: the title `# 🤖 Copilot CLI Session`, and headings under the time they took",
        r"# 🤖 Copilot CLI Session\s*\n",
        r"### (\S+) (?:(\w+)|`([^`\n]+)`)\s*",
        _add_copilot,
        lambda _, __, ___, before: before.startswith("<sub>") and before.endswith("</sub>"),
        facts={"session_id": "**Session ID:** "},
    ),
    Form(
        SourceFormat.OPENCODE,
        "opencode",
        "Markdown: a title, `**Session ID:** ses_…`, and speaker headings",
        r"# [^\n]*\n\s*\*\*Session ID:\*\* ses_[^\n]*\n\*\*Created:\*\* ",
        r"## (User|Assistant)(?: \([^·\n]* · ([^·\n]*?)(?: · [^·\n]*)?\))?\s*",
        _add_opencode,
        lambda _, __, state, before: before == RULE and state != "open",
        _track_opencode,
        {"session_id": "**Session ID:** "},
    ),
)
