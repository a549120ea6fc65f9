"""The content of a Codex rollout's items: texts, media, calls and results."""

from __future__ import annotations

import re
from typing import Any

import orjson

from construction.sessions.readers.turns import WEB, ToolResult, block_text, inline_media
from data.contracts import Attachment

# The beginnings of texts that the harness inserts into user messages, sometimes several at once.
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<apps_instructions>",
    "<personality_spec>",
    "<model_switch>",
    "<user_shell_command>",
    "<user_action>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<hook_prompt",
    "<goal_context>",
)
# Headings of the context that an editor puts before the request, and of the request itself.
_EDITOR_HEADS = (
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
    "## Referenced chats with Codex:",
)
_REQUEST_HEAD = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_FILES_HEAD = "# Files mentioned by the user:"
_PATH_START = re.compile(r"/|~/|\\\\|[A-Za-z]:[\\/]")
_IMAGE_TAGS = ("<image", "</image>")
_EXIT_CODE = re.compile(r"(?:Exit code: |Process exited with code )(-?\d{1,10})")
_EXIT_WITHIN = 300  # characters: the exit code is in the lines that the harness writes on top

CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_call"}
    | {"tool_search_call", "image_generation_call", "mcp_tool_call"}
)
RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
    | {"tool_result", "function_result", "mcp_tool_call_output"}
)


def is_injected(text: str) -> bool:
    """True for context that the harness inserted into a user message."""
    return text.lstrip().startswith(_INJECTED)


def message_texts(item: dict[str, Any]) -> list[str]:
    """The text parts of a message, without the tags around pictures.

    The address of a picture on the web counts as text.
    """
    content = item.get("content", item.get("message"))
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for part in content if isinstance(content, list) else ():
        text = (part.get("text") or _web_picture(part)) if isinstance(part, dict) else None
        if isinstance(text, str) and not text.startswith(_IMAGE_TAGS):
            texts.append(text)
    return texts


def message_media(item: dict[str, Any]) -> tuple[Attachment, ...]:
    """The pictures inside a message."""
    content = item.get("content")
    parts = content if isinstance(content, list) else ()
    urls = [part.get("image_url") for part in parts if isinstance(part, dict)]
    local = [url for url in urls if isinstance(url, str) and url and not url.startswith(WEB)]
    return tuple(inline_media(url) for url in local)


def _web_picture(part: dict[str, Any]) -> str | None:
    url = part.get("image_url")
    return url if isinstance(url, str) and url.startswith(WEB) else None


def event_media(event: dict[str, Any]) -> tuple[Attachment, ...]:
    """Pictures of a `user_message` event: files on the person's disk, or inline."""
    pictures: list[Attachment] = []
    for key in ("local_images", "images"):
        listed = event.get(key)
        for image in listed if isinstance(listed, list) else ():
            if isinstance(image, str) and image and not image.startswith(WEB):
                pictures.append(inline_media(image))
    return tuple(pictures)


def without_editor_context(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """The request below an editor's context, and the files that the context declares."""
    start = text.lstrip()
    if not start.startswith(_EDITOR_HEADS):
        return text, ()
    head = _REQUEST_HEAD.search(start)
    if head is None:
        return text, ()
    _, _, listed = start[: head.start()].partition(_FILES_HEAD)
    return start[head.end() :], _declared(listed)


def _declared(listed: str) -> tuple[Attachment, ...]:
    """Files listed as `## name: path`, one per line."""
    files: list[Attachment] = []
    for line in listed.splitlines():
        name, _, path = line.partition(": ")
        if name.startswith("## ") and _PATH_START.match(path):
            files.append(Attachment(path.strip()))
    return tuple(files)


def call_parts(item: dict[str, Any]) -> tuple[str, str, object]:
    """Id, name and arguments of a call in any of its forms."""
    kind = str(item.get("type"))
    function = item.get("function")
    name = item.get("name") or (function.get("name") if isinstance(function, dict) else None)
    arguments = item.get("arguments", item.get("input", item.get("action")))
    if kind == "image_generation_call":
        arguments = {"prompt": item.get("revised_prompt")}
    id_ = item.get("call_id") or item.get("id")
    return (
        id_ if isinstance(id_, str) else "",
        name if isinstance(name, str) else kind.removesuffix("_call"),
        arguments,
    )


def result_of(item: dict[str, Any]) -> ToolResult:
    """The text of an output, taken out of the envelope that some versions use."""
    output = item.get("output", item.get("result"))
    if isinstance(output, str) and output.startswith(('{"output":', '{"content":')):
        try:
            output = orjson.loads(output)
        except orjson.JSONDecodeError:
            return ToolResult(item["output"])
    if isinstance(output, dict):
        return _from_envelope(output)
    text = block_text(output)
    may_hold_code = text.find("xit", 0, _EXIT_WITHIN) >= 0
    code = _EXIT_CODE.search(text, 0, _EXIT_WITHIN) if may_hold_code else None
    return ToolResult(text, code is not None and code[1] != "0")


def _from_envelope(output: dict[str, Any]) -> ToolResult:
    metadata = output.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else output.get("exitCode")
    failed = output.get("success") is False or (isinstance(code, int) and code != 0)
    inner = output.get("output", output.get("content", output.get("text")))
    if inner is None:
        streams = [output.get("stdout"), output.get("stderr")]
        inner = "\n".join(stream for stream in streams if isinstance(stream, str) and stream)
    return ToolResult(block_text(inner), failed)


def reasoning_text(item: dict[str, Any]) -> str:
    """Summaries and readable reasoning, without the encrypted part."""
    parts: list[str] = []
    for key in ("summary", "content"):
        listed = item.get(key)
        parts.append(block_text(listed) if isinstance(listed, list) else "")
    return "\n".join(part for part in parts if part)
