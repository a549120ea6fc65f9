"""A small harness for the tests: the standard library, one function, chat completions.

python3 harness_program.py MODE
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


def post(body: bytes) -> tuple[int, str]:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        body,
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
        },
    )
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def work(stream: bool) -> None:
    text = Path("instruction.md").read_text()
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    while True:
        request = {"model": "gpt-x", "messages": messages, "tools": [TOOL], "stream": stream}
        status, text = post(json.dumps(request).encode())
        if status != 200:
            sys.exit(3)
        if stream:
            message = json.loads(text.removeprefix("data: ").split("\n")[0])["choices"][0]["delta"]
        else:
            message = json.loads(text)["choices"][0]["message"]
        messages.append(message)
        (call,) = message["tool_calls"]
        arguments = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "submit":
            Path("answer.txt").write_text(arguments["answer"])
            return
        done = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True)
        content = done.stdout + done.stderr
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


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
        b'{"messages": [{"role": "root", "content": "x"}]}',
        json.dumps({"messages": [{"role": "user", "content": picture}]}).encode(),
        json.dumps({"messages": [{"role": "user", "content": "x"}], "tools": [7]}).encode(),
        json.dumps({"messages": [{"role": "tool", "content": "x"}]}).encode(),
        json.dumps({"messages": [{"role": "user"}]}).encode(),
        b'{"messages": [{"role": "user", "content": "' + b"x" * (33 << 20) + b'"}]}',
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
    for name in ("answer.txt", "/tmp/harness.log"):
        with Path(name).open("ab") as file:
            file.truncate(200 << 20)


def fork() -> None:
    while True:
        subprocess.Popen(["sleep", "100"], start_new_session=True)


MODES = {
    "work": lambda: work(False),
    "stream": lambda: work(True),
    "attack": attack,
    "kill": lambda: os.kill(-1, signal.SIGKILL),
    "fail": lambda: sys.exit(5),
    "never": lambda: time.sleep(1000),
    "fork": fork,
    "flood": flood,
}

if __name__ == "__main__":
    MODES[sys.argv[1]]()
