"""Starts the service, asks it things, stops it, starts it again; prints what it answers."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

WANTED = json.loads(Path("requests.json").read_text("utf-8"))
PORT = Path("port.txt")
SERVICE = [sys.executable, "-m", "dispatch", "serve", "--port-file", str(PORT)]
PATIENCE = 12.0  # seconds


def until(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    return None


def ask(method, path, body=None):
    """Status and content of an answer; (0, …) if there is none in time."""
    port = PORT.read_text("utf-8")
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=4) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}
    except OSError:
        return 0, {}


def start():
    PORT.unlink(missing_ok=True)
    process = subprocess.Popen(SERVICE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: PORT.exists() and PORT.read_text("utf-8"))
    return process


def stop(process):
    os.kill(process.pid, signal.SIGTERM)
    try:
        return process.wait(8)
    except subprocess.TimeoutExpired:
        process.kill()
        return "killed"


def finished(identifier):
    def look():
        _, view = ask("GET", f"/jobs/{identifier}")
        return view if view.get("state") in ("done", "dead") else None

    view = until(look) or {}
    return view.get("state"), view.get("attempts"), view.get("result")


def talk():
    print("health", ask("GET", "/health")[0])
    print("post", ask("POST", "/jobs", {"id": "a", "queue": "reports", "payload": {"text": WANTED["text"]}}))
    print("done", finished("a"))
    print("unknown", [ask("GET", f"/jobs/{name}")[0] for name in ("nope", "a/b", "")])
    print("health", ask("GET", "/health")[0])
    print("not JSON", ask("POST", "/jobs", b"{")[0], ask("POST", "/jobs", {"queue": "none"})[0])
    print("reload", ask("POST", "/reload", {}))
    print("post", ask("POST", "/jobs", {"id": "b", "queue": "mail", "payload": {"text": "again"}}))
    print("done", finished("b"))


def add_up():
    for number, amount in enumerate(WANTED["sums"]):
        amounts = [amount, *WANTED["sums"][:number]]
        job = {"id": f"s{number}", "queue": "mail", "handler": "sum", "payload": {"amounts": amounts}}
        print("post", ask("POST", "/jobs", job)[0])
        print("done", finished(f"s{number}"), ask("GET", "/health")[0])


process = start()
if WANTED["text"]:
    talk()
else:
    add_up()
print("stopped", stop(process))
process = start()
print("known", finished("a" if WANTED["text"] else "s0"), ask("GET", "/health")[0])
print("stopped", stop(process))
