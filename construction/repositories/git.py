"""The one seam to git: repositories are read into a bare store of ours, and nothing of them is run.

Hooks, filters, attributes, file system monitors, credential helpers, lazy fetches and every
protocol but that of local files are off; a tree is read object by object, never checked out. What
of a commit may leave is shipped as one archive with the same bytes.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import resource
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from construction.repositories.contracts import RepositoriesConfig, RepositoryReason
from construction.repositories.run_tests import is_protected
from construction.sessions.fixtures.safety import is_credential
from construction.sessions.readers.markdown import FORMS
from construction.sessions.readers.source import Sample, SourceFile
from data.canonical import is_hex
from data.errors import BenchmintError
from data.file_kinds import is_pointer

_CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.pager": "cat",
    "core.packedGitWindowSize": "64m",
    "core.packedGitLimit": "512m",
    "safe.directory": "*",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "fetch.fsckObjects": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
# Nothing of the machine's or of a repository's own settings.
_ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_DIR": ".",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": str(len(_CONFIG)),
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_CONFIG)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_CONFIG.values())},
}
_SECONDS, _MOST_OUTPUT, _MOST_MEMORY = 600, 512 << 20, 3 << 30  # of one command
_MISSING = -1  # the size of an object that a partial clone lacks
_NOT_WANTED = "^refs/heads/entire/*"  # transcripts
_COMMIT_CHARS = 40
_REFERENCE = re.compile(r"refs/(?:heads|tags|remotes|pull)/[\w@+-][\w./@+-]{0,200}(?<![./])")
_TREE, LINK, SUBMODULE = "040000", "120000", "160000"
PAGES = (".md", ".txt")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_COMMITS = ("--exclude=*entire/checkpoints*", "--all")  # but for branches of transcripts
_PLAIN = ("--no-renames", "--no-ext-diff")  # differences of files, by nothing of theirs


class GitFailed(BenchmintError):
    """Git could not do what was asked of it; the message names the command, not its output."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its parents, seconds since the epoch, its subject, and the checkpoints it names."""

    name: str
    parents: tuple[str, ...]
    at: int
    subject: str
    checkpoints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: its mode, its object, its size in bytes, and its path.

    The size is negative where a partial clone lacks the object.
    """

    mode: str
    name: str
    size: int
    path: str

    @property
    def is_file(self) -> bool:
        """Is it a file, and there?"""
        return self.mode not in (LINK, SUBMODULE) and self.size >= 0


@dataclass(frozen=True, slots=True)
class Store:
    """A bare repository of ours, into which a clone or a bundle is read.

    With `scratch`, new objects go there, and the repository stays as it is.
    """

    folder: Path
    scratch: Path | None = None

    def take(self, source: Path) -> None:
        """Read all branches, tags and pull requests of a clone or a bundle. Raises GitFailed.

        No git command is run in a clone: its objects are copied, its references read as text.
        """
        self.start()
        if source.is_file():
            kinds = ("heads", "tags", "pull")
            wanted = (*(f"+refs/{kind}/*:refs/{kind}/*" for kind in kinds), _NOT_WANTED)
            options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--update-head-ok")
            self.run("fetch", *options, str(source.absolute()), *wanted)
            return
        try:
            _copy_objects(_git_folder(source) / "objects", self.folder / "objects")
            lines = [f"create {name} {commit}\n" for name, commit in references(source)]
        except OSError as error:
            raise GitFailed(f"git objects: {error.strerror}") from error
        self.run("update-ref", "--stdin", stdin="".join(lines).encode())

    def start(self) -> str:
        """Make it anew, without anything; the name of the tree without files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.run("init", "--quiet", "--bare", "--template=", ".")
        return _EMPTY_TREE

    def run(
        self, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> bytes:
        """The output of a git command on the store. Raises GitFailed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = _ENVIRONMENT | dict(variables or {})
        if self.scratch is not None:
            objects = str(self.folder.absolute() / "objects")
            environment["GIT_OBJECT_DIRECTORY"] = str(self.scratch.absolute())
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects
        try:
            with tempfile.TemporaryFile() as given:
                given.write(stdin)
                given.seek(0)
                process = subprocess.Popen(  # noqa: S603 (git with a configuration of ours alone)
                    ["git", "--literal-pathspecs", *arguments],  # noqa: S607 (the system's path)
                    cwd=self.folder,
                    env=environment,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
                code, output = _finished(process)
        except OSError as error:
            raise GitFailed(f"git {arguments[0]}: {type(error).__name__}") from error
        if code or len(output) > _MOST_OUTPUT:
            why = "printed too much" if len(output) > _MOST_OUTPUT else f"ended with {code}"
            raise GitFailed(f"git {arguments[0]}: {why}")
        return output

    def commits(self) -> list[Commit]:
        """All commits of branches and tags, newest first, but for branches of transcripts."""
        form = "%H%x00%P%x00%ct%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)%x00%s"
        results = []
        for line in self.run("log", "-z", f"--format={form}%x01", *_COMMITS).split(b"\x01"):
            parts = line.lstrip(b"\0").decode("utf-8", "replace").split("\0")
            if len(parts) == 5:
                name, parents, at, checkpoints, subject = parts
                named = tuple(checkpoints.split())
                results.append(Commit(name, tuple(parents.split()), int(at), subject, named))
        return results

    def carriers(self, file_name: str) -> list[str]:
        """The commits that added or changed a page (Markdown, text) of this name anywhere."""
        return _carriers(self).get(file_name, []) if file_name.endswith(PAGES) else []

    def tips(self) -> list[str]:
        """The commits of main branches of a usual name, and the newest one.

        Raises GitFailed for an empty repository.
        """
        names = [f"refs/{r}/{n}" for r in ("heads", "remotes/origin") for n in ("main", "master")]
        main = self.run("for-each-ref", "--format=%(objectname)", *names).decode().split()
        newest = self.run("log", "-1", "--format=%H", *_COMMITS).decode().split()
        if not newest:
            raise GitFailed("git log: no commit")
        return list(dict.fromkeys((*main, *newest)))

    def entries(self, tree: str) -> list[Entry]:
        """The files, links and submodules of a tree or commit, by path."""
        return _entries(self, tree)

    def blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """The contents of objects by name. Raises GitFailed where one is missing."""
        wanted = sorted(set(names))
        output = self.run("cat-file", "--batch", stdin="".join(f"{n}\n" for n in wanted).encode())
        results, at = {}, 0
        for name in wanted:
            end = output.index(b"\n", at)
            parts = output[at:end].split()
            if len(parts) != 3:
                raise GitFailed("git cat-file: a missing object")
            size = int(parts[2])
            results[name] = output[end + 1 : end + 1 + size]
            at = end + size + 2
        return results

    def files(self, tree: str, paths: Collection[str] | None = None) -> dict[str, bytes]:
        """The contents of the files of a tree or commit, or of those at some paths."""
        names = {
            e.path: e.name
            for e in self.entries(tree)
            if e.is_file and (paths is None or e.path in paths)
        }
        contents = self.blobs(names.values())
        return {path: contents[name] for path, name in names.items()}

    def tree_with(self, base: str, changes: Mapping[str, tuple[str, bytes] | None]) -> str:
        """The tree of `base` with other contents (mode, bytes) at some paths, None to remove."""
        lines = []
        for path, change in sorted(changes.items()):
            name, mode = "0" * 40, "0"
            if change is not None:
                mode, content = change
                arguments = ("hash-object", "-w", "--stdin", "--no-filters")
                name = self.run(*arguments, stdin=content).decode().strip()
            lines.append(f"{mode} {name}\t{path}\0".encode("utf-8", "surrogateescape"))
        return self._indexed(base, ["update-index", "-z", "--index-info"], b"".join(lines))

    def patched(self, base: str, patch: bytes) -> str:
        """The tree of `base` with a patch. Raises GitFailed where it cannot be applied."""
        return self._indexed(base, ["apply", "--cached", "--whitespace=nowarn"], patch)

    def _indexed(self, base: str, command: Sequence[str], given: bytes) -> str:
        """The tree that a command makes of the index of another."""
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self.run("read-tree", base, variables=index)
            self.run(*command, stdin=given, variables=index)
            return self.run("write-tree", "--missing-ok", variables=index).decode().strip()

    def changed(self, base: str, other: str) -> list[str]:
        """The paths in which two trees differ."""
        output = self.run(
            "diff-tree", *_PLAIN, "--no-textconv", "--name-only", "-z", "-r", base, other
        )
        return [p.decode("utf-8", "surrogateescape") for p in output.split(b"\0") if p]

    def patch(self, base: str, other: str, paths: Sequence[str]) -> bytes:
        """The difference of two trees at some paths as `git apply` takes it."""
        if not paths:
            return b""
        flags = ("-p", "-r", *_PLAIN, "--no-textconv", "--binary", "--full-index")
        return self.run("diff-tree", *flags, base, other, "--", *paths)


def _finished(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """How a command ended and what it printed, within limits: a small tree may list 10^10 files."""
    assert process.stdout is not None
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    resource.prlimit(process.pid, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    try:
        output = process.stdout.read(_MOST_OUTPUT + 1)
        if len(output) > _MOST_OUTPUT:
            process.kill()
        return process.wait(), output
    finally:
        timer.cancel()
        process.kill()
        process.stdout.close()


@lru_cache(maxsize=32)  # 5 MB each of 20,000 files
def _entries(store: Store, tree: str) -> list[Entry]:
    """Listings are asked for again and again; a name always has the same tree."""
    results = []
    for line in store.run("ls-tree", "-r", "-z", "-l", "--full-tree", tree).split(b"\0"):
        head, tab, path = line.partition(b"\t")
        if tab:
            mode, kind, name, size = head.decode("ascii").split()
            count = int(size) if size.isdigit() else _MISSING if kind == "blob" else 0
            results.append(Entry(mode, name, count, path.decode("utf-8", "surrogateescape")))
    return results


@lru_cache(maxsize=16)
def _carriers(store: Store) -> dict[str, list[str]]:
    """The commits that added or changed pages, newest first, by the names of those files."""
    output = store.run(
        *("log", *_COMMITS, "--format=%x00%H", "--name-only"), *("--diff-filter=AM", *_PLAIN, "-z")
    )
    carried: dict[str, list[str]] = {}
    commit = ""
    for part in output.decode("utf-8", "replace").split("\0"):
        text = part.strip()
        if is_hex(text, _COMMIT_CHARS):
            commit = text
        elif commit and text.endswith(PAGES):
            carried.setdefault(text.rpartition("/")[2], []).append(commit)
    return {name: list(dict.fromkeys(commits)) for name, commits in carried.items()}


def _copy_objects(source: Path, target: Path) -> None:
    """The packs and loose objects of a clone; links and everything else stay behind.

    Git may be packing it at this moment: what goes is in a pack that came before, and packs are
    copied last, until there is no new one.
    """
    for folder in sorted(source.iterdir()):
        seen: set[Path] = set()
        while not folder.is_symlink() and (fresh := {*folder.glob("*")} - seen):
            seen |= fresh
            for path in sorted(fresh):
                is_pack = folder.name == "pack" and path.suffix in (".pack", ".idx")
                is_loose = is_hex(f"{folder.name}{path.name}", _COMMIT_CHARS)
                if (is_pack or is_loose) and path.is_file() and not path.is_symlink():
                    (target / folder.name).mkdir(exist_ok=True)
                    with suppress(FileNotFoundError):
                        shutil.copyfile(path, target / folder.name / path.name)


def _git_folder(source: Path) -> Path:
    """The folder of git in a clone, which is the clone itself where it has no work tree."""
    return source / ".git" if (source / ".git").is_dir() else source


def references(source: Path) -> list[tuple[str, str]]:
    """Branches, tags and remote branches of a clone with what they point to, read as text."""
    folder, results = _git_folder(source), dict[str, str]()
    for path in sorted((folder / "refs").rglob("*")):
        if path.is_file() and not path.is_symlink():
            with suppress(FileNotFoundError):
                text = path.read_text("utf-8", "replace")
                results[path.relative_to(folder).as_posix()] = text.strip()
    packed = folder / "packed-refs"  # read last: git packs a reference before it removes it
    if packed.is_file() and not packed.is_symlink():
        for line in packed.read_text("utf-8", "replace").splitlines():
            commit, _, name = line.partition(" ")
            results.setdefault(name, commit)
    return sorted(
        (name, commit)
        for name, commit in results.items()
        if _REFERENCE.fullmatch(name) and is_hex(commit, _COMMIT_CHARS) and "/entire/" not in name
    )


_TRANSCRIPTS = re.compile(
    r"(?:^|/)(?:\.specstory|\.entire|\.aider[^/]*)(?:/|$)"
    r"|(?:^|/)\.claude/(?:transcripts|projects|history)(?:/|$)|\.jsonl$"
)
_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=\s]{200}"
)
_BEGINNING = 4096  # bytes that tell what a page is
_LONGEST_PATH = 200  # bytes: a tar of the oldest form splits longer ones
_LEAST_LINE, _SAME_SHARE, _LEAST_LINES = 25, 0.5, 5


def is_left_out(path: str, config: RepositoriesConfig) -> bool:
    """Transcripts of sessions, credential files and what the settings name are never shipped."""
    named = any(path.startswith(f"{folder.strip('/')}/") for folder in config.left_out)
    return named or _TRANSCRIPTS.search(path) is not None or is_credential(path)


def transcripts(store: Store, tree: str) -> list[str]:
    """The pages that a program wrote of a session, wherever they are but among the tests."""
    named = [e.path for e in store.entries(tree) if e.path.endswith(PAGES) and e.size > 0]
    pages = store.files(tree, {path for path in named if not is_protected(path)})
    return [path for path, content in pages.items() if _is_transcript(path, content)]


def strays(store: Store, tree: str) -> list[str]:
    """Submodules that nothing says where to get: repositories inside, committed by mistake."""
    named = [entry.path for entry in store.entries(tree) if entry.mode == SUBMODULE]
    stated = b"".join(store.files(tree, [".gitmodules"]).values()) if named else b""
    return [path for path in named if f"path = {path}\n".encode() not in stated + b"\n"]


def _is_transcript(path: str, content: bytes) -> bool:
    text = content[:_BEGINNING].decode("utf-8", "replace")
    sample = Sample(SourceFile(Path(path), path), text=text)
    return any(form.fits(sample) for form in FORMS)


def problem_of(
    store: Store, entries: Sequence[Entry], config: RepositoriesConfig
) -> RepositoryReason | None:
    """Why a tree cannot be shipped; None if it can."""
    if any(not is_safe(entry.path) for entry in entries):
        return RepositoryReason.UNSAFE_PATH
    if len({entry.path.casefold() for entry in entries}) < len(entries):
        return RepositoryReason.UNSAFE_PATH
    if any(entry.mode == SUBMODULE for entry in entries):
        return RepositoryReason.SUBMODULE
    if len(entries) > config.max_files or sum(e.size for e in entries) > config.max_bytes:
        return RepositoryReason.TOO_LARGE
    contents = store.blobs(entry.name for entry in entries)
    for entry in entries:
        content = contents[entry.name]
        if entry.mode == LINK and not _is_inside(entry.path, content):
            return RepositoryReason.LINK_OUTSIDE
        if is_pointer(content, len(content)):
            return RepositoryReason.LFS
        if _KEY.search(content):
            return RepositoryReason.SECRET
    return None


def is_safe(path: str) -> bool:
    """Can a file of this name be written below a folder, wherever that is?"""
    parts = path.split("/")
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= _LONGEST_PATH
        and path.isprintable()
        and "\\" not in path
        and all(part not in ("", ".", "..") and part.casefold() != ".git" for part in parts)
    )


def _is_inside(path: str, target: bytes) -> bool:
    """Does a link at `path` lead to a place in the tree?"""
    try:
        text = target.decode("utf-8")
    except UnicodeDecodeError:
        return False
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return not text.startswith("/") and whole != ".." and not whole.startswith("../")


def archive(store: Store, tree: str) -> bytes:
    """The tree as a tar archive: sorted, without times or owners."""
    entries = store.entries(tree)
    contents = store.blobs(entry.name for entry in entries)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as out:
        for entry in sorted(entries, key=lambda entry: entry.path):
            item, content = tarfile.TarInfo(entry.path), contents[entry.name]
            if entry.mode == LINK:
                item.type, item.linkname = tarfile.SYMTYPE, content.decode("utf-8")
                out.addfile(item)
                continue
            item.size, item.mode = len(content), 0o755 if entry.mode.endswith("755") else 0o644
            out.addfile(item, io.BytesIO(content))
    return buffer.getvalue()


def members(path: Path, wanted: Collection[str]) -> dict[str, tuple[str, bytes]]:
    """The mode and content of the files at some paths of an archive."""
    with tarfile.open(path) as tar:
        files = [item for item in tar if item.isreg() and item.name in wanted]
        return {
            item.name: ("100755" if item.mode & 0o100 else "100644", content.read())
            for item in files
            if (content := tar.extractfile(item)) is not None
        }


def added_lines(patch: bytes) -> list[str]:
    """The lines that a patch adds and that are long enough to tell."""
    lines = patch.decode("utf-8", "replace").splitlines()
    texts = (line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++")
    return [text for text in texts if len(text) >= _LEAST_LINE]


def holds_answer(patch: bytes, contents: Iterable[bytes]) -> bool:
    """Does one file that is shipped hold most of the lines that the patch adds?"""
    added = set(added_lines(patch))
    if len(added) < _LEAST_LINES:
        return False
    for content in contents:
        lines = {line.strip() for line in content.decode("utf-8", "replace").splitlines()}
        if len(added & lines) > _SAME_SHARE * len(added):
            return True
    return False
