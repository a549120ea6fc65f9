"""A small agent for the tests: the standard library, one function, chat completions.

python3 program.py MODE
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TOOL = {
    "type": "function",
    "function": {
        "name": "run",
        "description": "Run a shell command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


def post(body: bytes, address: str = "") -> tuple[int, str]:
    request = urllib.request.Request(
        address or os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        body,
        {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
        },
    )
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def joined(text: str) -> dict[str, Any]:
    """The message whose pieces were streamed; it has one call."""
    lines = [
        line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")
    ]
    calls = [
        call
        for line in lines
        for choice in json.loads(line)["choices"]
        for call in choice["delta"].get("tool_calls") or []
    ]
    function = {
        name: "".join(call["function"].get(name) or "" for call in calls)
        for name in ("name", "arguments")
    }
    call = {"id": calls[0]["id"], "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def work(stream: bool) -> None:
    text = Path("instruction.md").read_text()
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    while True:
        request = {"model": "gpt-x", "messages": messages, "tools": [TOOL], "stream": stream}
        status, text = post(json.dumps(request).encode())
        if status != 200:
            sys.exit(3)
        message = joined(text) if stream else json.loads(text)["choices"][0]["message"]
        messages.append(message)
        (call,) = message["tool_calls"]
        arguments = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "submit":
            Path("answer.txt").write_text(arguments["answer"])
            return
        done = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True)
        content = done.stdout + done.stderr
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def protocols() -> None:
    """The same question in each maker's protocol; the answers are the answer."""
    message = {"role": "user", "content": "Say hello."}
    parts = [{"role": "user", "parts": [{"text": "Say hello."}]}]
    gemini = f"{os.environ['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/any:generateContent"
    questions: list[tuple[dict[str, Any], str, str]] = [
        ({"messages": [message]}, "", "choices.0.message.content"),
        (
            {"input": [message]},
            f"{os.environ['OPENAI_BASE_URL']}/responses",
            "output.0.content.0.text",
        ),
        (
            {"messages": [message], "max_tokens": 100},
            f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages",
            "content.0.text",
        ),
        ({"contents": parts}, gemini, "candidates.0.content.parts.0.text"),
    ]
    said = []
    for body, address, where in questions:
        status, reply = post(json.dumps({"model": "any", **body}).encode(), address)
        part = json.loads(reply)
        for name in where.split("."):
            part = part[int(name)] if name.isdigit() else part[name]
        said.append(f"{status} {part}")
    Path("answer.txt").write_text(", ".join(said))


def mcp() -> None:
    """The names of the tools of the MCP server, and what the call that the model makes shows."""
    (server,) = json.loads(Path(os.environ["MCP_CONFIG"]).read_text())["mcpServers"].values()

    def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        result: dict[str, Any] = json.loads(post(json.dumps(body).encode(), server["url"])[1])[
            "result"
        ]
        return result

    tools = call("tools/list", {})["tools"]
    functions = [
        {
            "name": f"mcp__{tool['name']}",
            "description": tool["description"],
            "parameters": tool["inputSchema"],
        }
        for tool in tools
    ]
    body = {
        "model": "any",
        "messages": [{"role": "user", "content": Path("instruction.md").read_text()}],
        "tools": [{"type": "function", "function": function} for function in functions],
    }
    message = json.loads(post(json.dumps(body).encode())[1])["choices"][0]["message"]
    function = message["tool_calls"][0]["function"]
    name, arguments = function["name"].removeprefix("mcp__"), json.loads(function["arguments"])
    shown = call("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]
    Path("answer.txt").write_text(json.dumps([[tool["name"] for tool in tools], shown]))


def attack() -> None:
    """Requests that are none; the statuses are the answer."""
    picture = [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]
    bodies = [
        b"",
        b"{",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"messages": []}',
        b'{"model": "x", "messages": [{"role": "root", "content": "x"}]}',
        json.dumps({"model": "x", "messages": [{"role": "user", "content": picture}]}).encode(),
        json.dumps({"model": "x", "messages": [{"role": "user"}], "tools": [7]}).encode(),
        b'{"model": "x", "messages": [{"role": "user", "content": "' + b"x" * (60 << 20) + b'"}]}',
    ]
    statuses = []
    for body in bodies:
        try:
            statuses.append(str(post(body)[0]))
        except OSError:
            statuses.append("cut")
    Path("answer.txt").write_text(" ".join(statuses))


def flood() -> None:
    """A log and an answer that are too large to be read."""
    for name in ("answer.txt", "/tmp/log"):
        with Path(name).open("ab") as file:
            file.truncate(200 << 20)


def fork() -> None:
    while True:
        subprocess.Popen(["sleep", "100"], start_new_session=True)


MODES = {
    "work": lambda: work(False),
    "stream": lambda: work(True),
    "attack": attack,
    "protocols": protocols,
    "mcp": mcp,
    "kill": lambda: os.kill(-1, signal.SIGKILL),
    "fail": lambda: sys.exit(5),
    "stubborn": lambda: post(b'{"model": "x", "messages": [{"role": "user", "content": "x"}]}'),
    "never": lambda: time.sleep(1000),
    "fork": fork,
    "flood": flood,
}

if __name__ == "__main__":
    MODES[sys.argv[1]]()
