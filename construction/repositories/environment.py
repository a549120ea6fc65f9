"""Environments for the tests of a tree: built once in a sandbox from the registries, then kept.

The sandbox has no network but a proxy to the hosts that the configuration of pip and npm on this
machine names; install scripts and source distributions are off. What is built is a folder that
later sandboxes mount read-only; its name is the digest of what was declared.
"""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from construction.grading.programs_box import CERTIFICATES, environment_box, variables_of
from construction.repositories.contracts import EnvironmentSpec, RepositoryReason
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import FileRefused, Sandbox, SandboxFailed
from construction.sandbox.toolset import interpreters
from data.atomic import replacing_dir, write_bytes
from data.canonical import canonical_json, digest
from data.captures import CaptureFile

_VERSION = "environment/3"  # raised when another environment is built of the same declarations
_LIMITS = Limits(
    memory_bytes=8 << 30, disk_bytes=9 << 30, processes=512, output_bytes=1 << 20,
    file_bytes=3 << 30,
)  # fmt: skip
_PORT = 8891
_SILENCE = 300  # seconds without a word of a registry that end a connection
_TAIL = 600  # characters of a log that a reason states
_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund")
_FROZEN = ["--frozen-lockfile"]
_PNPM_PROGRAM = "/work/tools/node_modules/.bin/pnpm"
_BUN_PROGRAM = "/work/tools/node_modules/@oven/bun-linux-x64/bin/bun"
_PIP = (
    "python3", "-m", "pip", "install", "--quiet", "--no-input", "--no-compile", "--no-cache-dir",
    "--disable-pip-version-check", "--only-binary", ":all:", "--root-user-action", "ignore",
    "--target", "environment/site", "-r", "wanted.txt",
)  # fmt: skip
_TAR = ("tar", "cf", "environment.tar", "--sort=name", "--mtime=@0", "--remove-files")
_HOISTED = ("--config.node-linker=hoisted", "--config.manage-package-manager-versions=false")
_LOCK_VERSION = re.compile(r"^lockfileVersion: '?(\d+)", re.MULTILINE)
_PNPM = {"5": "7", "6": "8"}  # which pnpm writes which version of locks
_NEWEST_PNPM = "10"  # later ones need a newer Node than most machines have
PACK = """
import json, os, sys
root, own = sys.argv[1], {}
for folder, folders, _ in os.walk(root):
    if "node_modules" not in folders:
        continue
    folders.remove("node_modules")
    modules = os.path.join(folder, "node_modules")
    names = []
    for entry in sorted(os.listdir(modules)):
        inside = sorted(os.listdir(os.path.join(modules, entry))) if entry[0] == "@" else [""]
        names += [f"{entry}/{name}".rstrip("/") for name in inside]
    links = own[os.path.relpath(modules, root)] = {}
    for name in names:
        path = os.path.join(modules, name)
        target = os.path.relpath(os.path.realpath(path), root)
        if os.path.islink(path) and "node_modules" not in target:
            links[name] = target
            os.unlink(path)
os.makedirs("environment/bin")
for modules in own:
    os.makedirs(os.path.dirname(os.path.join("environment/modules", modules)), exist_ok=True)
    os.rename(os.path.join(root, modules), os.path.join("environment/modules", modules))
bun = "tools/node_modules/@oven/bun-linux-x64/bin/bun"
if os.path.exists(bun):
    os.rename(bun, "environment/bin/bun")
json.dump(own, open("environment/modules.json", "w"), sort_keys=True)
"""


@dataclass(frozen=True, slots=True)
class Built:
    """What became of an environment: the resolved packages, or why it cannot be had."""

    packages: tuple[str, ...] = ()
    reason: str | None = None
    note: str = ""


class Environments(CaptureFile[str, Built]):
    """What was built, by the name of the environment; a rebuild replays it (law 5)."""

    EXPECTED = "what became of an environment"
    REMEDY = "Restore the file, or delete it to build again."

    def _record(self, key: str, outcome: Built) -> dict[str, Any]:
        return {"environment": key, **asdict(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[str, Built]:
        name = str(record.pop("environment"))
        return name, Built(tuple(record.pop("packages")), **record)


def name_of(spec: EnvironmentSpec) -> str:
    """The name of an environment: a digest of what is declared and of what installs it."""
    return digest(canonical_json([_VERSION, asdict(spec), python_of(spec)]))[:32]


def python_of(spec: EnvironmentSpec) -> str:
    """The version of the interpreter: this one, or the oldest that the project takes."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        wanted = SpecifierSet(spec.project or "")
    except InvalidSpecifier:
        return own
    known = sorted(map(Version, interpreters()))
    fitting = [str(version) for version in known if f"{version}.99" in wanted]
    return own if own in fitting or not fitting else fitting[0]


class _StepFailed(Exception):
    """A step of a build failed; the end of what it said."""


@dataclass(frozen=True, slots=True)
class _Building:
    """A sandbox in which an environment is built, with the way to the registries."""

    sandbox: Sandbox
    variables: Mapping[str, str]
    seconds: int

    def step(self, words: Sequence[str], folder: str = "", *, frozen: bool = True) -> None:
        """Run a command. Raises _StepFailed. In CI locks are frozen."""
        free = {name: value for name, value in self.variables.items() if name != "CI"}
        done = self.sandbox.run(
            [*words],
            seconds=self.seconds,
            folder=folder,
            variables=self.variables if frozen else free,
        )
        if done.code:
            said = re.sub(
                r"\x1b\[[0-9;]*[A-Za-z]", "", (done.stdout + done.stderr).decode(errors="replace")
            )
            ended = "it took too long" if done.timed_out else f"it ended with {done.code}"
            raise _StepFailed(said.strip()[-_TAIL:] or ended)


def build(spec: EnvironmentSpec, folder: Path, seconds: int) -> Built:
    """Build into `folder`, which appears when it is complete. Raises SandboxFailed."""
    box = environment_box(None, python_of(spec), _LIMITS)
    with Sandbox(box) as sandbox, _registry(sandbox) as (variables, cut_off):
        building = _Building(sandbox, variables | variables_of(python_of(spec)), seconds)
        try:
            (_python if spec.kind == "python" else _node)(building, spec)
            building.step([*_TAR, "-C", "environment", "."])
            content = sandbox.read("environment.tar")
        except _StepFailed as failed:
            if cut_off.is_set():
                why = "a registry could not be reached, or ended a download"
                raise SandboxFailed(why) from failed
            return Built(reason=RepositoryReason.BUILD_FAILED, note=str(failed))
        except FileRefused as refused:
            note = f"its archive is {refused.reason}"
            return Built(reason=RepositoryReason.BUILD_FAILED, note=note)
    with replacing_dir(folder) as part:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(part, filter=_inside)  # noqa: S202 (filtered)
        packages = sorted(_packages(part))
        write_bytes(part / "packages.json", canonical_json(packages))
    return Built(tuple(packages))


def _inside(item: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """What leads out of the folder stays behind."""
    try:
        return tarfile.data_filter(item, folder)
    except tarfile.FilterError:
        return None


def _packages(folder: Path) -> Iterator[str]:
    for path in (folder / "site").glob("*.dist-info"):
        name, _, version = path.stem.rpartition("-")
        if name and version:
            yield f"{name.replace('_', '-').lower()}=={version}"


def _python(building: _Building, spec: EnvironmentSpec) -> None:
    """Install wheels of the declared packages; the pins of the lock first, then without them."""
    for name, lines in (("wanted.txt", spec.packages), ("pins.txt", spec.pins)):
        building.sandbox.write(name, "\n".join(lines).encode() + b"\n")
    if spec.pins:
        with suppress(_StepFailed):
            return building.step([*_PIP, "-c", "pins.txt"])
        building.step(["rm", "-rf", "environment"])
    return building.step(_PIP)


def _node(building: _Building, spec: EnvironmentSpec) -> None:
    """Install what the lock names, without the scripts of packages."""
    for path, text in spec.files:
        building.sandbox.write(f"project/{path}", text.encode())
    manager, _, version = spec.pins[0].partition("@")
    version = version.partition("+")[0] if manager == spec.kind else ""
    if spec.kind == "pnpm" and not version:
        lock = next((text for path, text in spec.files if path.endswith("pnpm-lock.yaml")), "")
        match = _LOCK_VERSION.search(lock)
        version = _PNPM.get(match[1] if match else "", _NEWEST_PNPM)
    if spec.kind != "npm":
        package = "@oven/bun-linux-x64" if spec.kind == "bun" else "pnpm"
        wanted = f"{package}@{version}" if version else package
        building.step(["npm", "install", *_QUIET, "--prefix", "tools", wanted])
    programs: dict[str, tuple[list[str], list[str], list[str]]] = {
        "npm": (["npm"], ["ci", *_QUIET], ["install", *_QUIET]),
        "pnpm": (["node", _PNPM_PROGRAM, "install", *_HOISTED], _FROZEN, ["--no-frozen-lockfile"]),
        "bun": ([_BUN_PROGRAM, "install"], _FROZEN, []),
    }
    program, strict, loose = programs[spec.kind]
    where = f"project/{spec.packages[0]}"
    try:
        building.step([*program, *strict, "--ignore-scripts"], where)
    except _StepFailed:  # a lock may lag its manifest
        building.step([*program, *loose, "--ignore-scripts"], where, frozen=False)
    building.step(["python3", "-c", PACK, "project"])


@cache
def _registries() -> dict[str, str]:
    """The address of the index of pip and of the registry of npm, as this machine has them."""
    code = (
        "from pip._internal.models.index import PyPI; "
        "print(PyPI.simple_url, 'https://' + PyPI.file_storage_domain)"
    )
    python = [str(Path(sys.base_prefix, "bin/python3")), "-I"]
    index, files = (_said([*python, "-c", code]) or " ").split(" ")[:2]
    configured = os.environ.get("PIP_INDEX_URL") or _said(
        [*python, "-m", "pip", "config", "get", "global.index-url"]
    )
    npm = os.environ.get("NPM_CONFIG_REGISTRY") or _said(["npm", "config", "get", "registry"])
    return {"pip": configured or index, "files": configured or files, "npm": npm or ""}


def _said(command: list[str]) -> str:
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)  # noqa: S603
        if done.returncode == 0:
            return done.stdout.decode().strip()
    return ""


@contextmanager
def _registry(sandbox: Sandbox) -> Iterator[tuple[dict[str, str], threading.Event]]:
    """The variables by which package managers inside reach the registries, and nothing else.

    The event tells that a registry was not there, which says nothing of the environment.
    """
    addresses = _registries()
    allowed = {urlsplit(address).hostname for address in addresses.values()} - {None}
    address = f"http://127.0.0.1:{_PORT}"
    certificates = os.environ.get("SSL_CERT_FILE") or f"{CERTIFICATES}/ca-certificates.crt"
    variables = {
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address),
        "no_proxy": "", "PIP_INDEX_URL": addresses["pip"], "PIP_CERT": certificates,
        "PIP_CONFIG_FILE": "/dev/null", "SSL_CERT_FILE": certificates,
        "NODE_EXTRA_CA_CERTS": certificates, "NPM_CONFIG_CAFILE": certificates,
        "NPM_CONFIG_REGISTRY": addresses["npm"], "NPM_CONFIG_USERCONFIG": "/dev/null",
        "CI": "true", "HUSKY": "0",
    }  # fmt: skip
    with sandbox.listen(_PORT) as listening:
        listening.settimeout(0.5)
        over, cut_off = threading.Event(), threading.Event()
        serving = (listening, allowed, over, cut_off)
        thread = threading.Thread(target=_serve, args=serving, daemon=True)
        thread.start()
        try:
            yield variables, cut_off
        finally:
            over.set()
            thread.join()


def _serve(
    listening: socket.socket,
    allowed: set[str | None],
    over: threading.Event,
    cut_off: threading.Event,
) -> None:
    while not over.is_set():
        with suppress(TimeoutError, OSError):
            client, _ = listening.accept()
            threading.Thread(target=_tunnel, args=(client, allowed, cut_off), daemon=True).start()


def _tunnel(client: socket.socket, allowed: set[str | None], cut_off: threading.Event) -> None:
    """One connection: only CONNECT to an allowed host by HTTPS."""
    with client, suppress(OSError, ValueError):
        client.settimeout(120)
        head = b""
        while b"\r\n\r\n" not in head and len(head) < 1 << 16:
            chunk = client.recv(4096)
            if not chunk:
                return
            head += chunk
        method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        host, _, port = target.rpartition(":")
        if method != "CONNECT" or host not in allowed or port != "443":
            client.sendall(b"HTTP/1.1 403 not allowed\r\nConnection: close\r\n\r\n")
            return
        try:
            server = socket.create_connection((host, int(port)), 30)
        except OSError:
            cut_off.set()
            raise
        with server:
            client.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
            client.settimeout(None)  # it says nothing while it is sent a large file
            server.settimeout(_SILENCE)
            upward = threading.Thread(target=_copy, args=(client, server), daemon=True)
            upward.start()
            _copy(server, client, cut_off)
            upward.join(1)


def _copy(
    source: socket.socket, target: socket.socket, cut_off: threading.Event | None = None
) -> None:
    """Pass on what comes until it ends; `cut_off` is set where the source breaks off."""
    while True:
        try:
            chunk = source.recv(1 << 16)
        except OSError:
            if cut_off is not None:
                cut_off.set()
            break
        try:
            target.sendall(chunk)
        except OSError:
            break
        if not chunk:
            break
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
